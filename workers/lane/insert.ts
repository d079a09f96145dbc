import type { ClickHouseClient } from '../../clickhouse/client.ts';
import { insertBlock } from '../../clickhouse/inserts/insert-block.ts';
import { presentSequences } from '../../clickhouse/inserts/present-sequences.ts';
import { isRefusal } from '../../clickhouse/inserts/refusal.ts';
import { syncReplica } from '../../clickhouse/sync-replica.ts';
import type { Logger } from '../../core/tier/log.ts';
import type { WorkerMetrics } from '../metrics.ts';
import type { Retry } from '../retry.ts';
import { type Block, type BlockRow, encodeBlock, nameOf, partOf } from './blocks.ts';

/** A row that ClickHouse refuses. */
export type Refused = { row: BlockRow; reason: string };

/** A block and its bytes. */
export type EncodedBlock = { block: Block; bytes: Uint8Array[] };

export type InsertDependencies = {
  clickhouse: ClickHouseClient;
  retry: Retry;
  metrics: WorkerMetrics;
  log: Logger;
  signal: AbortSignal;
  /**
   * Called before each insert. Returns whether no other process can have stored the rows since the last call. Left out:
   * no other process inserts them.
   *
   * @throws {LaneLost} when another may insert them
   */
  assertHeld?: () => Promise<boolean>;
};

export type Stored = {
  refused: Refused[];
  /** Rows that the table had before. */
  found: number;
};

/** @param mayBeStored whether the table may have rows of the block, which are then left out */
export type InsertStep = (encoded: EncodedBlock, token: string, mayBeStored: boolean) => Promise<Stored>;

/** More refused rows in one block mean a wrong schema: the lane waits and logs it. */
const MAX_REFUSED = 100;

class TooManyRefused extends Error {
  constructor(table: string, cause: unknown) {
    super(
      `ClickHouse refused more than ${MAX_REFUSED} rows of one block of ${table}; its schema may be wrong`,
      { cause },
    );
    this.name = 'TooManyRefused';
  }
}

/** Tokens that one attempt spends at most on rows that ClickHouse drops. */
const MOST_DROPPED = 20;

/** Thrown when ClickHouse confirmed a repeated insert, but the table lacks some of its rows. */
class RepeatDropped extends Error {
  constructor({ table, rows }: Block) {
    super(
      `ClickHouse dropped ${rows.length} rows of ${table} as duplicates of an insert that it did not store`,
    );
    this.name = 'RepeatDropped';
  }
}

/**
 * Creates the step that inserts one block. Refused rows are found by halving the block, sent once more, and returned;
 * the others are stored.
 *
 * An attempt with an unknown outcome, and a replay, may have stored the rows, some of them, or none. The token alone
 * does not decide: ClickHouse forgets it after some thousand inserts, keeps it where an insert failed, and compares it
 * part by part. So before a repeat the rows that the table has are left out, and afterwards those that it does not have
 * are sent under another token.
 */
