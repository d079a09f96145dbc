import { connectorOf } from '../../core/connections/connectors.ts';
import { PromotionProblem } from '../../core/connections/promotion-codes.ts';
import { retryWait } from '../../core/webhooks/retry-schedule.ts';
import { lockConnection } from '../../sql/connections/connections.ts';
import { putCode } from '../../sql/connections/customers.ts';
import {
  type ClaimedPromotionCode,
  endCodeMadeLate,
  type PromotionCodeState,
  promotionCodesToMake,
  savePromotionCode,
} from '../../sql/connections/promotion-codes.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { PROMOTION_CODES, targetsDue } from '../../sql/deliveries/queue.ts';
import { createDeliverer } from '../deliveries/deliver-due.ts';
import type { ConnectionDependencies } from './process-events.ts';

/** Connections of one run. */
const CHUNK = 50;
/** Longer than the calls of an attempt take. Milliseconds. */
const LEASE = 120_000;

/**
 * Makes the discount codes of coupons at their providers, and ends those of deleted coupons, one at a time for each
 * connection. Failed attempts are repeated by the schedule of webhooks. Several workers may run it; a worker that ends
 * in an attempt leaves it to the next one, and the provider has one code in the end.
 *
 * @returns whether more may be due
 */
export async function makePromotionCodes(
  dependencies: ConnectionDependencies,
  now: () => number = Date.now,
): Promise<boolean> {
  const { pool } = dependencies;
  const failures: unknown[] = [];
  const deliverer = createDeliverer<unknown, null>(
    { pool, now },
    {
      queue: PROMOTION_CODES,
      most: CHUNK,
      leaseMs: LEASE,
      async due() {
        const found = await targetsDue(pool, PROMOTION_CODES, now());
        return found.map((id) => ({ id, to: null, room: (most) => Math.min(1, most) }));
      },
      async begin(claimed) {
        const codes = await promotionCodesToMake(
          pool,
          claimed.map(({ delivery }) => delivery),
        );
        return codes.map((one) =>
          make(dependencies, one, now).catch((error: unknown) => {
            failures.push(error);
          }),
        );
      },
    },
  );
  const hasClaimed = await deliverer.attemptDue();
  await deliverer.settled();
  if (failures.length > 0) throw failures[0];
  return hasClaimed;
}

async function make(
  dependencies: ConnectionDependencies,
  claimed: ClaimedPromotionCode,
  now: () => number,
): Promise<void> {
  const state = await attempt(dependencies, claimed, now);
  await save(dependencies, claimed, state, now);
  dependencies.metrics.promotionCodes.inc({
    outcome: state.nextAttemptAt === null ? state.status : 'retried',
  });
}

async function attempt(
  { sealer, stripeApiBase, log }: ConnectionDependencies,
  claimed: ClaimedPromotionCode,
  now: () => number,
): Promise<PromotionCodeState> {
  const { id, provider, connection_id: connection, restricted_key: sealed, status, reference } = claimed;
  const isEnding = status === 'ending';
  try {
    const codes = connectorOf(provider).promotionCodes;
    if (!codes || !claimed.is_connected) throw notSent('the connection was deleted', { isFinal: true });
    if (sealed === null) throw notSent('the connection has no restricted key', { isFinal: false });
    const wanted = {
      id,
      couponId: claimed.coupon_id,
      code: claimed.code,
      discount: claimed.discount,
      refusals: claimed.refusals,
    };
    const api = { key: (await sealer()).open(sealed, connection), apiBase: stripeApiBase };
    const done = { error: null, isRefused: false, nextAttemptAt: null };
    if (!isEnding) return { ...done, status: 'active', reference: await codes.put(wanted, api) };
    await codes.end(wanted, reference, api);
    return { ...done, status: 'ended', reference };
  } catch (error) {
    if (!(error instanceof PromotionProblem)) throw error;
    const wait = error.isFinal ? null : retryWait(claimed.attempts + 1, null, Math.random());
    if (wait === null && isEnding)
      log.warn({ err: error, connection }, 'failed to end the promotion code of a deleted coupon');
    return {
      status: wait !== null ? status : isEnding ? 'ended' : 'failed',
      reference: null,
      error: error.message,
      isRefused: error.isRefused,
      nextAttemptAt: wait === null ? null : new Date(now() + wait),
    };
  }
}

const notSent = (message: string, { isFinal }: { isFinal: boolean }) =>
  new PromotionProblem(message, { isRefused: false, isFinal });

function save(
  { pool }: ConnectionDependencies,
  claimed: ClaimedPromotionCode,
  state: PromotionCodeState,
  now: () => number,
): Promise<void> {
  return inTransaction(pool, async (tx) => {
    const connection = await lockConnection(tx, claimed.connection_id);
    const isSaved = await savePromotionCode(tx, claimed, state);
    const { id, code } = claimed;
    const { status, reference } = state;
    if (status !== 'active' || reference === null) return;
    // A payment names the code by its id, and may arrive before the event that has the code's text.
    if (isSaved && connection) await putCode(tx, connection, { kind: 'code', codeId: reference, code });
    if (!isSaved) await endCodeMadeLate(tx, { id, reference, now: new Date(now()) });
  });
}
