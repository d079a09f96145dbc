import type { IdentifyRow } from '../../clickhouse/inserts/identifies.ts';
import type { Logger } from '../../core/tier/log.ts';
import { inTransaction, type Pool, type PoolClient } from '../../sql/database/pool.ts';
import { insertCorrections } from '../../sql/event-log/clock-corrections.ts';
import { type CountedHour, storeCounts } from '../../sql/event-log/counted-clicks.ts';
import { addDeadLetters, type DeadLetter } from '../../sql/event-log/dead-letters.ts';
import { advanceLane, type Lane, LaneMoved, lockLane } from '../../sql/event-log/lanes.ts';
import { keepStreams } from '../../sql/event-log/replica-lanes.ts';
import { advanceLaneAndStreams, advanceStreams } from '../../sql/event-log/streams.ts';
import { addUsedPermits } from '../../sql/links/leases.ts';
import { upsertIdentities } from '../../sql/orders/identities.ts';
import { joinVisitors } from '../../sql/orders/joined-visitors.ts';
import { noteLeads } from '../../sql/orders/leads.ts';
import { recordSales } from '../../sql/orders/recorded-sales.ts';
import { addWaitingReports } from '../../sql/orders/waiting-reports.ts';
import type { WorkerMetrics } from '../metrics.ts';
import type { Retry } from '../retry.ts';
import { countedClicks } from './counted-clicks.ts';
import { deadEvent, reasonCode } from './dead-letters.ts';
import type { Refused } from './insert.ts';
import type { Prepared } from './prepare.ts';
import { identityOf, joinsOf, leadOf, orderOf } from './reports.ts';

export type AdvanceDependencies = { pool: Pool; retry: Retry; metrics: WorkerMetrics; log: Logger };

/** @param behind the replicas that do not have the range */
export type AdvanceStep = (
  lane: Lane,
  prepared: Prepared,
  refused: readonly Refused[],
  behind: readonly string[],
) => Promise<void>;

/** Classes of SQLSTATE by which PostgreSQL refuses the values themselves: data, constraints, limits. */
const REFUSED_VALUE = /^(22|23|54)/;

/**
 * Creates the step that makes a stored range final: one transaction, under the lane's lock and epoch, writes everything
 * that PostgreSQL stores of it and the lane's new offset. So a range takes effect exactly once, however often the step
 * is tried. A range of only clicks and heartbeats takes one statement.
 */
export function createAdvanceStep(dependencies: AdvanceDependencies): AdvanceStep {
  const { pool, retry, metrics, log } = dependencies;

  async function attempt(
    lane: Lane,
    prepared: Prepared,
    refused: readonly Refused[],
    behind: readonly string[],
    counted: readonly CountedHour[],
    oneByOne: boolean,
  ): Promise<DeadLetter[]> {
    const { range } = prepared;
    return inTransaction(pool, async (transaction) => {
      const at = await lockLane(transaction, lane);
      // An earlier attempt committed, and its response was lost.
      if (at === range.to) return [];
      if (at !== range.from) throw new LaneMoved(lane, `is at ${at}, range from ${range.from}`);
      const letters = [...prepared.deadLetters, ...refusedLetters(prepared, refused)];
      const gone = new Set(refused.map(({ row }) => row));
      const identifies = prepared.identifies.filter((row) => !gone.has(row));
      const identities = identifies.flatMap(identityOf);
      const unstored = new Set<IdentifyRow>();
      const orders = prepared.orders.map(orderOf);
      if (oneByOne) {
        for (const { row, report } of identities) {
          const reason = await refusal(transaction, () => upsertIdentities(transaction, [report]));
          if (!reason) continue;
          letters.push(letterOf(prepared, row, reason));
          unstored.add(row);
        }
        for (const { row, report } of orders) {
          const reason = await refusal(transaction, () => recordSales(transaction, [report]));
          if (reason) letters.push(letterOf(prepared, row, reason));
        }
      } else {
        await upsertIdentities(
          transaction,
          identities.map(({ report }) => report),
        );
        await recordSales(
          transaction,
          orders.map(({ report }) => report),
        );
      }
      await joinVisitors(transaction, joinsOf(prepared));
      await noteLeads(transaction, identifies.filter((row) => !unstored.has(row)).flatMap(leadOf));
      await addWaitingReports(transaction, prepared.waiting);
      await insertCorrections(transaction, prepared.corrections);
      await addUsedPermits(transaction, prepared.leaseUses);
      await addDeadLetters(transaction, letters);
      await keepStreams(transaction, range.partition, behind, prepared.streamsBefore);
      await advanceStreams(transaction, prepared.streams);
      await storeCounts(transaction, counted);
      await advanceLane(transaction, lane, range.to);
      return letters;
    });
  }

  return async function advance(lane, prepared, refused, behind) {
    const counted = countedClicks(prepared, refused);
    const letters = await retry('advance', async () => {
      const isProgressOnly = refused.length + behind.length === 0 && hasOnlyProgress(prepared);
      const { range, streams } = prepared;
      if (isProgressOnly && (await advanceLaneAndStreams(pool, lane, range, streams, counted))) return [];
      try {
        return await attempt(lane, prepared, refused, behind, counted, false);
      } catch (error) {
        if (!refusesValues(error)) throw error;
        return attempt(lane, prepared, refused, behind, counted, true);
      }
    });
    for (const { reason, partition, logOffset } of letters) {
      metrics.deadLetters.inc({ reason: reasonCode(reason) });
      log.error({ partition, offset: String(logOffset), reason }, 'stored a dead letter');
    }
  };
}

const hasOnlyProgress = ({ identifies, orders, waiting, leaseUses, deadLetters, corrections }: Prepared) =>
  identifies.length +
    orders.length +
    waiting.length +
    leaseUses.length +
    deadLetters.length +
    corrections.length ===
  0;

/** Runs `work` in a savepoint. @returns why PostgreSQL refuses its values, or null */
async function refusal(transaction: PoolClient, work: () => Promise<void>): Promise<string | null> {
  await transaction.query('SAVEPOINT one');
  try {
    await work();
    await transaction.query('RELEASE SAVEPOINT one');
    return null;
  } catch (error) {
    if (!refusesValues(error)) throw error;
    await transaction.query('ROLLBACK TO SAVEPOINT one');
    return `refused_by_records: ${error.message}`;
  }
}

/** Returns whether PostgreSQL refuses the values themselves. */
export function refusesValues(error: unknown): error is Error & { code: string } {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    REFUSED_VALUE.test(error.code)
  );
}

/** Returns the dead letters of rows that ClickHouse refuses. */
export function refusedLetters(prepared: Prepared, refused: readonly Refused[]): DeadLetter[] {
  return refused.map(({ row, reason }) => letterOf(prepared, row, reason));
}

function letterOf(
  prepared: Prepared,
  row: { ordinal: number; sequence: bigint },
  reason: string,
): DeadLetter {
  const { range, streams } = prepared;
  const stream = streams.find((candidate) => candidate.ordinal === row.ordinal);
  const batch = range.batches.find(
    ({ streamId, firstSequence, count }) =>
      streamId === stream?.streamId &&
      row.sequence >= firstSequence &&
      row.sequence < firstSequence + BigInt(count),
  );
  if (!batch) throw new Error(`no batch of ${range.partition} holds ${row.ordinal}/${row.sequence}`);
  return deadEvent(range.partition, batch, row.sequence, reason);
}
