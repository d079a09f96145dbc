import type { Registry } from 'prom-client';
import type { ClickHouseClient } from '../clickhouse/client.ts';
import type { Enricher } from '../core/enrich/enrich.ts';
import type { DeadTopic } from '../core/event-log/open.ts';
import type { EventLogReader } from '../core/event-log/port.ts';
import type { Logger } from '../core/tier/log.ts';
import type { Pool } from '../sql/database/pool.ts';
import { attributeOrders } from './attribution/attribute.ts';
import { publishDeadLetters } from './dead-letters/publish.ts';
import { startClock } from './jobs/clock.ts';
import { correctTimes } from './jobs/correct-times.ts';
import { eraseRequested } from './jobs/erase.ts';
import { pruneOld } from './jobs/prune.ts';
import { createWaiting } from './jobs/waiting.ts';
import { createDamageWatch } from './jobs/watch-damage.ts';
import { type LaneDependencies, runLane } from './lane/lane.ts';
import { startLanes } from './lane/lanes.ts';
import { createPace } from './lane/pace.ts';
import type { Decode } from './lane/prepare.ts';
import { createWorkerMetrics } from './metrics.ts';
import { startReferralClocks } from './referrals/clocks.ts';
import { keepRolledUp } from './rollups/keep-rolled-up.ts';
import { exposeWatermarkAge } from './watermark-age.ts';
import { startWebhooks, type WebhookOptions } from './webhooks/webhooks.ts';

/** The consumer that fills ClickHouse. Its lanes move the watermark. */
export const STORE_CONSUMER = 'store';

export type WorkersDependencies = {
  pool: Pool;
  clickhouse: ClickHouseClient;
  /** Of the lanes of the store. */
  reader: EventLogReader;
  /** Of the lanes of the webhooks, where a reader keeps a place and can't be shared; left out: the same one. */
  webhookReader?: EventLogReader;
  decode: Decode;
  enricher: Enricher;
  log: Logger;
  registry: Registry;
  /** Where dead letters are copied to; left out or null: nowhere. */
  deadTopic?: DeadTopic | null;
  /** Left out: this process delivers no webhooks. */
  webhooks?: WebhookOptions;
  /** For tests: see the lanes. */
  patienceMs?: LaneDependencies['patienceMs'];
  /** For tests: called at each state of each lane. */
  onState?: LaneDependencies['onState'];
};

export type Workers = {
  /**
   * Works off what the log holds at this moment, at the longest for `drainMs`, then stops everything. The
   * stores and the reader stay open: they are the caller's.
   */
  stop(drainMs?: number): Promise<void>;
};

const DRAIN_MS = 2_000;
const ATTRIBUTE_EVERY_MS = 500;
const ERASE_EVERY_MS = 10_000;
const PUBLISH_EVERY_MS = 2_000;
const CORRECT_EVERY_MS = 5_000;
const PRUNE_EVERY_MS = 60_000;
const ROLL_UP_EVERY_MS = 600_000;
const LOOK_FOR_DAMAGE_EVERY_MS = 60_000;

/** Builds the tier and starts it: the lanes of the store, webhooks, the attribution of orders, referrals and housekeeping. */
export function createWorkers(dependencies: WorkersDependencies): Workers {
  const { pool, clickhouse, log, registry, deadTopic } = dependencies;
  const metrics = createWorkerMetrics(registry);
  void exposeWatermarkAge(pool, registry);
  const end = new AbortController();
  const pace = createPace({ clickhouse, log, signal: end.signal });
  const laneDependencies = { ...dependencies, metrics, pace };
  const lanes = startLanes({
    ...laneDependencies,
    consumer: STORE_CONSUMER,
    run: (lane, control, laneLog) => runLane({ ...laneDependencies, log: laneLog }, lane, control),
  });
  const webhooks =
    dependencies.webhooks &&
    startWebhooks({
      ...dependencies,
      reader: dependencies.webhookReader ?? dependencies.reader,
      workerMetrics: metrics,
      options: dependencies.webhooks,
    });
  const shared = { pool, clickhouse, log, metrics, waits: createWaiting(pool) };
  const clocks = [
    startClock({
      ...shared,
      name: 'attribution',
      everyMs: ATTRIBUTE_EVERY_MS,
      work: async () => (await shared.waits('attribution')) && attributeOrders(shared),
    }),
    startClock({ ...shared, name: 'erase', everyMs: ERASE_EVERY_MS, work: () => eraseRequested(shared) }),
    startClock({
      ...shared,
      name: 'correct_times',
      everyMs: CORRECT_EVERY_MS,
      work: () => correctTimes(shared),
    }),
    startClock({ ...shared, name: 'prune', everyMs: PRUNE_EVERY_MS, work: () => pruneOld(shared) }),
    startClock({ ...shared, name: 'rollups', everyMs: ROLL_UP_EVERY_MS, work: () => keepRolledUp(shared) }),
    startClock({
      ...shared,
      name: 'damage',
      everyMs: LOOK_FOR_DAMAGE_EVERY_MS,
      work: createDamageWatch(shared),
    }),
    ...startReferralClocks(shared),
    ...(deadTopic
      ? [
          startClock({
            ...shared,
            name: 'dead_letters',
            everyMs: PUBLISH_EVERY_MS,
            work: () => publishDeadLetters({ pool, topic: deadTopic }),
          }),
        ]
      : []),
  ];

  return {
    async stop(drainMs = DRAIN_MS) {
      await Promise.all([
        lanes.stop(drainMs),
        webhooks?.stop(drainMs),
        ...clocks.map((clock) => clock.stop()),
      ]);
      end.abort();
    },
  };
}
