import { isAlike } from '../../parts/changed-fields.ts';
import { bodyOf, type Draft, draftOf, type PageBody } from './draft.ts';
import type { BioPage } from './responses.ts';

/** A page being edited: as loaded, and the draft. */
export type Edited = { saved: BioPage; draft: Draft };

/** Fields that a save may change. */
export type Field = keyof PageBody;

const FIELDS: readonly Field[] = [
  'title',
  'bio',
  'avatar_url',
  'avatar_width',
  'avatar_height',
  'theme',
  'links',
  'social_links',
  'is_published',
  'show_branding',
  'language',
  'metadata',
];

/** The changed fields, as a save sends them. Buttons missing in `links` are deleted with their history. */
export function changesOf({ saved, draft }: Edited): Partial<PageBody> {
  const [was, is] = [bodyOf(draftOf(saved)), bodyOf(draft)];
  return only(
    is,
    FIELDS.filter((field) => !isAlike(is[field], was[field])),
  );
}

/**
 * The fields in which saving `changes` would overwrite changes of someone else.
 *
 * @param seen the page as the person has seen it
 * @param now the current page
 */
export function undoneBy(changes: Partial<PageBody>, seen: BioPage, now: BioPage): Field[] {
  const [was, is] = [bodyOf(draftOf(seen)), bodyOf(draftOf(now))];
  return FIELDS.filter(
    (field) => field in changes && !isAlike(is[field], was[field]) && !isAlike(is[field], changes[field]),
  );
}

/** Labels of the buttons of `now` that saving the draft would delete with short link and clicks. */
export function deletedBy({ links }: Draft, now: BioPage): string[] {
  const kept = new Set(links.flatMap(({ id, type }) => (type === 'link' ? id : [])));
  return now.links.flatMap(({ id, label, url, tracked_link_id }) =>
    tracked_link_id === null || kept.has(id) ? [] : label || (url ?? id),
  );
}

/** The edited page after saving `sent` returned `got`. Input since then stays. */
export function afterSave({ saved, draft }: Edited, sent: Draft, got: BioPage): Edited {
  const typed = FIELDS.filter((field) => draft[field] !== sent[field]);
  const changes = changesOf({ saved, draft: sent });
  // Input is based on the loaded page: if `got` differs there, the next save must detect it.
  const unseen = typed.filter((field) => !(field in changes));
  return { saved: { ...got, ...only(saved, unseen) }, draft: { ...draftOf(got), ...only(draft, typed) } };
}

/** The current page, with the changes that overwrite nothing. */
export function onNewer(edited: Edited, now: BioPage): Edited {
  const changes = changesOf(edited);
  const undone = undoneBy(changes, edited.saved, now);
  const kept = FIELDS.filter((field) => field in changes && !undone.includes(field));
  return { saved: now, draft: { ...draftOf(now), ...only(edited.draft, kept) } };
}

const only = <T extends Record<Field, unknown>>(whole: T, fields: readonly Field[]) =>
  Object.fromEntries(fields.map((field) => [field, whole[field]])) as Partial<Pick<T, Field>>;
