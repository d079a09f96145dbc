import type { PublishableKeyRow } from '../../sql/links/link-table.ts';
import { LARGEST_RECORD } from './arena.ts';
import { keyOf } from './known-key.ts';
import { kindOf } from './records.ts';
import type { LinkTable } from './table.ts';
import type { TableWriter } from './table-writer.ts';

/** Where answers are kept that visitors have waited for. */
export type LinkCache = Pick<TableWriter, 'put' | 'putKey'>;

/**
 * A table that holds the links that visitors want, of many more.
 *
 * @param most links that it holds
 */
export function createLinkCache(table: LinkTable, most: number): LinkCache {
  return {
    put(record: Buffer) {
      if (record.length > LARGEST_RECORD) return;
      // Room first: whoever keeps something made of this record must hear when it goes, so it may not go at once.
      if (kindOf(record) === 'link') while (table.links() >= most) table.evict();
      table.put(record);
    },
    putKey(row: PublishableKeyRow) {
      table.putKey(keyOf(row));
    },
  };
}