export function createInsertStep(dependencies: InsertDependencies): InsertStep {
  const { clickhouse, retry, metrics, log, signal, assertHeld } = dependencies;

  /**
   * Stores the rows of a block, unless ClickHouse refuses them.
   *
   * @param isRepeat whether an earlier insert of the same rows may have failed to store them
   */
  async function store({ block, bytes }: EncodedBlock, token: string, isRepeat: boolean): Promise<void> {
    let isFirst = true;
    let dropped = 0;
    await retry(`insert_${block.table}`, async () => {
      let rest = isFirst ? block : await withoutPresent(block);
      for (let again = 0; rest.rows.length > 0; again++) {
        if (again === MOST_DROPPED) throw new RepeatDropped(rest);
        if (assertHeld && !(await assertHeld())) {
          isFirst = false;
          rest = await withoutPresent(rest);
          continue;
        }
        const encoded = rest === block ? bytes : encodeBlock(rest);
        const isKnownNew = isFirst && !isRepeat;
        isFirst = false;
        const done = metrics.insertSeconds.startTimer();
        const name = dropped === 0 ? rest.name : `${rest.name}/${dropped}`;
        await insertBlock(clickhouse, {
          table: block.table,
          block: encoded,
          token: `${token}/${name}`,
          signal,
        });
        done();
        if (isKnownNew) break;
        rest = await notStored(rest);
        if (rest.rows.length > 0) {
          dropped += 1;
          log.warn(
            { table: block.table, rows: rest.rows.length },
            'ClickHouse dropped a repeated insert; sending it again',
          );
        }
      }
    });
    metrics.insertedRows.inc({ table: block.table }, block.rows.length);
  }

  /** Returns the rows that the table does not have, on any of its replicas. */
  async function notStored(block: Block): Promise<Block> {
    const lost = await withoutPresent(block);
    if (lost.rows.length === 0) return lost;
    await syncReplica(clickhouse, block.table);
    return withoutPresent(lost);
  }

  /** Inserts the block in halves and adds rows that are refused to `refused`. */
  async function halve(block: Block, token: string, refused: Refused[]): Promise<void> {
    try {
      // What an earlier pass stored is left out.
      const missing = await retry(`look_up_${block.table}`, () => withoutPresent(block));
      if (missing.rows.length > 0) await store({ block: missing, bytes: encodeBlock(missing) }, token, true);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const [row] = block.rows;
      if (block.rows.length === 1 && row) {
        refused.push({ row, reason: `refused_by_store: ${error.type ?? error.code}` });
        if (refused.length > MAX_REFUSED) throw new TooManyRefused(block.table, error);
        return;
      }
      const middle = block.rows.length >> 1;
      await halve(
        partOf(block, (_row, index) => index < middle),
        token,
        refused,
      );
      await halve(
        partOf(block, (_row, index) => index >= middle),
        token,
        refused,
      );
    }
  }

  async function withoutPresent(block: Block): Promise<Block> {
    const present = await presentSequences(clickhouse, { table: block.table, ...extentOf(block) });
    return partOf(block, (row) => !present.has(nameOf(row)));
  }

  async function findRefused(block: Block, token: string): Promise<Refused[]> {
    const first: Refused[] = [];
    await halve(block, token, first);
    // Each row is sent once more. If the schema was fixed during the search, the other rows were stored, and these must
    // not be set aside.
    const refused: Refused[] = [];
    for (const { row } of first) {
      await halve(
        partOf(block, (one) => one === row),
        token,
        refused,
      );
    }
    return refused;
  }

  return async function insert({ block, bytes }, token, mayBeStored) {
    const missing = mayBeStored ? await retry(`look_up_${block.table}`, () => withoutPresent(block)) : block;
    const found = block.rows.length - missing.rows.length;
    if (found > 0) metrics.duplicates.inc({ found: 'store' }, found);
    if (missing.rows.length === 0) return { refused: [], found };
    try {
      await store(
        { block: missing, bytes: missing === block ? bytes : encodeBlock(missing) },
        token,
        mayBeStored,
      );
      return { refused: [], found };
    } catch (error) {
      if (!isRefusal(error)) throw error;
      log.error({ table: block.table, err: error }, 'ClickHouse refused rows; searching for them');
    }
    return { refused: await retry('find_refused', () => findRefused(missing, token)), found };
  };
}

function extentOf(block: Block) {
  let [minTs, maxTs] = [Number.POSITIVE_INFINITY, 0];
  let [minSequence, maxSequence] = [2n ** 64n - 1n, 0n];
  for (const { event, sequence } of block.rows) {
    if (event.ts < minTs) minTs = event.ts;
    if (event.ts > maxTs) maxTs = event.ts;
    if (sequence < minSequence) minSequence = sequence;
    if (sequence > maxSequence) maxSequence = sequence;
  }
  return { minTs, maxTs, minSequence, maxSequence };
}
