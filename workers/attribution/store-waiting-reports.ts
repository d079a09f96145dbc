import { createHash } from 'node:crypto';
import { writeToEach } from '../../analytics/replicas/write-to-each.ts';
import type { ClickHouseClient } from '../../clickhouse/client.ts';
import { momentOf } from '../../clickhouse/copies/moments.ts';
import { RowsRefused } from '../../clickhouse/inserts/refusal.ts';
import { copiedLandings } from '../../clickhouse/queries/copied-landings.ts';
import type { JobReaders } from '../../clickhouse/readers/readers.ts';
import type { Replica } from '../../clickhouse/replicas.ts';
import type { IdentifyEvent, OrderEvent } from '../../core/events/types.ts';
import { bytesToUuid } from '../../core/ids.ts';
import type { Logger } from '../../core/tier/log.ts';
import { normalizeEmail } from '../../core/tracking/emails.ts';
import { inTransaction, type Pool, type Queryable } from '../../sql/database/pool.ts';
import { addDeadLetters } from '../../sql/event-log/dead-letters.ts';
import { marksOfReplicas } from '../../sql/event-log/replica-marks.ts';
import type { StoredWrite } from '../../sql/event-log/replica-repairs.ts';
import { watermark } from '../../sql/event-log/streams.ts';
import {
  type ClaimedReport,
  claimWaitingReports,
  removeWaitingReports,
} from '../../sql/orders/waiting-reports.ts';
import { refusesValues } from '../lane/advance.ts';
import { encodeBlock, toBlocks } from '../lane/blocks.ts';
import { reasonCode } from '../lane/dead-letters.ts';
import { withoutErased } from '../lane/erased.ts';
import { createInsertStep } from '../lane/insert.ts';
import type { Decode, Prepared } from '../lane/prepare.ts';
import { storeReports } from '../lane/store-reports.ts';
import type { WorkerMetrics } from '../metrics.ts';

export type WaitingReportDependencies = {
  pool: Pool;
  readers: JobReaders;
  /** They get the identifies. */
  replicas: readonly Replica[];
  decode: Decode;
  metrics: WorkerMetrics;
  log: Logger;
  /** Called when orders were stored. */
  onOrdersStored: () => void;
};

const BATCH = 200;

type Report = IdentifyEvent | OrderEvent;
type Reports = Pick<Prepared, 'identifies' | 'orders'>;

/**
 * Stores a batch of the waiting reports that the watermark has passed, as a lane stores reports, without the visitors
 * whose ids came in a copied address: these are other people. A report that has waited too long keeps its visitors.
 * After a crash the next run finds the rows in ClickHouse and leaves them out.
 *
 * @returns whether more may be waiting
 */
export async function storeWaitingReports(dependencies: WaitingReportDependencies): Promise<boolean> {
  const before = await watermark(dependencies.pool);
  if (before === null) return false;
  try {
    return (await storeBatch(dependencies, before, BATCH)) === BATCH;
  } catch (error) {
    if (!(error instanceof ValuesRefused)) throw error;
  }
  // A database refused one of them: store each alone, and make that one a dead letter.
  for (let stored = 0; stored < BATCH; stored++) {
    try {
      if ((await storeBatch(dependencies, before, 1)) === 0) return false;
    } catch (error) {
      if (!(error instanceof ValuesRefused)) throw error;
      await bury(dependencies, error);
    }
  }
  return true;
}

/** Thrown when a database refuses the values of a report. */
class ValuesRefused extends Error {
  readonly reports: readonly ClaimedReport[];
  constructor(reports: readonly ClaimedReport[], reason: string) {
    super(reason);
    this.reports = reports;
  }
}

/** @returns how many reports were stored */
async function storeBatch(
  dependencies: WaitingReportDependencies,
  before: number,
  limit: number,
): Promise<number> {
  const { pool, readers, onOrdersStored } = dependencies;
  const stored = await inTransaction(pool, async (transaction) => {
    const claimed = await claimWaitingReports(transaction, before, limit);
    if (claimed.length === 0) return { reports: 0, orders: 0 };
    const rowsOf = (reports: readonly ClaimedReport[]) =>
      reports.map((report) => rowOf(dependencies, report));
    const passed = rowsOf(claimed.filter(({ isPassed }) => isPassed));
    const found = [
      ...(await readers.readUpTo(
        before,
        (clickhouse) => withoutCopies(clickhouse, passed),
        () => marksOfReplicas(transaction),
      )),
      ...rowsOf(claimed.filter(({ isPassed }) => !isPassed)),
    ];
    const isOrder = (row: Row): row is Row<OrderEvent> => row.event.kind === 'order';
    const isIdentify = (row: Row): row is Row<IdentifyEvent> => row.event.kind === 'identify';
    const prepared = await withoutErased(transaction, {
      clicks: [],
      identifies: found.filter(isIdentify),
      orders: found.filter(isOrder),
    });
    const write = await insertIdentifies(dependencies, transaction, claimed, prepared);
    try {
      await storeReports(transaction, prepared);
    } catch (error) {
      if (refusesValues(error)) throw new ValuesRefused(claimed, `refused_by_records: ${error.message}`);
      throw error;
    }
    await removeWaitingReports(transaction, claimed, write);
    return { reports: claimed.length, orders: prepared.orders.length };
  });
  if (stored.orders > 0) onOrdersStored();
  return stored.reports;
}

