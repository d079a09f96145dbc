import { describe, expect } from 'vitest';
import { CREATABLE_CHANNELS } from '../../core/enrich/channels.ts';
import { workspaceById } from '../../sql/workspaces/workspaces.ts';
import type { TestApi, TestWorkspace } from '../../test/support/api.ts';
import { apiTest } from '../../test/support/fixtures.ts';
import { type CreatedLinks, campaign, createLink, refusedLink } from '../../test/support/links.ts';

const created = (shop: TestWorkspace, body: object) => createLink(shop, body);
const refused = (shop: TestWorkspace, body: object, status: number, path?: string) =>
  refusedLink(shop, body, status, path);

describe('the own-site domain', () => {
  const domain = async (api: TestApi, shop: TestWorkspace) =>
    (await workspaceById(api.stores.pool, shop.workspace.id))?.primary_domain;

  apiTest('is set by the first own-site link to its registrable domain', async ({ api, shop }) => {
    await created(shop, campaign({ destination_url: 'https://a.b.shop.co.uk/x' }));
    expect(await domain(api, shop)).toBe('shop.co.uk');
    await created(shop, campaign({ destination_url: 'https://shop.co.uk/y' }));
    await created(shop, campaign({ destination_url: 'https://other.shop.co.uk/z' }));
  });

  apiTest('is not set by a host without a registrable domain', async ({ api, shop }) => {
    for (const destination_url of ['https://.', 'https://a..example', 'https://..example']) {
      await refused(shop, campaign({ destination_url }), 400, 'destination_url');
    }
    expect(await domain(api, shop)).toBeNull();
  });

  apiTest('is not set by an external one', async ({ api, shop }) => {
    await created(shop, campaign({ destination_url: 'https://social.example/me', external: true }));
    expect(await domain(api, shop)).toBeNull();
  });

  apiTest('another domain is 400 unless it is external', async ({ shop }) => {
    await created(shop, campaign());
    await refused(shop, campaign({ destination_url: 'https://elsewhere.example' }), 400, 'destination_url');
    const { body } = await shop.post('/links', campaign({ destination_url: 'https://notshop.example' }));
    expect(body.error).toMatchObject({
      message: '`destination_url` must be on shop.example; send external: true for a site that is not yours',
      details: [
        {
          path: 'destination_url',
          message: 'must be on shop.example',
          code: 'external_destination',
          hint: 'send external: true for a site that is not yours',
        },
      ],
    });
    const { first } = await created(
      shop,
      campaign({ destination_url: 'https://elsewhere.example', external: true }),
    );
    expect(first.external).toBe(true);
  });

  apiTest(
    'of concurrent first links on different domains one sets it and the others are refused',
    async ({ shop }) => {
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          shop.post('/links', campaign({ destination_url: `https://site${index}.example` })),
        ),
      );
      expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1);
      expect(answers.filter((answer) => answer.status === 400)).toHaveLength(9);
    },
  );
});

describe('the cap of the plan', () => {
  apiTest(
    'a free workspace gets 402 limit_reached beyond 25 links, exactly, also under concurrency',
    async ({ api }) => {
      const free = await api.addWorkspace({ plan: 'free' });
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, index) => free.post('/links', campaign({ external_id: `n${index}` }))),
      );
      expect(answers.filter((answer) => answer.status === 201)).toHaveLength(25);
      const codes = answers.filter((answer) => answer.status === 402).map((answer) => answer.body.error.code);
      expect(codes).toEqual(Array(15).fill('limit_reached'));
    },
  );

  apiTest('a create of several links counts each, and is refused as a whole', async ({ api }) => {
    const free = await api.addWorkspace({ plan: 'free' });
    const body = campaign({ channel: undefined, channels: CREATABLE_CHANNELS });
    expect((await free.post('/links', body)).status).toBe(201);
    expect((await free.post('/links', body)).status).toBe(402);
    const three = campaign({ channel: undefined, channels: ['reddit', 'slack', 'devto'] });
    expect((await free.post('/links', three)).status).toBe(201);
    expect((await free.post('/links', campaign())).status).toBe(402);
  });

  apiTest('a known external_id works at the cap, and a deleted link frees its slot', async ({ api }) => {
    const free = await api.addWorkspace({ plan: 'free' });
    const made = await free.post<CreatedLinks>('/links', campaign({ external_id: 'a' }));
    const { channel: _, ...rest } = campaign();
    expect((await free.post('/links', { ...rest, channels: CREATABLE_CHANNELS })).status).toBe(201);
    await free.post('/links', { ...rest, channels: ['reddit', 'slack'] });
    expect((await free.post('/links', campaign())).status).toBe(402);
    expect((await free.post('/links', campaign({ external_id: 'a' }))).status).toBe(200);
    await free.delete(`/links/${made.body.links[0]?.id}`);
    expect((await free.post('/links', campaign())).status).toBe(201);
  });

  apiTest('a paid plan that is canceled has the cap of the free one', async ({ api }) => {
    const lapsed = await api.addWorkspace({ plan: 'pro', plan_status: 'canceled' });
    const body = campaign({ channel: undefined, channels: CREATABLE_CHANNELS });
    expect((await lapsed.post('/links', body)).status).toBe(201);
    expect((await lapsed.post('/links', body)).status).toBe(402);
  });
});

apiTest('a folder of another workspace is 404, and nothing is made', async ({ api, shop }) => {
  const other = await api.addWorkspace();
  const folder = await other.post<{ id: string }>('/folders', { name: 'Theirs' });
  expect(await refused(shop, campaign({ folder_id: folder.body.id }), 404)).toBe('not_found');
  expect((await shop.get<{ links: unknown[] }>('/links?view=records')).body.links).toEqual([]);
});
