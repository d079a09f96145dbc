import { Skeleton, Table, type TableProps, type TableTdProps, Text } from '@mantine/core';
import { type ReactNode, type RefObject, useLayoutEffect, useRef } from 'react';
import { Loading } from './skeletons.tsx';
import { type SortColumn, SortHeading } from './sort-heading.tsx';

/** A column's heading, right-aligned for numbers; with `press` it sorts; `false`: no such column. */
export type Column = string | { figure: string } | SortColumn | false;

/** The frame of a table. */
export type TableFrame = { label: string; minWidth?: number; columns: readonly Column[] };

type ScrollTableProps = TableProps &
  Omit<TableFrame, 'columns'> & {
    columns?: TableFrame['columns'];
    children: ReactNode;
  };

/** A table that scrolls sideways, by keyboard too. In a narrow place, where it has `columns`, each row is a card. */
export const ScrollTable = ({ label, ...table }: ScrollTableProps) => (
  <FramedTable {...table} region={{ tabIndex: 0, role: 'region', 'aria-label': label }} />
);

type SkeletonProps = TableFrame & {
  /** Whether the first cell has a second, smaller line. */
  isDouble?: boolean;
};

/** The rows of a {@link ScrollTable} while they load. */
export const TableSkeleton = ({ label: _, isDouble = false, ...frame }: SkeletonProps) => (
  <Loading>
    <FramedTable {...frame} region={{}}>
      <Table.Tbody>
        {[...Array(SKELETON_ROWS).keys()].map((row) => (
          <Table.Tr key={row}>
            {frame.columns.map(
              (column, index) =>
                column !== false && (
                  <Table.Td key={headingOf(column)}>
                    <Skeleton
                      height="1lh"
                      width={isFigure(column) ? 48 : '70%'}
                      ml={isFigure(column) ? 'auto' : undefined}
                    />
                    {isDouble && index === 0 && (
                      <Text size="xs" component="div" w="100%">
                        <Skeleton height="1lh" width="45%" />
                      </Text>
                    )}
                  </Table.Td>
                ),
            )}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </FramedTable>
  </Loading>
);

const SKELETON_ROWS = 8;

type FramedProps = Omit<ScrollTableProps, 'label'> & {
  region: { tabIndex?: number; role?: string; 'aria-label'?: string };
};

function FramedTable({ region, minWidth = 600, columns, children, ...table }: FramedProps) {
  const frame = useRef<HTMLDivElement>(null);
  useCards(frame, columns !== undefined, minWidth);
  return (
    // `relative`: an absolutely positioned hidden heading would widen the page.
    <Table.ScrollContainer
      minWidth={minWidth}
      ref={frame}
      type="native"
      pos="relative"
      {...region}
      {...(columns && { style: labelsOf(columns) })}
    >
      {/* In dark mode, the library's hover color of a row is too bright for links on it. */}
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

/** Width below which every row with more columns is a card. Pixels. */
const CARDS_BELOW = 600;
/** Width from which a card has two columns. Pixels. */
const DOUBLE_FROM = 480;

/** Makes cards of the rows while the frame is narrower than the table, and narrow. */
function useCards(frame: RefObject<HTMLDivElement | null>, hasColumns: boolean, minWidth: number): void {
  useLayoutEffect(() => {
    const { current } = frame;
    if (current === null || !hasColumns) return;
    const update = () => {
      const { clientWidth } = current;
      if (clientWidth >= Math.min(minWidth, CARDS_BELOW)) current.removeAttribute('data-cards');
      else current.setAttribute('data-cards', clientWidth < DOUBLE_FROM ? 'single' : 'double');
    };
    update();
    const observer = new ResizeObserver(update);
    observer.observe(current);
    return () => observer.disconnect();
  }, [frame, hasColumns, minWidth]);
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

/** A cell for a number, below a heading of `{ figure }`. */
export const FigureCell = (cell: TableTdProps) => <Table.Td ta="right" {...cell} />;

type Shown = Exclude<Column, false>;

const headingOf = (column: Shown): string =>
  typeof column === 'string' ? column : 'press' in column ? column.name : column.figure;

const isFigure = (column: Shown): boolean =>
  typeof column !== 'string' && (!('press' in column) || column.isFigure);

const Heading = ({ of }: { of: Shown }) =>
  typeof of === 'object' && 'press' in of ? (
    <SortHeading column={of} />
  ) : (
    <Table.Th ta={isFigure(of) ? 'right' : undefined}>{headingOf(of)}</Table.Th>
  );
