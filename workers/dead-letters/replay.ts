import { writeToEach } from '../../analytics/replicas/write-to-each.ts';
import { REPAIRED_TOKENS } from '../../clickhouse/copies/copy-missed.ts';
import { momentOf } from '../../clickhouse/copies/moments.ts';
import { RowsRefused } from '../../clickhouse/inserts/refusal.ts';
import type { Replica } from '../../clickhouse/replicas.ts';
import type { Enricher } from '../../core/enrich/enrich.ts';
import type { LogBatch } from '../../core/event-log/port.ts';
import { WORKSPACE_AT } from '../../core/events/click-reader.ts';
import { schemasOfReason } from '../../core/events/fingerprints.ts';
import { CLICK_FLAGS } from '../../core/events/types.ts';
import { bytesToUuid } from '../../core/ids.ts';
import type { Logger } from '../../core/tier/log.ts';
import { inTransaction, type Pool, type PoolClient } from '../../sql/database/pool.ts';
import { type CountedHour, storeCounts } from '../../sql/event-log/counted-clicks.ts';
import {
  lockLettersBetween,
  markReplayed,
  type StoredDeadLetter,
  unreplayedDeadLetters,
} from '../../sql/event-log/dead-letters.ts';
import { replicasBehind } from '../../sql/event-log/replica-lanes.ts';
import type { StoredWrite } from '../../sql/event-log/replica-repairs.ts';
import { readStreams, type StreamProgress } from '../../sql/event-log/streams.ts';
import { addUsedPermits, type PermitUse } from '../../sql/links/leases.ts';
import { addWaitingReports } from '../../sql/orders/waiting-reports.ts';
import { type Block, encodeBlock, toBlocks } from '../lane/blocks.ts';
import { countedClicks } from '../lane/counted-clicks.ts';
import { reasonCode } from '../lane/dead-letters.ts';
import { withoutErased } from '../lane/erased.ts';
import { createInsertStep } from '../lane/insert.ts';
import { countUse, createPrepareStep, type Decode, type Prepared } from '../lane/prepare.ts';
import { storeReports } from '../lane/store-reports.ts';
import type { WorkerMetrics } from '../metrics.ts';

export type ReplayDependencies = {
  pool: Pool;
  replicas: readonly Replica[];
  decode: Decode;
  enricher: Enricher;
  metrics: WorkerMetrics;
  log: Logger;
};

const PAGE = 100;
const LENGTH_BYTES = 4;

/** Reasons of letters whose clicks counted for their links when they became dead letters. */
const COUNTED_ALREADY = new Set(['enrich_failed', 'refused_by_store']);

/**
 * Replays every dead letter: after an upgrade that can read it, or once the missing stream or row exists. A letter that
 * is still malformed stays. A letter takes effect once, also when several replays run or are interrupted; its payload
 * is deleted then. Erased visitors and links do not return.
 *
 * @returns how many were replayed, and how many are left
 * @throws errors of the databases
 */
export async function replayDeadLetters(
  dependencies: ReplayDependencies,
): Promise<{ replayed: number; left: number }> {
  const { pool } = dependencies;
  const streams = new Map((await readStreams(pool)).map((stream) => [stream.streamId, stream]));
  let [replayed, left, after] = [0, 0, 0];
  for (;;) {
    const letters = await unreplayedDeadLetters(pool, PAGE, after);
    for (const letter of letters) {
      const outcome = await replay(dependencies, letter, streams);
      if (outcome === 'stored') replayed += 1;
      else if (outcome === 'left') left += 1;
      after = letter.id;
    }
    if (letters.length < PAGE) return { replayed, left };
  }
}

/** `known`: another replay has stored the letter meanwhile. */
type Outcome = 'stored' | 'known' | 'left';

async function replay(
  dependencies: ReplayDependencies,
  letter: StoredDeadLetter,
  streams: ReadonlyMap<string, StreamProgress>,
): Promise<Outcome> {
  const { pool, log } = dependencies;
  const batch = batchOf(letter);
  const stream = batch && streams.get(batch.streamId);
  if (!batch || !stream) return 'left';
  // Decodes as if the stream had delivered everything before the letter and nothing after it, so that no event is a
  // duplicate.
  const before = { ...stream, highWater: batch.firstSequence - 1n };
  const { offset: from, nextOffset: to } = batch;
  const range = { partition: letter.partition, from, to, batches: [batch], damage: [] };
  const found = createPrepareStep(dependencies)(range, new Map([[stream.streamId, before]]));
  if (found.deadLetters.length > 0) return 'left';
  const prepared = await withoutErased(pool, found);
  let write: StoredWrite;
  try {
    write = await insertRows(dependencies, letter, prepared);
  } catch (error) {
    if (error instanceof RowsRefused) return 'left';
    throw error;
  }
  try {
    return (await record(dependencies, letter, batch, prepared, write)) ? 'stored' : 'known';
  } catch (error) {
    log.error({ letter: letter.id, err: error }, 'failed to replay a dead letter; it stays');
    return 'left';
  }
}

/**
 * Inserts the rows of a letter. A replica that is behind may read its events from the log again, and look for none of
 * them: it gets the rows when it is past them.
 */
