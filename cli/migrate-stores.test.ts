import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { databaseUrlsOf, TEST_OWNER } from '../test/support/database-url.ts';
import { operator } from '../test/support/hoplog.ts';
import { onClickHouse, onPostgres } from '../test/support/shared-servers.ts';

/** New databases without migrations. */
const name = `hoplog_test_${randomBytes(8).toString('hex')}`;
const address = {
  ...databaseUrlsOf(inject('databaseUrl'), name),
  clickhouseUrl: inject('clickhouseUrl'),
  clickhouseDatabase: name,
};
const cli = operator(address);

beforeAll(() => onPostgres(`CREATE DATABASE ${name} OWNER ${TEST_OWNER}`));
afterAll(async () => {
  await onPostgres(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await onClickHouse(`DROP DATABASE IF EXISTS ${name} SYNC`);
});

type Printed = { applied: { postgres: string[]; clickhouse: string[] } };

test('one of four concurrent migrations applies it, and the others find it applied', async () => {
  const printed = await Promise.all([1, 2, 3, 4].map(() => cli.json<Printed>('migrate')));
  const did = printed.filter(({ applied }) => applied.postgres.length + applied.clickhouse.length > 0);
  expect(did).toHaveLength(1);
  expect(did[0]?.applied.postgres[0]).toBe('0001_workspaces.sql');
  expect(did[0]?.applied.clickhouse[0]).toBe('0001_events.sql');
});

test('an older release warns about newer databases and changes nothing', async () => {
  await onClickHouse(`INSERT INTO ${name}.migrations (name) VALUES ('9999_later.sql')`);
  const ended = await cli.run('migrate', '--json');
  expect(ended.status).toBe(0);
  expect(JSON.parse(ended.stdout)).toEqual({ applied: { postgres: [], clickhouse: [] } });
  expect(ended.stderr).toMatch(
    /^hoplog: .* a later release .*unknown migrations: 9999_later\.sql of ClickHouse\)$/m,
  );
});
