import { afterAll, beforeAll, expect, test } from 'vitest';
import { ARCHIVED_EVENTS } from '../../clickhouse/archive/archived-tables.ts';
import type { ClickHouseClient } from '../../clickhouse/client.ts';
import type { Replica } from '../../clickhouse/replicas.ts';
import { uuidv7 } from '../../core/ids.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { readReplicaMarks } from '../../sql/event-log/replica-marks.ts';
import { registerStream } from '../../sql/event-log/streams.ts';
import { createRepair } from '../../workers/replicas/repair.ts';
import { addReplicaFromLog } from '../../workers/test-support/replica-from-log.ts';
import { type TestApi, type TestWorkspace, testApi } from '../support/api.ts';
import { type OwnClickHouse, ownClickHouse } from '../support/own-clickhouse.ts';
import { storeClicks } from '../support/stored-events.ts';
import { type TestStores, testStores } from '../support/stores.ts';
import { until } from '../support/until.ts';
import { archives, importFrom, PROOFS, plantWorkspace } from './support.ts';

let old: TestApi;
let here: TestStores;
let main: OwnClickHouse;
let second: OwnClickHouse;
const files = archives();
beforeAll(async () => {
  [old, here, main, second] = await Promise.all([testApi(), testStores(), ownClickHouse(), ownClickHouse()]);
  await addReplicaFromLog(here.pool, 'second');
  await here.pool.query('UPDATE replicas SET is_readable = true');
  await registerStream(here.pool, 'ingest');
  await here.pool.query('UPDATE ingest_streams SET visible_before = $1', [Date.parse('2026-11-28') * 1_000]);
});
afterAll(async () => {
  files.remove();
  await Promise.all([old.close(), here.close(), main.close(), second.close()]);
});

const readable = async () => [...(await readReplicaMarks(here.pool, ['main', 'second'])).of.keys()].sort();
const replicasWith = (client: ClickHouseClient): Replica[] => [
  { name: 'main', clickhouse: main.clickhouse },
  { name: 'second', clickhouse: client },
];

/** The client, whose server is killed as it gets the rows of a table. */
function killedAt(table: string, server: OwnClickHouse): ClickHouseClient {
  return new Proxy(server.clickhouse, {
    get(target, name) {
      if (name !== 'exec') return Reflect.get(target, name);
      return async (given: Parameters<ClickHouseClient['exec']>[0]) => {
        if (given.query.includes(`INSERT INTO ${table}`)) await server.kill();
        return target.exec(given);
      };
    },
  });
}

async function importWith(replicas: Replica[], shop: TestWorkspace) {
  const path = await files.write(old.stores, shop.workspace.id);
  return importFrom(
    path,
    { ...here, clickhouse: main.clickhouse },
    { proofs: PROOFS, clickhouses: { replicas, log: silentLogger() } },
  );
}

/** Waits until both replicas may be read, and returns the number of rows by table, which are equal in both. */
async function equalRows(): Promise<Record<string, number>> {
  const repair = createRepair({
    pool: here.pool,
    replicas: replicasWith(second.clickhouse),
    log: silentLogger(),
  });
  await until(
    'both may be read',
    async () => {
      await repair();
      return readable();
    },
    (names) => names.length === 2,
  );
  const rows: Record<string, number> = {};
  for (const { name, final } of ARCHIVED_EVENTS) {
    // `written` says when the replica got the share.
    const all = name === 'attributed_shares' ? `(SELECT * EXCEPT written FROM ${name} FINAL)` : name;
    const counted = final && all === name ? `${name} FINAL` : all;
    const stored = await main.hash(counted);
    expect([name, await second.hash(counted)]).toEqual([name, stored]);
    rows[name] = stored.rows;
  }
  return rows;
}

test('an imported workspace reaches the replica that was killed meanwhile, and the one that was away', async () => {
  const shop = await old.addWorkspace({ name: 'Tea shop' });
  await plantWorkspace(old, shop);
  const { tables } = await importWith(replicasWith(killedAt('identifies', second)), shop);
  expect(tables).toMatchObject({ clicks: 1, identifies: 1 });
  expect(await readable()).toEqual(['main']);
  await second.start();
  const first = await equalRows();
  expect(first).toEqual(Object.fromEntries(Object.keys(first).map((name) => [name, tables[name]])));

  const other = await old.addWorkspace({ name: 'Coffee shop' });
  const { id: workspaceId } = other.workspace;
  await storeClicks(
    old.stores,
    [0, 1, 2].map((n) => ({
      workspaceId,
      tsNanos: BigInt(Date.UTC(2026, 9, 1 + n)) * 1_000_000n,
      linkId: uuidv7(),
      visitorId: uuidv7(),
    })),
  );
  await main.kill();
  await importWith(replicasWith(second.clickhouse), other);
  expect(await readable()).toEqual(['second']);
  await main.start();
  expect(await equalRows()).toEqual({ ...first, clicks: (first.clicks ?? 0) + 3 });
});
