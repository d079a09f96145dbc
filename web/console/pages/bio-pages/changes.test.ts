import { expect, test } from 'vitest';
import { afterSave, changesOf, undoneBy } from './changes.ts';
import { draftOf, newButton } from './draft.ts';
import type { BioPage } from './responses.ts';

const button = (id: string): BioPage['links'][number] => ({
  id,
  type: 'link',
  label: id,
  url: `https://${id}.example`,
  emoji: null,
  image_url: null,
  tracked_link_id: `link-${id}`,
  short_url: null,
});

const loaded: BioPage = {
  id: '1',
  external_id: null,
  made_in: 'console',
  slug: 'ada',
  url: 'https://hop.example/ada',
  title: 'Ada',
  bio: '',
  avatar_url: null,
  avatar_width: null,
  avatar_height: null,
  theme: { font: 'system' } as BioPage['theme'],
  links: [button('one')],
  social_links: [],
  is_published: true,
  show_branding: true,
  language: null,
  metadata: null,
  created_at: '2026-11-20T10:00:00.000000Z',
  updated_at: '2026-11-20T10:00:00.000000Z',
};
const theirs: BioPage = { ...loaded, links: [button('one'), button('theirs')] };
const mine = draftOf(loaded);

test('sends only changed fields, and ignores gained or lost short links', () => {
  expect(changesOf({ saved: loaded, draft: mine })).toEqual({});
  const untracked = { ...loaded, links: [{ ...button('one'), tracked_link_id: null }] };
  expect(changesOf({ saved: untracked, draft: mine })).toEqual({});
  expect(changesOf({ saved: loaded, draft: { ...mine, title: 'A', is_published: false } })).toEqual({
    title: 'A',
    is_published: false,
  });
});

test('finds no conflict in other fields or equal content', () => {
  const own = { ...theirs, title: 'Another' };
  expect(undoneBy({ links: [] }, loaded, own)).toEqual(['links']);
  expect(undoneBy({ bio: 'B' }, loaded, own)).toEqual([]);
  expect(undoneBy({ title: 'Another' }, loaded, own)).toEqual([]);
  expect(undoneBy({ title: 'A third' }, own, own)).toEqual([]);
});

test('keeps input made during a save, based on the loaded page', () => {
  const sent = { ...mine, title: 'A' };
  const typed = { ...sent, links: [...mine.links, newButton('section')] };
  const got = { ...theirs, title: 'A', updated_at: '2026-11-20T10:00:01.000000Z' };
  const next = afterSave({ saved: loaded, draft: typed }, sent, got);
  expect(next.draft).toEqual({ ...draftOf(got), links: typed.links });
  expect(Object.keys(changesOf(next))).toEqual(['links']);
  expect(undoneBy(changesOf(next), next.saved, got)).toEqual(['links']);
  // Nothing was typed: the page as it was saved.
  expect(afterSave({ saved: loaded, draft: sent }, sent, got)).toEqual({ saved: got, draft: draftOf(got) });
});