async function insertRows(
  { pool, replicas, metrics, log }: ReplayDependencies,
  { id, partition }: StoredDeadLetter,
  prepared: Prepared,
): Promise<StoredWrite> {
  const blocks = toBlocks(prepared).map((block) => ({ block, bytes: encodeBlock(block) }));
  if (blocks.length === 0) return { stored: [], of: [] };
  const behind = replicas.length > 1 ? await replicasBehind(pool, partition) : [];
  const stored = await writeToEach(
    pool,
    { replicas, log },
    {
      what: 'a replayed dead letter',
      except: behind.map(({ replica }) => replica),
      async write(clickhouse, signal) {
        const retry = <T>(_step: string, work: () => Promise<T>) => work();
        const insert = createInsertStep({ clickhouse, metrics, log, signal, retry });
        for (const encoded of blocks) {
          const { refused } = await insert(encoded, `${REPAIRED_TOKENS.deadLetter}${id}`, true);
          if (refused[0]) throw new RowsRefused(refused[0].reason);
        }
      },
    },
  );
  return { stored, of: blocks.flatMap(({ block }) => subjectsOf(block)) };
}

function subjectsOf(block: Block): StoredWrite['of'] {
  if (block.table === 'identifies')
    return block.rows.map(({ event: { workspaceId, ts }, ordinal }) => ({
      work: block.table,
      subject: momentOf(bytesToUuid(workspaceId), ts, ordinal),
    }));
  return block.rows.map(({ event: { ts, ids, idsAt }, ordinal }) => ({
    work: block.table,
    subject: momentOf(
      block.table === 'clicks'
        ? bytesToUuid(ids.subarray(idsAt + WORKSPACE_AT, idsAt + WORKSPACE_AT + 16))
        : '',
      ...([ts, ordinal] as const),
    ),
  }));
}

/** Stores the letter's events in PostgreSQL, and marks it replayed. @returns false when it was replayed already */
async function record(
  { pool, decode }: ReplayDependencies,
  letter: StoredDeadLetter,
  batch: LogBatch,
  prepared: Prepared,
  write: StoredWrite,
): Promise<boolean> {
  return inTransaction(pool, async (transaction) => {
    const isCounted = COUNTED_ALREADY.has(reasonCode(letter.reason)) || prepared.leaseUses.length === 0;
    // Runs before the mark, so that letters are locked in the order of their ids.
    const others = await lettersWith(transaction, letter, batch);
    const uses = isCounted ? [] : usesNotCounted(others, decode, batch);
    if (!(await markReplayed(transaction, letter.id, write))) return false;
    await storeReports(transaction, prepared);
    await addWaitingReports(transaction, prepared.waiting);
    await addUsedPermits(transaction, uses);
    await storeCounts(transaction, clicksNotCounted(others, prepared));
    return true;
  });
}

/** Another letter with events of the same batch: a batch may have been sent twice. `to` is exclusive. */
type Other = { from: bigint; to: bigint; isReplayed: boolean; hasCounted: boolean };

async function lettersWith(
  transaction: PoolClient,
  { id: own }: StoredDeadLetter,
  { streamId, firstSequence: first, count }: LogBatch,
): Promise<Other[]> {
  const last = first + BigInt(count) - 1n;
  const letters = await lockLettersBetween(transaction, { streamId, first, last });
  return letters.flatMap(({ id, sequence, payload, reason, replayedAt }) => {
    if (id === own || sequence === null) return [];
    const isReplayed = replayedAt !== null;
    const hasCounted = isReplayed || COUNTED_ALREADY.has(reasonCode(reason));
    return [{ from: sequence, to: sequence + BigInt(eventsIn(payload)), isReplayed, hasCounted }];
  });
}

/** Returns the letter's uses of `max_clicks` that no other letter has counted. */
function usesNotCounted(others: readonly Other[], decode: Decode, batch: LogBatch): PermitUse[] {
  const counted = others.filter(({ hasCounted }) => hasCounted);
  const uses = new Map<string, PermitUse>();
  for (const { event, sequence } of decode(batch).events) {
    if (event.kind !== 'click' || !(event.flags & CLICK_FLAGS.counted)) continue;
    if (counted.some(({ from, to }) => sequence >= from && sequence < to)) continue;
    countUse(uses, event.linkId, batch.streamId);
  }
  return [...uses.values()];
}

/** Returns the counts of the letter's clicks that no other letter has stored. */
function clicksNotCounted(others: readonly Other[], prepared: Prepared): CountedHour[] {
  const stored = others.filter(({ isReplayed }) => isReplayed);
  const known = [...prepared.clicks, ...prepared.erased].filter(({ sequence }) =>
    stored.some(({ from, to }) => sequence >= from && sequence < to),
  );
  return countedClicks(
    prepared,
    known.map((row) => ({ row })),
  );
}

/** Returns the letter as a batch of the log, or null when it is log damage, which has no events. */
function batchOf(letter: StoredDeadLetter): LogBatch | null {
  const { streamId, sequence, logOffset, payload, reason } = letter;
  if (streamId === null || sequence === null) return null;
  const schemas = schemasOfReason(reason);
  return {
    offset: logOffset,
    nextOffset: logOffset + 1n,
    streamId,
    firstSequence: sequence,
    count: eventsIn(payload),
    minTs: 0,
    maxTs: 0,
    payload,
    ...(schemas && { schemas }),
  };
}

/** Counts the events of a payload by their length prefixes; at least one, so that a truncated one is decoded. */
function eventsIn(payload: Uint8Array): number {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  let events = 0;
  for (let at = 0; at + LENGTH_BYTES <= payload.length; at += LENGTH_BYTES + view.getUint32(at, true)) {
    events += 1;
  }
  return Math.max(events, 1);
}
