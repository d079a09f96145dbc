import { truncateSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrateStores } from '../cli/migrate-stores.ts';
import { readStatus } from '../cli/status.ts';
import { uuidv7 } from '../core/ids.ts';
import { type Config, readConfig } from '../core/settings/config.ts';
import { createPool, type Pool } from '../sql/database/pool.ts';
import { createDamageWatch } from '../workers/jobs/watch-damage.ts';
import { createWorkerMetrics } from '../workers/metrics.ts';
import { addReplicaFromLog } from '../workers/test-support/replica-from-log.ts';
import { type OwnClickHouse, ownClickHouse } from './support/own-clickhouse.ts';
import { storeClicks } from './support/stored-events.ts';
import { type TestStores, testStores } from './support/stores.ts';

/** What operators run, with two ClickHouse servers of which one is killed or damaged. */

let main: OwnClickHouse;
let second: OwnClickHouse;
let stores: TestStores;
let owner: Pool;
let config: Config;
beforeAll(async () => {
  [main, second] = await Promise.all([ownClickHouse(), ownClickHouse()]);
  stores = await testStores();
  owner = createPool(stores.databaseOwnerUrl, { max: 2 });
  config = {
    ...readConfig({
      DATABASE_URL: stores.databaseUrl,
      DATABASE_OWNER_URL: stores.databaseOwnerUrl,
      CLICKHOUSE_URL: main.url,
      SHORT_URL: 'https://hop.example',
    }),
    clickhouseReplicas: [
      { name: 'main', url: main.url },
      { name: 'second', url: second.url },
    ],
  };
});
afterAll(async () => {
  await owner.end();
  await stores.close();
  await Promise.all([main.close(), second.close()]);
});

const replicas = () => [
  { name: 'main', clickhouse: main.clickhouse },
  { name: 'second', clickhouse: second.clickhouse },
];

/** Takes a server back to before the last migration. */
async function goBack({ clickhouse }: OwnClickHouse): Promise<void> {
  await clickhouse.command({ query: 'DROP TABLE cached_report_parts SYNC' });
  await clickhouse.command({ query: `DELETE FROM migrations WHERE name = '0004_cached_reports.sql'` });
}

test('a migration reaches every replica that was added, and names the one that failed', async () => {
  const newest = '0004_cached_reports.sql';
  await Promise.all([main, second].map(goBack));
  // `second` is not added: nothing is written to it.
  expect((await migrateStores(owner, config)).applied).toEqual({ postgres: [], clickhouse: [newest] });
  await addReplicaFromLog(stores.pool, 'second');
  expect(await migrateStores(owner, config)).toEqual({
    applied: { postgres: [], clickhouse: [], 'clickhouse second': [newest] },
    warnings: [],
  });

  await Promise.all([main, second].map(goBack));
  await main.kill();
  const failed = await migrateStores(owner, config).catch((error: Error) => error.message);
  expect(failed).toMatch(
    /^failed to migrate main \(.+\) of CLICKHOUSE_REPLICAS; .* run "hoplog migrate" again/,
  );
  const { rows } = await second.clickhouse
    .query({ query: 'SELECT name FROM migrations ORDER BY name DESC LIMIT 1', format: 'JSON' })
    .then((result) => result.json<{ name: string }>())
    .then(({ data }) => ({ rows: data }));
  expect(rows).toEqual([{ name: newest }]);
  // Starting it in a test migrates it, too.
  await main.start();

  const alone = { ...config, clickhouseReplicas: config.clickhouseReplicas.slice(0, 1) };
  expect((await migrateStores(owner, alone)).warnings).toEqual([
    expect.stringMatching(/^the replica second is not in CLICKHOUSE_REPLICAS and was not migrated/),
  ]);
});

test('a damaged part is named with its replica, also while another one does not respond', async () => {
  const { registers, logged, look } = watch();
  const clickhouse = async () => (await readStatus(config)).parts.clickhouse;
  await look();
  expect(logged).toEqual([]);
  expect(await clickhouse()).toMatchObject({ ok: true, isWarning: false });

  for (const { clickhouse: client } of [main, second]) {
    await storeClicks({ clickhouse: client }, [
      {
        workspaceId: uuidv7(),
        tsNanos: BigInt(Date.now()) * 1_000_000n,
        linkId: uuidv7(),
        visitorId: uuidv7(),
      },
    ]);
  }
  const result = await second.clickhouse.query({
    query: `SELECT path FROM system.parts WHERE table = 'clicks' AND active`,
    format: 'JSONEachRow',
  });
  const [part] = await result.json<{ path: string }>();
  await second.kill();
  truncateSync(join(part?.path ?? '', 'checksums.txt'), 0);
  await expect(look()).rejects.toThrow();
  expect(await clickhouse()).toMatchObject({
    ok: true,
    isWarning: true,
    detail: expect.stringMatching(/^main: version .+; second: /),
  });
  await second.start();
  await main.kill();
  await expect(look()).rejects.toThrow();
  expect(logged).toEqual([expect.stringMatching(/"replica":"second".*a damaged part/)]);
  expect(await registers.metrics()).toContain(
    'hoplog_worker_damaged_parts{replica="second",table="clicks"} 1',
  );
  await main.start();
  await look();
  expect(logged).toHaveLength(1);
  expect(await clickhouse()).toMatchObject({
    ok: false,
    detail: expect.stringMatching(/^main: version .+; second: damaged parts/),
  });
});

function watch() {
  const registers = new Registry();
  const logged: string[] = [];
  const log = pino({}, { write: (text: string) => void logged.push(text) });
  const look = createDamageWatch({ replicas: replicas(), log, metrics: createWorkerMetrics(registers) });
  return { registers, logged, look };
}
