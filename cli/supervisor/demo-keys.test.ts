import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import { temporaryDirectory } from '../../test/support/process-fixtures.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { demoKeysToPrint } from './demo-keys.ts';

let stores: TestStores;
const directory = temporaryDirectory();
const path = join(directory.path, 'demo.json');

beforeAll(async () => {
  stores = await testStores();
});

afterAll(async () => {
  directory.remove();
  await stores.close();
});

const demo = () => demoKeysToPrint(stores.pool, { path, appUrl: 'https://app.example' });

test('the keys of demo are saved with mode 0600 until they are printed, and never printed again', async () => {
  // Simulates a start that exited before it created the workspace.
  writeFileSync(path, JSON.stringify({ workspace_id: uuidv7(), secret_key: 'lk_live_of_nothing' }));
  const first = await demo();
  expect(first?.secret_key).toMatch(/^lk_live_[0-9a-f]{8}_/);
  expect(statSync(path).mode & 0o777).toBe(0o600);

  const { console_url: firstUrl, ...keys } = first ?? {};
  const second = await demo();
  expect(second).toMatchObject(keys);
  expect(second?.console_url).toMatch(/^https:\/\/app\.example\/console\/welcome#[\w-]{43}$/);
  expect(second?.console_url).not.toBe(firstUrl);
  const { rows } = await stores.pool.query('SELECT slug FROM workspaces');
  expect(rows).toEqual([{ slug: 'demo' }]);

  rmSync(path); // as a process does after it printed them
  expect(await demo()).toBeNull();
  expect(existsSync(path)).toBe(false);
  // The file comes from a DATA_DIR with another database.
  writeFileSync(path, JSON.stringify({ workspace_id: uuidv7() }));
  expect(await demo()).toBeNull();
});