/** A report as a lane prepares it. */
type Row<E extends Report = Report> = { event: E; ordinal: number; sequence: bigint };

/** @throws {ValuesRefused} when it can't be decoded */
function rowOf({ decode }: WaitingReportDependencies, report: ClaimedReport): Row {
  const { streamId, sequence, logOffset: offset, payload, ordinal, ts } = report;
  const batch = { offset, nextOffset: offset + 1n, streamId, firstSequence: sequence, count: 1 };
  const { events, undecodable } = decode({ ...batch, minTs: ts, maxTs: ts, payload });
  const event = events[0]?.event;
  if (event?.kind !== 'identify' && event?.kind !== 'order')
    throw new ValuesRefused([report], `undecodable: ${undecodable[0]?.reason ?? 'not a report'}`);
  // The clock of its stream may have been corrected since the report.
  const ahead = event.ts - ts;
  const landedAt = (event.landedAt ?? []).map((at) => (at > 0 ? at - ahead : 0));
  const email = event.email && normalizeEmail(event.email);
  return { event: { ...event, ts, landedAt, email }, ordinal, sequence };
}

/** Removes the visitors whose ids came in a copied address. An identify that then names no person is left out. */
async function withoutCopies(clickhouse: ClickHouseClient, rows: readonly Row[]): Promise<Row[]> {
  const visitorsOf = rows.map(({ event: { visitorId, otherVisitorIds = [], landedAt = [] } }) =>
    [...(visitorId ? [visitorId] : []), ...otherVisitorIds].map((id, n) => ({
      id,
      landedAt: landedAt[n] ?? 0,
    })),
  );
  const known = rows.flatMap((row, n) =>
    (visitorsOf[n] ?? []).filter(({ landedAt }) => landedAt > 0).map((visitor) => ({ row, visitor })),
  );
  const copied = await copiedLandings(
    clickhouse,
    known.map(({ row, visitor: { id, landedAt } }) => ({
      workspaceId: bytesToUuid(row.event.workspaceId),
      visitorId: bytesToUuid(id),
      landedAt,
    })),
  );
  const copies = new Set(known.flatMap(({ visitor }, n) => (copied.has(n) ? [visitor] : [])));
  return rows.flatMap((row, n) => {
    const [first, ...others] = (visitorsOf[n] ?? []).filter((visitor) => !copies.has(visitor));
    const event = { ...row.event, visitorId: first?.id ?? null, otherVisitorIds: others.map(({ id }) => id) };
    const namesNoOne = !first && !event.email && !event.externalUserId;
    return event.kind === 'identify' && namesNoOne ? [] : [{ ...row, event }];
  });
}

async function insertIdentifies(
  { replicas, metrics, log }: WaitingReportDependencies,
  transaction: Queryable,
  claimed: readonly ClaimedReport[],
  { identifies }: Reports,
): Promise<StoredWrite> {
  const [block] = toBlocks({ clicks: [], erased: [], identifies });
  if (!block) return { stored: [], of: [] };
  const hash = createHash('sha256').update(claimed.map(({ internalId }) => internalId).join());
  const token = `waiting/${hash.digest('hex')}`;
  const bytes = encodeBlock(block);
  try {
    const stored = await writeToEach(
      transaction,
      { replicas, log },
      {
        what: 'identifies',
        async write(clickhouse, signal) {
          const retry = <T>(_step: string, work: () => Promise<T>) => work();
          const insert = createInsertStep({ clickhouse, metrics, log, signal, retry });
          const { refused } = await insert({ block, bytes }, token, true);
          if (refused[0]) throw new RowsRefused(refused[0].reason);
        },
      },
    );
    const of = identifies.map(({ event, ordinal }) => ({
      work: 'identifies' as const,
      subject: momentOf(bytesToUuid(event.workspaceId), event.ts, ordinal),
    }));
    return { stored, of };
  } catch (error) {
    if (error instanceof RowsRefused) throw new ValuesRefused(claimed, error.message);
    throw error;
  }
}

/** Makes the one report that is refused a dead letter. */
async function bury(
  { pool, metrics, log }: WaitingReportDependencies,
  { reports, message: reason }: ValuesRefused,
): Promise<void> {
  await inTransaction(pool, async (transaction) => {
    await addDeadLetters(
      transaction,
      reports.map((report) => ({ ...report, reason })),
    );
    await removeWaitingReports(transaction, reports, { stored: [], of: [] });
  });
  metrics.deadLetters.inc({ reason: reasonCode(reason) });
  log.error({ reason }, 'stored a dead letter');
}
