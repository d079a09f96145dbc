import type { PublishableKeyRow } from '../../sql/links/link-table.ts';
import { LARGEST_RECORD } from './arena.ts';
import { keyOf } from './known-key.ts';
import { kindOf } from './records.ts';
import type { LinkTable } from './table.ts';
import type { TableWriter } from './table-writer.ts';

/** Caches records and keys that lookups returned. */
export type LinkCache = Pick<TableWriter, 'put' | 'putKey'>;

/** Returns a cache that keeps at most `most` links in the table and evicts the others. */
export function createLinkCache(table: LinkTable, most: number): LinkCache {
  return {
    put(record: Buffer) {
      if (record.length > LARGEST_RECORD) return;
      // Evict first: listeners must learn of an eviction, so the new record must not be evicted at once.
      if (kindOf(record) === 'link') while (table.links() >= most) table.evict();
      table.put(record);
    },
    putKey(row: PublishableKeyRow) {
      table.putKey(keyOf(row));
    },
  };
}
