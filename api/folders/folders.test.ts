import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';
import type { LinkRecord } from '../links/schemas.ts';
import type { FolderRecord } from './schemas.ts';

type Page = { folders: FolderRecord[]; next_cursor: string | null };

let api: TestApi;
let shop: TestWorkspace;

beforeAll(async () => {
  api = await testApi();
});
beforeEach(async () => {
  shop = await api.addWorkspace({ plan: 'free' });
});
afterAll(() => api.close());

const create = async (name: string) => (await shop.post<FolderRecord>('/folders', { name })).body;

test('a folder is made, listed, renamed and deleted, on any plan', async () => {
  const made = await shop.post<FolderRecord>('/folders', { name: 'One' });
  expect(made.status).toBe(201);
  expect(made.body).toEqual({ id: expect.any(String), name: 'One', created_at: expect.any(String) });
  expect((await shop.get<Page>('/folders')).body).toEqual({ folders: [made.body], next_cursor: null });
  const renamed = await shop.patch(`/folders/${made.body.id}`, { name: 'Two' });
  expect([renamed.status, renamed.body]).toEqual([200, { ...made.body, name: 'Two' }]);
  expect((await shop.patch(`/folders/${made.body.id}`, {})).body).toEqual(renamed.body);
  expect((await shop.delete(`/folders/${made.body.id}`)).body).toEqual({ ok: true });
  expect((await shop.delete(`/folders/${made.body.id}`)).status).toBe(404);
  expect((await shop.patch(`/folders/${made.body.id}`, { name: 'x' })).status).toBe(404);
});

test('a walk gives every folder once, newest first', async () => {
  const made = await Promise.all(Array.from({ length: 23 }, (_, index) => create(`F${index}`)));
  const seen: FolderRecord[] = [];
  let cursor = '';
  for (;;) {
    const { body } = await shop.get<Page>(`/folders?limit=5${cursor}`);
    seen.push(...body.folders);
    if (body.next_cursor === null) break;
    cursor = `&cursor=${body.next_cursor}`;
  }
  expect(seen).toEqual(made.toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1)));
});

test('folders are listed with the number of their links, without deleted and archived ones', async () => {
  shop = await api.addWorkspace();
  const [full, empty] = [await create('Full'), await create('Empty')];
  const link = { destination_url: 'https://shop.example', name: 'N', folder_id: full.id };
  const { body } = await shop.post<{ links: LinkRecord[] }>('/links', {
    ...link,
    channels: ['reddit', 'slack', 'tiktok', 'discord'],
  });
  await shop.post('/links', { ...link, name: 'M', smart: true });
  await shop.delete(`/links/${body.links[0]?.id}`);
  await shop.patch(`/links/${body.links[1]?.id}`, { archived: true });
  expect((await shop.get<Page>('/folders?counts=include')).body.folders).toEqual([
    { ...empty, links: 0 },
    { ...full, links: 3 },
  ]);
  expect((await shop.get<Page>('/folders')).body.folders).toEqual([empty, full]);
  expect((await shop.get('/folders?counts=all')).status).toBe(400);
});

test('a deleted folder leaves its campaigns', async () => {
  const folder = await create('F');
  const { body } = await shop.post<{ links: LinkRecord[] }>('/links', {
    destination_url: 'https://shop.example',
    name: 'N',
    smart: true,
    folder_id: folder.id,
  });
  expect(body.links[0]?.folder_id).toBe(folder.id);
  await shop.delete(`/folders/${folder.id}`);
  const list = await shop.get<{ links: LinkRecord[] }>('/links?view=records');
  expect(list.body.links.map((link) => link.folder_id)).toEqual([null]);
});

test('deleting a folder while links move into it responds to each call: moved before, or no such folder', async () => {
  shop = await api.addWorkspace();
  const rows = Array.from({ length: 60 }, () => ({
    destination_url: 'https://shop.example',
    name: 'N',
    smart: true,
  }));
  const made = await shop.post<{ results: { body: { links: LinkRecord[] } }[] }>('/links/bulk', {
    links: rows,
  });
  const links = made.body.results.flatMap((result) => result.body.links);
  const moves: number[] = [];
  for (let round = 0; round < 40; round++) {
    const folder = await create(`F${round}`);
    await api.stores.pool.query('UPDATE destinations SET folder_id = $1 WHERE workspace_id = $2', [
      folder.id,
      shop.workspace.id,
    ]);
    const moving = [links[round], links[59 - round]].map(async (link) => {
      const moved = await shop.patch(`/links/${link?.id}`, { folder_id: folder.id });
      moves.push(moved.status);
    });
    // Each round interrupts the moves at another point.
    await setTimeout(round % 8);
    expect((await shop.delete(`/folders/${folder.id}`)).status).toBe(200);
    await Promise.all(moving);
  }
  expect(moves.filter((status) => status === 200 || status === 404)).toHaveLength(80);
  const list = await shop.get<{ links: LinkRecord[] }>('/links?view=records');
  expect(list.body.links.map((link) => link.folder_id)).toEqual(Array(60).fill(null));
});

test.each([[{}], [{ name: '' }], [{ name: 'x'.repeat(101) }], [{ name: 5 }], [[]]])(
  '%j is 400',
  async (body) => {
    expect((await shop.post('/folders', body)).status).toBe(400);
  },
);

test.each(['limit=0', 'limit=501', 'cursor=x'])('?%s is 400', async (query) => {
  expect((await shop.get(`/folders?${query}`)).status).toBe(400);
});

test('a create is safe to retry', async () => {
  const options = { headers: { 'idempotency-key': 'folder' } };
  const first = await shop.post('/folders', { name: 'Once' }, options);
  const second = await shop.post('/folders', { name: 'Once' }, options);
  expect([second.status, second.body]).toEqual([201, first.body]);
  expect((await shop.get<Page>('/folders')).body.folders).toHaveLength(1);
});
