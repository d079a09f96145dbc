import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApi, type TestWorkspace, testApi } from '../support/api.ts';
import { operator } from '../support/hoplog.ts';

let api: TestApi;
let shop: TestWorkspace;
let cli: ReturnType<typeof operator>;

beforeAll(async () => {
  api = await testApi();
  shop = await api.addWorkspace();
  cli = operator(api.stores);
});
afterAll(() => api.close());

// The embedded ClickHouse reads every file of the machine by file().
test('create refuses a ClickHouse that can not confine a user, and leaves nothing behind', async () => {
  const create = ['analyst', 'create', '--workspace', shop.workspace.slug];
  await cli.refused(1, /the embedded one cannot confine a user: set CLICKHOUSE_URL/, ...create);
  expect(await cli.json('analyst', 'list')).toEqual({ analysts: [] });
});

test('an unknown workspace, an unknown analyst and a wrong name are refused', async () => {
  await cli.refused(
    1,
    /no workspace has the id or slug "nowhere"/,
    'analyst',
    'create',
    '--workspace',
    'nowhere',
  );
  await cli.refused(1, /no analyst has the name "analyst_x"/, 'analyst', 'delete', '--user', 'analyst_x');
  await cli.refused(
    2,
    /must be 1 to 40 lower-case letters/,
    ...['analyst', 'create', '--workspace', shop.workspace.slug, '--name', 'A B'],
  );
});
