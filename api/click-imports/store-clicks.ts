import { createHash } from 'node:crypto';
import { type ReplicasToWrite, writeToEach } from '../../analytics/replicas/write-to-each.ts';
import { REPAIRED_TOKENS } from '../../clickhouse/copies/copy-missed.ts';
import { type ImportedClickRow, importedClickBlock } from '../../clickhouse/inserts/clicks.ts';
import { insertBlock } from '../../clickhouse/inserts/insert-block.ts';
import type { ClickRow } from '../../core/click-imports/click-row.ts';
import { createRowEnricher, type ImportedLink } from '../../core/click-imports/enrich-row.ts';
import type { RowKey } from '../../core/click-imports/row-key.ts';
import { LINK_AT, VISITOR_AT, WORKSPACE_AT } from '../../core/events/click-reader.ts';
import { isUuid, uuidToBytes } from '../../core/ids.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { addToClickImport, beginClickImport } from '../../sql/event-log/click-imports.ts';
import { IMPORTED_ORDINAL } from '../../sql/event-log/streams.ts';
import { monthStart } from './stored-times.ts';

/** A click that is not stored yet. */
export type NewClick = {
  row: ClickRow;
  link: ImportedLink;
  key: RowKey;
  /** Microseconds, unique in the workspace. */
  ts: number;
};

const IDS_BYTES = 48;

/** Stores clicks of an import. */
export type ClickStore = (clicks: readonly NewClick[]) => Promise<void>;

/**
 * Creates a store of clicks. One insert is one block of one month: it is stored in full or not at all. Its token
 * derives from its clicks and from the number of undone imports. So the insert of a killed process and its repetition
 * are stored once, and removed clicks can be imported again.
 */
export function createClickStore(given: {
  pool: Pool;
  clickhouses: ReplicasToWrite;
  workspaceId: string;
  importId: string;
  source: string;
  undone: number;
  /** Returns the id of a visitor by its name in the source, 16 bytes. */
  visitorOf(name: string): Buffer;
}): ClickStore {
  const { pool, clickhouses, workspaceId, importId, source, undone } = given;
  const enrich = createRowEnricher();
  const [workspaceBytes, importBytes] = [uuidToBytes(workspaceId), uuidToBytes(importId)];
  let hasBegun = false;

  function visitorOf({ row, key }: NewClick): Uint8Array {
    if (row.visitor === '') return key.visitor;
    return isUuid(row.visitor) ? uuidToBytes(row.visitor) : given.visitorOf(row.visitor);
  }

  function rowsOf(clicks: readonly NewClick[]): ImportedClickRow[] {
    const ids = Buffer.allocUnsafe(clicks.length * IDS_BYTES);
    return clicks.map((click, n) => {
      const { row, link, key, ts } = click;
      const idsAt = n * IDS_BYTES;
      ids.set(visitorOf(click), idsAt + VISITOR_AT);
      ids.set(workspaceBytes, idsAt + WORKSPACE_AT);
      ids.set(uuidToBytes(link.id), idsAt + LINK_AT);
      return {
        event: { ts, ids, idsAt },
        enriched: enrich(row, link),
        ordinal: IMPORTED_ORDINAL,
        sequence: (BigInt(key.high) << 32n) | BigInt(key.low),
        count: row.count,
      };
    });
  }

  function tokenOf(clicks: readonly NewClick[]): string {
    const hash = createHash('sha256').update(`click import\0${workspaceId}\0${undone}`);
    const numbers = new Float64Array(clicks.length * 3);
    clicks.forEach(({ key, ts }, n) => {
      numbers.set([key.high, key.low, ts], n * 3);
    });
    return `${REPAIRED_TOKENS.import}${hash.update(numbers).digest('hex')}`;
  }

  return async (clicks) => {
    const byMonth = Map.groupBy(clicks, ({ ts }) => monthStart(ts));
    for (const month of byMonth.values()) {
      if (!hasBegun) await beginClickImport(pool, { id: importId, workspaceId, source, isStoring: true });
      hasBegun = true;
      month.sort((a, b) => a.ts - b.ts);
      const block = importedClickBlock(rowsOf(month), importBytes);
      const token = tokenOf(month);
      const stored = await writeToEach(pool, clickhouses, {
        what: 'imported clicks',
        write: (clickhouse, signal) => insertBlock(clickhouse, { table: 'clicks', block, token, signal }),
      });
      await addToClickImport(
        pool,
        { id: importId, workspaceId },
        {
          rows: month.length,
          clicks: month.reduce((sum, { row }) => sum + row.count, 0),
          firstTs: month[0]?.ts ?? 0,
          lastTs: month.at(-1)?.ts ?? 0,
        },
        stored,
      );
    }
  };
}
