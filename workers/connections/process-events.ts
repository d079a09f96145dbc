import { referralLinksClicked } from '../../clickhouse/queries/referral-clicks.ts';
import type { JobReaders } from '../../clickhouse/readers/readers.ts';
import type { SecretSealer } from '../../core/access/sealed-secret.ts';
import { EventProblem, type Fact, type Reading } from '../../core/connections/connector.ts';
import { connectorOf } from '../../core/connections/connectors.ts';
import { parseExact } from '../../core/connections/exact-json.ts';
import { requireStorable } from '../../core/connections/storable-facts.ts';
import { MoneyError } from '../../core/money/money.ts';
import { NANOS_PER_MILLI } from '../../core/time/timestamps.ts';
import { lockConnection } from '../../sql/connections/connections.ts';
import {
  type DueEvent,
  finishEvent,
  lockPendingEvent,
  nextDueEvent,
  type Outcome,
  postponeEvent,
  retryEvent,
} from '../../sql/connections/events.ts';
import { inTransaction, type Pool, type Queryable } from '../../sql/database/pool.ts';
import { marksOfReplicas } from '../../sql/event-log/replica-marks.ts';
import { reportsStoredBefore } from '../../sql/orders/waiting-reports.ts';
import { enrollmentOfLinks } from '../../sql/referrals/referral-links.ts';
import { applyEvent } from '../../sql/transactions/apply-event.ts';
import { workspaceById } from '../../sql/workspaces/workspaces.ts';
import type { WorkerMetrics } from '../metrics.ts';

export type ConnectionDependencies = {
  pool: Pool;
  readers: JobReaders;
  log: { warn(fields: { err: unknown; connection: string; event?: string }, message: string): void };
  metrics: WorkerMetrics;
  /** Opens the secrets of connections. */
  sealer: () => Promise<SecretSealer>;
  /** Origin of Stripe's API, or of a stand-in. */
  stripeApiBase: string;
};

/** Events of one run. */
const CHUNK = 200;
/** Waits before each further attempt of an event that failed. Milliseconds. */
const RETRIES = [5_000, 30_000, 300_000, 1_800_000, 7_200_000];
/**
 * How long an event with a visitor waits for the visitor's clicks to become visible, and how often it looks.
 * Milliseconds.
 */
const CLICKS_WITHIN = 60_000;
const LOOK_EVERY = 300;
/**
 * Providers write whole seconds, and clocks differ: a click this much later may still have led to the payment.
 * Milliseconds.
 */
const PAID_WITHIN = 2_000;

/**
 * Processes events of billing providers that are due. Several workers may run it: each event is applied in the
 * transaction that records its outcome.
 *
 * @returns whether more may be due
 */
export async function processEvents(dependencies: ConnectionDependencies): Promise<boolean> {
  /** An event that waits must not be read again in this run. */
  const tried: number[] = [];
  for (let count = 0; count < CHUNK; count++) {
    const event = await nextDueEvent(dependencies.pool, tried);
    if (!event) return false;
    tried.push(event.internal_id);
    await processEvent(dependencies, event);
  }
  return true;
}

async function processEvent(dependencies: ConnectionDependencies, event: DueEvent): Promise<void> {
  const { pool, log, metrics } = dependencies;
  const { provider } = event;
  const count = (status: string) => metrics.connectionEvents.inc({ provider, status });
  try {
    const reading = readingOf(event);
    if ('problem' in reading) {
      await finishEvent(pool, event.internal_id, {
        status: 'failed',
        reason: reading.problem,
        paymentId: null,
      });
      return count('failed');
    }
    if (await waitsForClicks(dependencies, event, reading)) return;
    const outcome = await apply(dependencies, event, reading);
    if (outcome) count(outcome.status);
  } catch (error) {
    // PostgreSQL that is down throws here again, and ends the run.
    const wait = RETRIES[event.attempts];
    const reason = 'internal_error';
    if (wait === undefined) {
      await finishEvent(pool, event.internal_id, { status: 'failed', reason, paymentId: null });
      count('failed');
    } else {
      await retryEvent(pool, event.internal_id, { reason, dueAt: new Date(Date.now() + wait) });
      count('retried');
    }
    log.warn(
      { err: error, connection: event.connection_id, event: event.event_id },
      wait === undefined
        ? 'failed to process an event of a billing provider; it can be replayed'
        : 'failed to process an event of a billing provider; will retry',
    );
  }
}

