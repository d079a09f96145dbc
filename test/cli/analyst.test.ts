import { expect } from 'vitest';
import { sharedShopTest as test } from '../support/fixtures.ts';
import { operator } from '../support/hoplog.ts';

let cli: ReturnType<typeof operator>;

test.beforeAll(async ({ api }) => {
  cli = operator(api.stores);
});

// The embedded ClickHouse reads every file of the machine by file().
test('create refuses a ClickHouse that can not confine a user, and leaves nothing behind', async ({
  shop,
}) => {
  const create = ['analyst', 'create', '--workspace', shop.workspace.slug];
  await cli.refused(1, /the embedded one cannot confine a user: set CLICKHOUSE_URL/, ...create);
  expect(await cli.json('analyst', 'list')).toEqual({ analysts: [] });
});

test('an unknown workspace, an unknown analyst and a wrong name are refused', async ({ shop }) => {
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
