import type { ClickHouseClient } from '../../clickhouse/client.ts';
import { insertBlock } from '../../clickhouse/inserts/insert-block.ts';
import { presentSequences } from '../../clickhouse/inserts/present-sequences.ts';
import { isRefusal } from '../../clickhouse/inserts/refusal.ts';
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
  /** Called before each attempt; left out: no other process inserts the same. @throws {LaneLost} when another may */
  assertHeld?: () => Promise<void>;
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

/**
 * Creates the step that inserts one block. An attempt with an unknown outcome is repeated with the same token. A replay first
 * leaves out the rows that the table has. Refused rows are found by halving the block, sent once more, and returned; the
 * others are stored.
 */
export function createInsertStep(dependencies: InsertDependencies): InsertStep {
  const { clickhouse, retry, metrics, log, signal, assertHeld } = dependencies;

  async function send(block: Block, bytes: Uint8Array[], token: string): Promise<void> {
    await retry(`insert_${block.table}`, async () => {
      await assertHeld?.();
      const done = metrics.insertSeconds.startTimer();
      await insertBlock(clickhouse, {
        table: block.table,
        block: bytes,
        token: `${token}/${block.name}`,
        signal,
      });
      done();
    });
    metrics.insertedRows.inc({ table: block.table }, block.rows.length);
  }

  /** Inserts the block in halves and adds rows that are refused to `refused`. */
  async function halve(block: Block, token: string, refused: Refused[]): Promise<void> {
    try {
      await send(block, encodeBlock(block), token);
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
    const present = await retry(`look_up_${block.table}`, () =>
      presentSequences(clickhouse, { table: block.table, ...extentOf(block) }),
    );
    const missing = partOf(block, (row) => !present.has(nameOf(row)));
    const found = block.rows.length - missing.rows.length;
    if (found > 0) metrics.duplicates.inc({ found: 'store' }, found);
    return missing;
  }

  async function findRefused(block: Block, token: string): Promise<Refused[]> {
    const first: Refused[] = [];
    await halve(block, token, first);
    // Again, as the schema may have been fixed meanwhile: then the others were stored, and these would be set aside.
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
    const missing = mayBeStored ? await withoutPresent(block) : block;
    const found = block.rows.length - missing.rows.length;
    if (missing.rows.length === 0) return { refused: [], found };
    try {
      await send(missing, missing === block ? bytes : encodeBlock(missing), token);
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
