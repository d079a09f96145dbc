import { expect } from 'vitest';
import type { TestWorkspace } from '../../test/support/api.ts';
import { apiTest } from '../../test/support/fixtures.ts';
import { campaign, createLink, refusedLink } from '../../test/support/links.ts';
import { storeClicks } from '../../test/support/stored-events.ts';
import type { LinkRecord } from './schemas.ts';

const made = async (shop: TestWorkspace, more: object) =>
  (await createLink(shop, campaign(more))).first as unknown as LinkRecord;
const patch = (shop: TestWorkspace, id: string, body: object) =>
  shop.call<LinkRecord>('PATCH', `/links/${id}`, { body });

const SWITCHED = {
  utm_source: 'partner',
  utm_medium: 'email',
  utm_term: 'shoes',
  utm_content: 'top',
  redirect_status: 307,
  forward_query: false,
  forward_path: true,
  append_utm: false,
  append_visitor: false,
  starts_at: '2027-01-01T00:00:00.000Z',
  archived: true,
};
const DEFAULTS = {
  utm_source: 'facebook',
  utm_medium: 'social',
  utm_term: null,
  utm_content: null,
  redirect_status: 302,
  forward_query: true,
  forward_path: false,
  append_utm: true,
  append_visitor: true,
  starts_at: null,
  archived: false,
};
const CLEARED = Object.fromEntries(Object.keys(SWITCHED).map((name) => [name, null]));

const IMAGE = { image_url: 'https://img.example/a.png' };

apiTest('a card has the size of its image, and one line of its description', async ({ shop }) => {
  const preview = {
    ...IMAGE,
    image_width: 1_200,
    image_height: 630,
    description: 'Two\r\n  lines\u2028or\u0085more',
  };
  expect((await made(shop, { preview })).preview).toEqual({ ...preview, description: 'Two lines or more' });
});

apiTest('a create and a change take each switch, and null restores the default', async ({ shop }) => {
  expect(await made(shop, {})).toMatchObject(DEFAULTS);
  const link = await made(shop, SWITCHED);
  expect(link).toMatchObject(SWITCHED);
  expect((await patch(shop, link.id, { max_clicks: 5 })).body).toMatchObject(SWITCHED);
  expect((await patch(shop, link.id, CLEARED)).body).toMatchObject(DEFAULTS);
  expect((await patch(shop, link.id, SWITCHED)).body).toMatchObject(SWITCHED);
});

apiTest(
  'a new link of a campaign inherits the switches, not its start, nor that it is archived',
  async ({ shop }) => {
    const first = await made(shop, SWITCHED);
    const join = async (more: object) => {
      const { links } = await createLink(shop, { destination_id: first.destination_id, ...more });
      return links[0];
    };
    const inherited = { ...SWITCHED, starts_at: null, archived: false };
    expect(await join({ channel: 'youtube' })).toMatchObject(inherited);
    expect(await join({ channel: 'reddit', ...CLEARED })).toMatchObject({
      ...DEFAULTS,
      utm_source: 'reddit',
    });
  },
);

apiTest('a new link of a campaign has the UTM source of its own channel', async ({ shop }) => {
  const first = await made(shop, {});
  const { links } = await createLink(shop, { destination_id: first.destination_id, channel: 'youtube' });
  expect(links[0]).toMatchObject({ utm_source: 'youtube', utm_medium: 'social' });
});

apiTest.for([
  [{ redirect_status: 303 }, 'redirect_status'],
  [{ redirect_status: '301' }, 'redirect_status'],
  [{ forward_query: 'no' }, 'forward_query'],
  [{ preview: { title: ' ' } }, 'preview.title'],
  [{ preview: { image_url: 'https://img.example/a.svg' } }, 'preview.image_url'],
  [{ preview: { image_url: 'https://img.example/a%2Esvg' } }, 'preview.image_url'],
  [{ preview: { image_url: 'https://img.example/a.%73vg' } }, 'preview.image_url'],
  [{ preview: { image_url: 'https://img.example/a.svg/' } }, 'preview.image_url'],
  [{ preview: { image_url: 'https://img.example/a.svg;x=1' } }, 'preview.image_url'],
  [{ preview: { ...IMAGE, image_width: 1_200 } }, 'preview.image_height'],
  [{ preview: { image_width: 1_200, image_height: 630 } }, 'preview.image_width'],
  [{ preview: { ...IMAGE, image_width: 0, image_height: 630 } }, 'preview.image_width'],
  [{ starts_at: 'tomorrow' }, 'starts_at'],
  [{ starts_at: '2027-01-02', expires_at: '2027-01-01T23:59:59Z' }, 'starts_at'],
  [{ starts_at: '2027-01-01', expires_at: '2027-01-01T01:00:00+01:00' }, 'starts_at'],
  [{ starts_at: '1969-01-01' }, 'starts_at'],
  [{ utm_term: '' }, 'utm_term'],
  [{ archived: 1 }, 'archived'],
] as const)('%j is refused at the field %s', async ([fields, path], { shop }) => {
  await refusedLink(shop, campaign(fields), 400, path);
});

apiTest('an image without https is refused in words that name https alone', async ({ shop }) => {
  for (const image_url of ['', 'data:image/png;base64,AA==', 'http://img.example/a.png']) {
    const { body } = await shop.post('/links', campaign({ preview: { image_url } }));
    expect([image_url, body.error.details]).toEqual([
      image_url,
      [{ path: 'preview.image_url', message: 'must be a full URL that begins with https://' }],
    ]);
  }
});

apiTest(
  'an archived link is left out of lists, unless it is named or archived=include',
  async ({ api, shop }) => {
    const { id } = await made(shop, { archived: true, external_id: 'old', slug: 'old-sale' });
    const other = await made(shop, { external_id: 'new' });
    await storeClicks(
      api.stores,
      [id, other.id].map((linkId) => ({ workspaceId: shop.workspace.id, linkId })),
    );
    const idsIn = async (query: string) => {
      const { body } = await shop.get<{ links: { id?: string; link_id?: string; link?: { id: string } }[] }>(
        `/links${query}`,
      );
      return body.links.map((link) => link.id ?? link.link_id ?? link.link?.id).sort();
    };
    const both = [id, other.id].sort();
    expect(await idsIn('?view=records')).toEqual([other.id]);
    expect(await idsIn('?view=records&archived=include')).toEqual(both);
    expect(await idsIn(`?view=records&ids=${id}`)).toEqual([id]);
    expect(await idsIn('?view=records&slug=old-sale')).toEqual([id]);
    expect(await idsIn('?view=records&external_id=old')).toEqual([id]);
    expect(await idsIn('')).toEqual([other.id]);
    expect(await idsIn('?include=settings')).toEqual([other.id]);
    expect(await idsIn('?archived=include')).toEqual(both);
    expect(await idsIn(`?ids=${id}`)).toEqual([id]);
    expect(await idsIn('/search')).toEqual([other.id]);
    expect(await idsIn('/search?archived=include')).toEqual(both);
    expect((await patch(shop, id, { archived: false })).body.archived).toBe(false);
    expect(await idsIn('?view=records')).toEqual(both);
  },
);
