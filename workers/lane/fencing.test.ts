import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { until } from '../../test/support/until.ts';
import { metric, type Rig, rigTest } from '../../test/support/worker-rig.ts';
import { click } from '../test-support/events.ts';

const NOW = Date.UTC(2026, 10, 20) * 1000;

async function epoch(rig: Rig): Promise<number> {
  const { rows } = await rig.stores.pool.query<{ epoch: number }>('SELECT epoch FROM log_lanes');
  return rows[0]?.epoch ?? 0;
}

describe('two workers and one lane', () => {
  rigTest.for(['prepared', 'intended', 'inserted'] as const)(
    'count every event once when the first is overtaken while %s',
    async (state, { rig }) => {
      const { pool } = rig.stores;
      const stream = await rig.stream('ingest-0');
      const { workspace } = rig;
      stream.append(
        Array.from({ length: 300 }, (_, i) =>
          click({ workspace, link: uuidv7(), visitor: uuidv7(), ts: NOW + i }),
        ),
      );
      const overtaken = Promise.withResolvers<void>();
      const first = rig.work({
        async onState(reached) {
          if (reached !== state || (await epoch(rig)) !== 1) return;
          const second = rig.work();
          // The first worker keeps renewing its lease. This makes the lease look unrenewed.
          const expire = async () => {
            await pool.query(`UPDATE log_lanes SET held_until = now() - interval '1 hour' WHERE epoch = 1`);
            return epoch(rig);
          };
          await until('the second worker takes the lane', expire, (held) => held !== 1, { intervalMs: 5 });
          await rig.settled(stream);
          await second.stop();
          overtaken.resolve();
        },
      });
      await overtaken.promise;
      const late = uuidv7();
      stream.append([click({ workspace, link: late, visitor: uuidv7(), ts: NOW + 1_000 })]);
      await rig.settled(stream);
      await first.stop();
      expect(await rig.stored()).toEqual({ rows: 301, distinct: 301 });
      expect(await metric(first.registry, 'hoplog_worker_lanes_ended_total', { cause: 'lost' })).toBe(1);
    },
  );

  rigTest(
    'count every event once when the first wakes up after ClickHouse has dropped its tokens',
    async ({ rig }) => {
      const { pool, clickhouse } = rig.stores;
      await clickhouse.command({
        query: 'ALTER TABLE clicks MODIFY SETTING non_replicated_deduplication_window = 1',
      });
      const stream = await rig.stream('ingest-0');
      const { workspace } = rig;
      const at = (ts: number) => click({ workspace, link: uuidv7(), visitor: uuidv7(), ts });
      stream.append(Array.from({ length: 300 }, (_, i) => at(NOW + i)));
      const awake = Promise.withResolvers<never>();
      let isAsleep = false;
      /** PostgreSQL as the first worker reaches it: renewals of its lease get no response while it sleeps. */
      const asked: Pool = new Proxy(pool, {
        get(target, property) {
          if (property !== 'query') return Reflect.get(target, property);
          return (query: string | { name?: string }, ...rest: []) =>
            isAsleep && typeof query === 'object' && query.name === 'renew_lanes'
              ? awake.promise
              : target.query(query as string, ...rest);
        },
      });
      const overtaken = Promise.withResolvers<void>();
      const first = rig.work({
        pool: asked,
        async onState(reached) {
          if (reached !== 'intended' || (await epoch(rig)) !== 1) return;
          isAsleep = true;
          const second = rig.work();
          await until(
            'the second worker takes the lane',
            () => epoch(rig),
            (held) => held !== 1,
            { intervalMs: 5 },
          );
          await rig.settled(stream);
          for (let i = 0; i < 3; i++) {
            stream.append([at(NOW + 1_000 + i)]);
            await rig.settled(stream);
          }
          await second.stop();
          isAsleep = false;
          awake.reject(new Error('the connection has broken'));
          overtaken.resolve();
        },
      });
      await overtaken.promise;
      stream.append([at(NOW + 2_000)]);
      await rig.settled(stream);
      await first.stop();
      expect(await rig.stored()).toEqual({ rows: 304, distinct: 304 });
    },
  );

  rigTest('share the partitions and never hold one together', async ({ rig }) => {
    const streams = [];
    for (let i = 0; i < 4; i++) streams.push(await rig.stream(`ingest-${i}`));
    const { workspace } = rig;
    /** The workers that stored for a lane, for each time that the lane was taken. */
    const holders = new Map<string, Set<number>>();
    const workers = [0, 1].map((worker) =>
      rig.work({
        onState(_, { partition, epoch }) {
          const taken = `${partition}/${epoch}`;
          holders.set(taken, (holders.get(taken) ?? new Set()).add(worker));
        },
      }),
    );
    for (let round = 0; round < 5; round++) {
      for (const [index, stream] of streams.entries()) {
        const ts = NOW + round * 1_000 + index;
        stream.append([click({ workspace, link: uuidv7(), visitor: uuidv7(), ts })]);
      }
      await sleep(30);
    }
    for (const stream of streams) await rig.settled(stream);
    for (const worker of workers) await worker.stop();
    expect(await rig.stored()).toEqual({ rows: 20, distinct: 20 });
    expect(new Set([...holders.keys()].map((taken) => taken.split('/')[0])).size).toBe(4);
    for (const [taken, by] of holders) expect([taken, by.size]).toEqual([taken, 1]);
  });
});
