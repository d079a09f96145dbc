import { expect } from 'vitest';
import { storesTest as test } from '../../test/support/fixtures.ts';
import { createDemoWorkspace } from './first-start.ts';

test('only the first start creates the workspace demo, with one key of each kind and a console link', async ({
  stores,
}) => {
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
