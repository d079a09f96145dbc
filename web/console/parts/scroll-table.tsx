import { Table, type TableProps, type TableTdProps } from '@mantine/core';
import type { ReactNode } from 'react';

/** A column's heading, right-aligned for numbers; `false`: no such column. */
export type Column = string | { figure: string } | false;

/** A table that scrolls sideways, by keyboard too. */
export function ScrollTable({
  label,
  minWidth = 600,
  columns,
  children,
  ...table
}: TableProps & { label: string; minWidth?: number; columns?: readonly Column[]; children: ReactNode }) {
  return (
    // `relative`: an absolutely positioned hidden heading would widen the page.
    <Table.ScrollContainer
      minWidth={minWidth}
      type="native"
      tabIndex={0}
      role="region"
      aria-label={label}
      pos="relative"
    >
      {/* The library's own ground of a row under the pointer is too bright in the dark for links on it. */}
      <Table verticalSpacing="xs" highlightOnHover highlightOnHoverColor="var(--row-hover)" {...table}>
        {columns && (
          <Table.Thead>
            <Table.Tr>
              {columns.map((column) => column && <Heading key={headingOf(column)} of={column} />)}
            </Table.Tr>
          </Table.Thead>
        )}
        {children}
      </Table>
    </Table.ScrollContainer>
  );
}

/**
 * A cell for texts of any length, such as a slug or a user ID: it breaks anywhere and leaves room for other columns.
 */
export const LongTextCell = (cell: TableTdProps) => (
  <Table.Td miw={120} maw={220} style={{ overflowWrap: 'anywhere' }} {...cell} />
);

const headingOf = (column: Exclude<Column, false>) => (typeof column === 'string' ? column : column.figure);

const Heading = ({ of }: { of: Exclude<Column, false> }) => (
  <Table.Th ta={typeof of === 'string' ? undefined : 'right'}>{headingOf(of)}</Table.Th>
);
