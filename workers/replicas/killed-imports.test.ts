import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importClicks } from '../../api/click-imports/import-clicks.ts';
import { silentLogger } from '../../core/tier/log.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { readReplicaMarks } from '../../sql/event-log/replica-marks.ts';
import { workspaceById } from '../../sql/workspaces/workspaces.ts';
import { makeLink } from '../../test/support/ingest.ts';
import { type OwnClickHouse, ownClickHouse } from '../../test/support/own-clickhouse.ts';
import { until } from '../../test/support/until.ts';
import { createRig, type Rig } from '../../test/support/worker-rig.ts';
import { completeImports } from '../jobs/complete-imports.ts';
import { heartbeat } from '../test-support/events.ts';
import { addReplicaFromLog } from '../test-support/replica-from-log.ts';
import { createRepair } from './repair.ts';

let main: OwnClickHouse;
let second: OwnClickHouse;
let rig: Rig;
beforeAll(async () => {
  [main, second] = await Promise.all([ownClickHouse(), ownClickHouse()]);
  rig = await createRig();
  await addReplicaFromLog(rig.stores.pool, 'second');
  await rig.stores.pool.query('UPDATE replicas SET is_readable = true');
  await makeLink(rig.stores.pool, rig.workspace, 'https://shop.example/', { slug: 'spring' });
});
afterAll(async () => {
  await rig.close();
  await Promise.all([main.close(), second.close()]);
});

const replicas = () => [
  { name: 'main', clickhouse: main.clickhouse },
  { name: 'second', clickhouse: second.clickhouse },
];
const readable = async () =>
  [...(await readReplicaMarks(rig.stores.pool, ['main', 'second'])).of.keys()].sort();

/** Imports a click of each day of a month. */
async function importDays(from: number, pool: Pool = rig.stores.pool): Promise<number> {
  const workspace = await workspaceById(rig.stores.pool, rig.workspace);
  if (!workspace) throw new Error('the workspace is not there');
  const rows = Array.from({ length: 31 }, (_, n) => {
    return `${new Date(Date.UTC(2025, 0, from + n)).toISOString()},spring,visitor-${n % 7}\n`;
  });
  const { created } = await importClicks({
    ...{ pool, clickhouses: { replicas: replicas(), log: silentLogger() }, workspace },
    ...{ shortUrl: 'https://hop.example', source: 'csv' },
    text: Readable.from(['ts,slug,visitor\n', ...rows]),
    form: { kind: 'csv', delimiter: ',', firstLine: 1 },
  });
  return created;
}

/** A pool of a process that is gone when it has to record that clicks are stored. */
const killedBeforeItRecords = new Proxy({} as Pool, {
  get(_, name) {
    const { pool } = rig.stores;
    if (name !== 'query') {
      const value: unknown = Reflect.get(pool, name);
      return typeof value === 'function' ? value.bind(pool) : value;
    }
    return async (text: string, values: unknown[]) => {
      if (String(text).includes('UPDATE click_imports SET rows')) throw new Error('killed');
      return pool.query(text, values);
    };
  },
});

/** Imports until the process is gone, with the clicks in one replica alone. */
async function importInto(server: OwnClickHouse, from: number): Promise<void> {
  const other = server === main ? second : main;
  await other.kill();
  await expect(importDays(from, killedBeforeItRecords)).rejects.toThrow('killed');
  await other.start();
  await expect(importDays(from)).rejects.toThrow('an import that was interrupted is being completed');
}

const clicks = async () => [(await main.hash('clicks')).rows, (await second.hash('clicks')).rows];
const complete = () => completeImports({ pool: rig.stores.pool, replicas: replicas() });

test('an import that was killed after one replica got clicks is completed in both, or dropped from the one', async () => {
  const { pool } = rig.stores;
  const stream = await rig.stream('ingest-0');
  const workers = rig.work({ clickhouse: main.clickhouse, replicas: replicas() });
  stream.append([heartbeat(Date.now() * 1_000)]);
  await rig.settled(stream);
  const behind = async () => (await pool.query('SELECT FROM replica_lanes')).rowCount;
  await until('both are in step', behind, (rows) => rows === 0);
  await workers.stop();

  await importInto(main, 1);
  expect(await clicks()).toEqual([31, 0]);
  await complete();
  expect(await clicks()).toEqual([31, 31]);
  expect(await importDays(1)).toBe(0);

  await importInto(second, 60);
  expect(await clicks()).toEqual([31, 62]);
  // The replica with the clicks is away: the other one goes on without them, and is right.
  await second.kill();
  await complete();
  expect(await readable()).toEqual(['main']);
  expect(await importDays(60)).toBe(31);
  await second.start();
  const repair = createRepair({ pool, replicas: replicas(), log: silentLogger() });
  await until(
    'both may be read',
    async () => {
      await repair();
      return readable();
    },
    (names) => names.length === 2,
  );
  expect(await clicks()).toEqual([62, 62]);
  expect(await second.hash('clicks')).toEqual(await main.hash('clicks'));
});
