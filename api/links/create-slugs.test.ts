import { describe, expect } from 'vitest';
import type { TestWorkspace } from '../../test/support/api.ts';
import { apiTest } from '../../test/support/fixtures.ts';
import { campaign, createLink, refusedLink } from '../../test/support/links.ts';

const created = (shop: TestWorkspace, body: object) => createLink(shop, body);
const refused = (shop: TestWorkspace, body: object, status: number, path?: string) =>
  refusedLink(shop, body, status, path);

describe('slugs', () => {
  apiTest('a custom slug is verbatim for one link, also for channels of one', async ({ shop }) => {
    expect((await created(shop, campaign({ slug: 'My-Slug_1' }))).first.slug).toBe('My-Slug_1');
    expect(
      (await created(shop, campaign({ channel: undefined, channels: ['reddit'], slug: 'Solo' }))).first.slug,
    ).toBe('Solo');
    expect(
      (await created(shop, campaign({ channel: undefined, smart: true, slug: 'Smart' }))).first.slug,
    ).toBe('Smart');
  });

  apiTest('it is <slug>-<channel> for several', async ({ shop }) => {
    const { links } = await created(
      shop,
      campaign({ channel: undefined, channels: ['x', 'google_business'], slug: 'multi' }),
    );
    expect(links.map((link) => link.slug)).toEqual(['multi-twitter', 'multi-google_business']);
  });

  apiTest('several slugs that would be too long are 400', async ({ shop }) => {
    await refused(
      shop,
      campaign({ channel: undefined, channels: ['reddit', 'google_business'], slug: 'x'.repeat(60) }),
      400,
      'slug',
    );
  });

  apiTest(
    'a taken slug is 409, in any case of letters and from any workspace, and nothing is made',
    async ({ api, shop }) => {
      await created(shop, campaign({ slug: 'Taken' }));
      const other = await api.addWorkspace();
      const answer = await other.post('/links', campaign({ slug: 'tAKEN' }));
      expect([answer.status, answer.body.error.code]).toEqual([409, 'conflict']);
      await created(shop, campaign({ slug: 'part-reddit' }));
      expect(
        await refused(
          shop,
          campaign({ channel: undefined, channels: ['slack', 'reddit'], slug: 'part' }),
          409,
        ),
      ).toBe('conflict');
      const { rows } = await api.stores.pool.query(
        'SELECT count(*) AS count FROM destinations WHERE workspace_id = ANY ($1)',
        [[shop.workspace.id, other.workspace.id]],
      );
      expect(rows[0].count).toBe(2);
      expect((await created(shop, campaign({ slug: 'part-slack' }))).first.slug).toBe('part-slack');
    },
  );

  apiTest('of fifty concurrent creates with one slug exactly one wins', async ({ shop }) => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => shop.post('/links', campaign({ slug: 'race' }))),
    );
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1);
    expect(answers.filter((answer) => answer.status === 409)).toHaveLength(49);
  });
});
