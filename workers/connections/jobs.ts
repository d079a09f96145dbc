import type { Logger } from '../../core/tier/log.ts';
import type { PaymentCursor } from '../../sql/connections/named-payments.ts';
import type { IdlePause } from '../idle-pause.ts';
import { type Job, startJob } from '../jobs/job.ts';
import type { Waiting } from '../jobs/waiting.ts';
import type { WorkerMetrics } from '../metrics.ts';
import { makePromotionCodes } from './make-promotion-codes.ts';
import { type ConnectionDependencies, processEvents } from './process-events.ts';
import { findNamedPayments, settleDuePayments } from './settle-payments.ts';

const PROCESS_EVERY_MS = 500;
const PROMOTE_EVERY_MS = 500;
const SETTLE_EVERY_MS = 5_000;

/** Starts the jobs of connected billing providers. Each may run in several processes at once. */
export function startConnectionJobs(
  shared: ConnectionDependencies & { log: Logger; metrics: WorkerMetrics; waits: Waiting; pause: IdlePause },
): Job[] {
  const { waits, pause } = shared;
  let lookedAt: PaymentCursor | null = null;
  return [
    startJob({
      ...shared,
      name: 'connection-events',
      everyMs: () => pause.ms(PROCESS_EVERY_MS),
      work: async () => (await waits('connectionEvents')) && processEvents(shared),
    }),
    startJob({
      ...shared,
      name: 'connection-payments',
      everyMs: SETTLE_EVERY_MS,
      isShared: true,
      work: async () => {
        lookedAt = await findNamedPayments(shared, lookedAt);
        return (await waits('connectionPayments')) && settleDuePayments(shared);
      },
    }),
    startJob({
      ...shared,
      name: 'promotion-codes',
      everyMs: () => pause.ms(PROMOTE_EVERY_MS),
      work: async () => (await waits('promotionCodes')) && makePromotionCodes(shared),
    }),
  ];
}
