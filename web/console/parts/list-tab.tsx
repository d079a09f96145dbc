import { Table } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { OlderRows, useCursor } from './older-rows.tsx';
import { QueryView } from './query-view.tsx';
import { ScrollTable, type TableFrame, TableSkeleton } from './scroll-table.tsx';

type Props<Page, Item> = {
  query: UseQueryResult<Page>;
  items: (page: Page) => readonly Item[];
  /** The table row of an item, with its `key`. */
  row: (item: Item) => ReactNode;
  /** The head of the table; `isDouble`: whether the first cell has a second, smaller line. */
  table: TableFrame & { isDouble?: boolean };
  /** Shown in place of a table without rows. */
  empty: ReactNode;
  /** The rows in a word, such as `webhooks`, of a list with a cursor. */
  paged?: string;
  /** Whether the list is in another order than the newest first. */
  isSorted?: boolean;
  /** Below the table. */
  children?: ReactNode;
};

/** A list of the API as a table: while it loads, when it fails, when it is empty, and its pages. */
export function ListTab<Page extends object, Item>({
  query,
  items,
  row,
  table: { isDouble = false, ...frame },
  empty,
  paged,
  isSorted = false,
  children,
}: Props<Page, Item>) {
  const cursor = useCursor();
  const isFirst = paged === undefined || !cursor;
  return (
    <QueryView
      query={query}
      skeleton={<TableSkeleton {...frame} isDouble={isDouble} />}
      empty={{
        when: (page) => isFirst && items(page).length === 0 && nextOf(page) === null,
        show: empty,
      }}
    >
      {(page) => (
        <>
          <ScrollTable {...frame}>
            <Table.Tbody>{items(page).map(row)}</Table.Tbody>
          </ScrollTable>
          {paged !== undefined && <OlderRows next={nextOf(page)} what={paged} isSorted={isSorted} />}
          {children}
        </>
      )}
    </QueryView>
  );
}

type Next = string | number | null;

/** Where the next page begins: a cursor, or the offset of a sorted list. */
const nextOf = (page: { next_cursor?: Next; next_offset?: Next } | object): Next =>
  ('next_offset' in page ? page.next_offset : null) ??
  ('next_cursor' in page ? page.next_cursor : null) ??
  null;
