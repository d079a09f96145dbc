import { Table, type TableProps, type TableTdProps } from '@mantine/core';
import type { ReactNode } from 'react';

/** A column's heading, right-aligned for numbers; `false`: no such column. */
export type Column = string | { figure: string } | false;

/** A table that scrolls sideways, by keyboard too. On a phone, where it has `columns`, each row is a card. */
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
      {...(columns && { className: 'card-rows', style: labelsOf(columns) })}
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

/** The headings as custom properties, which console.css shows beside the cells of a card. */
function labelsOf(columns: readonly Column[]): Record<string, string> {
  const shown = columns.filter((column) => column !== false);
  return Object.fromEntries(
    shown.map((column, index) => [`--column-${index + 1}`, JSON.stringify(headingOf(column))]),
  );
}

/**
 * A cell for texts of any length, such as a slug or a user ID: it breaks anywhere and leaves room for other columns.
 */
export const LongTextCell = (cell: TableTdProps) => <Table.Td className="long-text" {...cell} />;

const headingOf = (column: Exclude<Column, false>) => (typeof column === 'string' ? column : column.figure);

const Heading = ({ of }: { of: Exclude<Column, false> }) => (
  <Table.Th ta={typeof of === 'string' ? undefined : 'right'}>{headingOf(of)}</Table.Th>
);
