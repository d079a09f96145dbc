import { describe, expect } from 'vitest';
import type { TestWorkspace } from '../../test/support/api.ts';
import { apiTest } from '../../test/support/fixtures.ts';
import { type CreatedLinks, campaign, createLink, refusedLink } from '../../test/support/links.ts';
import type { LinkRecord } from './schemas.ts';

const created = (shop: TestWorkspace, body: object) => createLink(shop, body);
const refused = (shop: TestWorkspace, body: object, status: number, path?: string) =>
  refusedLink(shop, body, status, path);

describe('adding to a campaign', () => {
  apiTest('the campaign keeps its URL, name, tags and folder', async ({ shop }) => {
    const folder = await shop.post<{ id: string }>('/folders', { name: 'F' });
    const { destination_id } = await created(shop, campaign({ tags: ['a'], folder_id: folder.body.id }));
    const { first } = await created(shop, {
      destination_id,
      channel: 'reddit',
      destination_url: 'javascript:ignored',
      name: 'Ignored',
      tags: ['ignored'],
      folder_id: '01a1fda0-08a1-7000-b1c0-3017c3a6f7c2',
      external: true,
    });
    expect(first).toMatchObject({
      destination_id,
      name: 'Sale',
      destination: 'https://shop.example/sale',
      tags: ['a'],
      folder_id: folder.body.id,
      external: false,
      utm_source: 'reddit',
    });
  });

  apiTest('settings that are not sent are inherited, sent ones and nulls win', async ({ shop }) => {
    const settings = {
      utm_campaign: 'own',
      targeting: { mobile: 'https://m.shop.example/' },
      expires_at: '2030-01-01T00:00:00.000Z',
      max_clicks: 5,
      expired_redirect_url: 'https://over.example/',
      retargeting: { facebook: '1234567890' },
    };
    const { destination_id } = await created(shop, campaign({ ...settings, password: 'pw' }));
    const { first: heir } = await created(shop, { destination_id, channel: 'reddit' });
    expect(heir).toMatchObject({ ...settings, password_protected: true, external_id: null, metadata: null });
    const { first: other } = await created(shop, {
      destination_id,
      channel: 'slack',
      utm_campaign: 'new',
      targeting: null,
      expires_at: null,
      max_clicks: 9,
      password: null,
    });
    expect(other).toMatchObject({
      utm_campaign: 'new',
      targeting: null,
      expires_at: null,
      max_clicks: 9,
      password_protected: false,
      retargeting: settings.retargeting,
    });
  });

  apiTest.for([
    ['of other types', { destination_url: 7, name: '' }],
    ['null', { destination_url: null, name: null }],
    ['too long', { name: 'x'.repeat(5_000) }],
  ] as const)('what is ignored need not be valid: %s', async ([_, ignored], { shop }) => {
    const { destination_id } = await created(shop, campaign());
    const { first } = await created(shop, { ...ignored, destination_id, channel: 'reddit' });
    expect(first).toMatchObject({ destination_id, name: 'Sale' });
    const { body } = await shop.post<{ results: { status: number }[] }>('/links/bulk', {
      links: [{ ...ignored, destination_id, channel: 'youtube' }],
    });
    expect(body.results).toMatchObject([{ status: 201 }]);
  });

  apiTest('the campaign value is fixed at creation and inherited after a rename', async ({ shop }) => {
    const { destination_id, first } = await created(shop, campaign());
    await shop.patch(`/links/${first.id}`, { name: 'Renamed' });
    const { first: heir } = await created(shop, { destination_id, channel: 'reddit' });
    expect(heir).toMatchObject({ name: 'Renamed', utm_campaign: 'Sale' });
  });

  apiTest('an unknown campaign is 404', async ({ shop }) => {
    expect(
      await refused(shop, { destination_id: '01a1fda0-08a1-7000-b1c0-3017c3a6f7c2', channel: 'reddit' }, 404),
    ).toBe('not_found');
  });

  apiTest('a second link on a channel needs a distinct external_id', async ({ shop }) => {
    const { destination_id, first } = await created(shop, campaign());
    expect(await refused(shop, { destination_id, channel: 'facebook' }, 409)).toBe('conflict');
    expect(await refused(shop, { destination_id, channels: ['reddit', 'facebook'] }, 409)).toBe('conflict');
    const { first: second } = await created(shop, {
      destination_id,
      channel: 'facebook',
      external_id: 'two',
    });
    expect(second.id).not.toBe(first.id);
    expect(await refused(shop, { destination_id, channel: 'facebook' }, 409)).toBe('conflict');
    const again = await shop.post<CreatedLinks>('/links', {
      destination_id,
      channel: 'facebook',
      external_id: 'two',
    });
    expect([again.status, again.body.links[0]?.id]).toEqual([200, second.id]);
  });

  apiTest('a second Smart Link needs one too', async ({ shop }) => {
    const { destination_id } = await created(shop, campaign({ channel: undefined, smart: true }));
    expect(await refused(shop, { destination_id, smart: true }, 409)).toBe('conflict');
    await created(shop, { destination_id, smart: true, external_id: 's2' });
  });

  apiTest("a slug that the channel's first link has gets a number, from -2 on", async ({ shop }) => {
    const { destination_id } = await created(shop, campaign({ slug: 'post' }));
    const add = async (external_id: string) =>
      (await created(shop, { destination_id, channel: 'facebook', external_id, slug: 'post' })).first.slug;
    expect(await add('2')).toBe('post-2');
    expect(await add('3')).toBe('post-3');
    await created(shop, campaign({ slug: 'POST-4' }));
    expect(await add('5')).toBe('post-5');
    expect(
      await refused(shop, { destination_id, channel: 'reddit', external_id: 'r', slug: 'post' }, 409),
    ).toBe('conflict');
  });

  apiTest('a deleted link frees its channel', async ({ shop }) => {
    const { destination_id, first } = await created(shop, campaign());
    await shop.delete(`/links/${first.id}`);
    expect((await created(shop, { destination_id, channel: 'facebook' })).first.channel).toBe('facebook');
  });
});