function readingOf(event: DueEvent): Reading | { problem: string } {
  try {
    const { type, event_id: eventId } = event;
    const reading = connectorOf(event.provider).read(parseExact(event.body), { type, eventId });
    if ('facts' in reading) requireStorable(reading.at.getTime(), reading.facts);
    return reading;
  } catch (error) {
    if (error instanceof EventProblem || error instanceof MoneyError || error instanceof SyntaxError)
      return { problem: `can't be read: ${error.message}` };
    throw error;
  }
}

/** An event that names a visitor is processed once the clicks before it are visible: one may be a referrer's. */
async function waitsForClicks(
  { pool }: ConnectionDependencies,
  event: DueEvent,
  reading: Reading,
): Promise<boolean> {
  if (!('facts' in reading) || !reading.facts.some(namesVisitor)) return false;
  const received = event.received_at.getTime();
  if (visibleUpTo(event) === 0) return false;
  const mark = await reportsStoredBefore(pool);
  if (mark === null || mark >= received * 1_000) return false;
  await postponeEvent(pool, event.internal_id, new Date(Date.now() + LOOK_EVERY));
  return true;
}

/** Returns the time up to which the clicks of visitors must be visible, in microseconds. */
function visibleUpTo({ received_at }: DueEvent): number {
  const received = received_at.getTime();
  return Date.now() - received > CLICKS_WITHIN ? 0 : received * 1_000;
}

function namesVisitor(fact: Fact): boolean {
  const buyer = fact.kind === 'tie' ? fact : fact.kind === 'payment' ? fact.is.buyer : undefined;
  return buyer !== undefined && (buyer.visitorId !== null || buyer.reference !== null);
}

/** @returns null when another worker has processed the event, or its connection is deleted */
function apply(
  dependencies: ConnectionDependencies,
  event: DueEvent,
  reading: Reading,
): Promise<Outcome | null> {
  return inTransaction(dependencies.pool, async (tx) => {
    const connection = await lockConnection(tx, event.connection_id);
    if (!connection || !(await lockPendingEvent(tx, event.internal_id))) return null;
    const workspace = await workspaceById(tx, connection.workspace_id);
    if (!workspace) throw new Error(`workspace ${connection.workspace_id} does not exist`);
    const clicked = createClickLookup(tx, dependencies, workspace.id, visibleUpTo(event));
    const context = { workspace, connection, now: new Date(), eventId: event.event_id, clicked };
    const outcome = await applyEvent(tx, context, event, reading);
    await finishEvent(tx, event.internal_id, outcome);
    return outcome;
  });
}

/**
 * Returns a lookup of the referrer whose link a visitor clicked last before a payment.
 *
 * @param atLeast the time up to which every click must be visible, microseconds
 */
export function createClickLookup(
  db: Queryable,
  { readers }: Pick<ConnectionDependencies, 'readers'>,
  workspaceId: string,
  atLeast: number,
) {
  return async (visitorId: string, paidAt: Date): Promise<string | null> => {
    // A late event must not credit a referrer whose link was clicked since.
    const before = BigInt(paidAt.getTime() + PAID_WITHIN) * NANOS_PER_MILLI;
    const links = await readers.readUpTo(
      atLeast,
      (clickhouse) => referralLinksClicked(clickhouse, { workspaceId, visitorIds: [visitorId], before }),
      () => marksOfReplicas(db),
    );
    return links.length === 0 ? null : enrollmentOfLinks(db, workspaceId, links);
  };
}
