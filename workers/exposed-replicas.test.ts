import { Registry } from 'prom-client';
import { expect } from 'vitest';
import { missedOf, recordMissed, recordRepaired } from '../sql/event-log/replica-repairs.ts';
import { registerStream } from '../sql/event-log/streams.ts';
import { storesTest as test } from '../test/support/fixtures.ts';
import { exposeReplicas } from './exposed-replicas.ts';
import { addReplicaFromLog } from './test-support/replica-from-log.ts';

test('each replica has the age of its watermark, and says whether it may be read', async ({ stores }) => {
  const { pool } = stores;
  const registry = new Registry();
  exposeReplicas(pool, registry);
  const valuesOf = async (name: string) => {
    const metric = await registry.getSingleMetric(name)?.get();
    return Object.fromEntries(metric?.values.map(({ labels, value }) => [labels.replica, value]) ?? []);
  };
  const readable = () => valuesOf('hoplog_replica_readable');
  expect(await valuesOf('hoplog_replica_watermark_age_seconds')).toEqual({});
  expect(await readable()).toEqual({ main: 1 });

  const { streamId } = await registerStream(pool, 'ingest-0');
  const ago = (seconds: number) => (Date.now() - seconds * 1_000) * 1_000;
  await pool.query('UPDATE ingest_streams SET visible_before = $1', [ago(60)]);
  await addReplicaFromLog(pool, 'second');
  await pool.query(`INSERT INTO replica_lanes (replica, partition, next_offset) VALUES ('second', 'p', 0)`);
  await pool.query(`INSERT INTO replica_streams VALUES ('second', 'p', $1, -1, $2, '[]')`, [
    streamId,
    ago(3_600),
  ]);
  const ages = await valuesOf('hoplog_replica_watermark_age_seconds');
  expect(ages.main).toBeGreaterThanOrEqual(60);
  expect(ages.main).toBeLessThan(ages.second ?? 0);
  expect(ages.second).toBeGreaterThanOrEqual(3_600);
  expect(await readable()).toEqual({ main: 1, second: 0 });

  await recordMissed(pool, { stored: ['second'], of: [{ work: 'orders', subject: 1 }] });
  expect(await readable()).toEqual({ main: 0, second: 0 });
  await recordRepaired(pool, 'main', 'orders', await missedOf(pool, 'main', 'orders', 10));
  expect(await readable()).toEqual({ main: 1, second: 0 });
});