describe('external_id', () => {
  apiTest('is allowed for exactly one link', async ({ shop }) => {
    await refused(
      shop,
      campaign({ channel: undefined, channels: ['reddit', 'slack'], external_id: 'e' }),
      400,
      'external_id',
    );
    await created(shop, campaign({ channel: undefined, channels: ['reddit'], external_id: 'e1' }));
    await created(shop, campaign({ channel: undefined, smart: true, external_id: 'e2' }));
  });

  apiTest('a known one is a 200 with that link and creates nothing', async ({ shop }) => {
    const { first, destination_id } = await created(shop, campaign({ external_id: 'known' }));
    const again = await shop.post<CreatedLinks>(
      '/links',
      campaign({ external_id: 'known', name: 'Other', slug: 'other', folder_id: first.id }),
    );
    expect(again.status).toBe(200);
    expect(again.body).toEqual({ destination_id, links: [first] });
    const list = await shop.get<{ links: LinkRecord[] }>('/links?view=records');
    expect(list.body.links).toHaveLength(1);
  });

  apiTest('is matched exactly and belongs to one workspace', async ({ api, shop }) => {
    const { first } = await created(shop, campaign({ external_id: 'Case' }));
    expect((await created(shop, campaign({ external_id: 'case' }))).first.id).not.toBe(first.id);
    const other = await api.addWorkspace();
    expect((await other.post('/links', campaign({ external_id: 'Case' }))).status).toBe(201);
  });

  apiTest('fifty concurrent creates with one external_id make one link', async ({ shop }) => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => shop.post<CreatedLinks>('/links', campaign({ external_id: 'race' }))),
    );
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1);
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(49);
    expect(new Set(answers.map((answer) => answer.body.links[0]?.id)).size).toBe(1);
  });
});
