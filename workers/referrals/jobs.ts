import type { JobReaders } from '../../clickhouse/readers/readers.ts';
import type { Logger } from '../../core/tier/log.ts';
import type { Pool } from '../../sql/database/pool.ts';
import type { IdlePause } from '../idle-pause.ts';
import { type Job, startJob } from '../jobs/job.ts';
import type { Waiting } from '../jobs/waiting.ts';
import type { WorkerMetrics } from '../metrics.ts';
import { settleNextEarlyRefunds } from './early-refunds.ts';
import { endHoldPeriods } from './hold-periods.ts';
import { createSignupResolver } from './pending-signups.ts';
import { createOrderEvaluator } from './tracked-purchases.ts';

const HOLD_EVERY_MS = 5_000;
const RESOLVE_EVERY_MS = 500;
const EVALUATE_EVERY_MS = 500;
const SETTLE_EVERY_MS = 5_000;

/** Starts the jobs of the referral program. Each may run in several processes at once. */
export function startReferralJobs(shared: {
  pool: Pool;
  readers: JobReaders;
  log: Logger;
  metrics: WorkerMetrics;
  waits: Waiting;
  /** The pause of the loops that `waits` serves. */
  pause: IdlePause;
}): Job[] {
  const { waits, pause } = shared;
  const resolvePendingSignups = createSignupResolver(shared);
  const evaluateTrackedOrders = createOrderEvaluator(shared);
  return [
    startJob({
      ...shared,
      name: 'hold-periods',
      everyMs: HOLD_EVERY_MS,
      isShared: true,
      work: async () => (await waits('maturedCommissions')) && endHoldPeriods({ ...shared, now: new Date() }),
    }),
    startJob({
      ...shared,
      name: 'pending-signups',
      everyMs: () => pause.ms(RESOLVE_EVERY_MS),
      work: async () => (await waits('pendingSignups')) && resolvePendingSignups(new Date()),
    }),
    startJob({
      ...shared,
      name: 'tracked-purchases',
      everyMs: () => pause.ms(EVALUATE_EVERY_MS),
      work: async () => (await waits('trackedPurchases')) && evaluateTrackedOrders(new Date()),
    }),
    startJob({
      ...shared,
      name: 'early-refunds',
      everyMs: SETTLE_EVERY_MS,
      isShared: true,
      work: async () =>
        (await waits('earlyRefunds')) && settleNextEarlyRefunds({ ...shared, now: new Date() }),
    }),
  ];
}
