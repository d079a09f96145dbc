import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { createDemoWorkspace } from './first-start.ts';

let stores: TestStores;

beforeAll(async () => {
  stores = await testStores();
});

afterAll(() => stores.close());

test('only the first start creates the workspace demo, with one key of each kind and a console link', async () => {
  const made = await Promise.all(
    Array.from({ length: 4 }, () => createDemoWorkspace(stores.pool, 'https://app.example')),
  );
  const [demo, ...more] = made.filter((one) => one !== null);
  expect(more).toEqual([]);
  expect(demo?.secret_key).toMatch(/^lk_live_[0-9a-f]{8}_[0-9a-f]{48}$/);
  expect(demo?.publishable_key).toMatch(/^pk_live_[0-9a-f]{8}_[0-9a-f]{48}$/);
  expect(demo?.console_url).toMatch(/^https:\/\/app\.example\/console\/welcome#[\w-]{43}$/);
  const { rows } = await stores.pool.query('SELECT name, slug, plan FROM workspaces');
  expect(rows).toEqual([{ name: 'demo', slug: 'demo', plan: 'unlimited' }]);
});
