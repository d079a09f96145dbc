import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';
import { campaign, createLink, refusedLink } from '../../test/support/links.ts';

let api: TestApi;
let shop: TestWorkspace;

beforeAll(async () => {
  api = await testApi();
});
beforeEach(async () => {
  shop = await api.addWorkspace();
});
afterAll(() => api.close());

const created = (body: object) => createLink(shop, body);
const refused = (body: object, status: number, path?: string) => refusedLink(shop, body, status, path);

describe('slugs', () => {
  test('a custom slug is verbatim for one link, also for channels of one', async () => {
    expect((await created(campaign({ slug: 'My-Slug_1' }))).first.slug).toBe('My-Slug_1');
    expect(
      (await created(campaign({ channel: undefined, channels: ['reddit'], slug: 'Solo' }))).first.slug,
    ).toBe('Solo');
    expect((await created(campaign({ channel: undefined, smart: true, slug: 'Smart' }))).first.slug).toBe(
      'Smart',
    );
  });

  test('it is <slug>-<channel> for several', async () => {
    const { links } = await created(
      campaign({ channel: undefined, channels: ['x', 'google_business'], slug: 'multi' }),
    );
    expect(links.map((link) => link.slug)).toEqual(['multi-twitter', 'multi-google_business']);
  });

  test('several slugs that would be too long are 400', async () => {
    await refused(
      campaign({ channel: undefined, channels: ['reddit', 'google_business'], slug: 'x'.repeat(60) }),
      400,
      'slug',
    );
  });

  test('a taken slug is 409, in any case of letters and from any workspace, and nothing is made', async () => {
    await created(campaign({ slug: 'Taken' }));
    const other = await api.addWorkspace();
    const answer = await other.post('/links', campaign({ slug: 'tAKEN' }));
    expect([answer.status, answer.body.error.code]).toEqual([409, 'conflict']);
    await created(campaign({ slug: 'part-reddit' }));
    expect(
      await refused(campaign({ channel: undefined, channels: ['slack', 'reddit'], slug: 'part' }), 409),
    ).toBe('conflict');
    const { rows } = await api.stores.pool.query(
      'SELECT count(*) AS count FROM destinations WHERE workspace_id = ANY ($1)',
      [[shop.workspace.id, other.workspace.id]],
    );
    expect(rows[0].count).toBe(2);
    expect((await created(campaign({ slug: 'part-slack' }))).first.slug).toBe('part-slack');
  });

  test('of fifty concurrent creates with one slug exactly one wins', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => shop.post('/links', campaign({ slug: 'race' }))),
    );
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1);
    expect(answers.filter((answer) => answer.status === 409)).toHaveLength(49);
  });
});
