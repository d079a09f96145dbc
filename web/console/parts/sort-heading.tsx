import { Table, UnstyledButton } from '@mantine/core';
import { IconArrowDown, IconArrowsSort, IconArrowUp } from '@tabler/icons-react';

/** The heading of a column that the rows can be sorted by. */
export type SortColumn = {
  name: string;
  isFigure: boolean;
  sorted: 'ascending' | 'descending' | null;
  /** Sorts by it, or the other way. */
  press: () => void;
};

export function SortHeading({ column: { name, isFigure, sorted, press } }: { column: SortColumn }) {
  const Sign = sorted === null ? IconArrowsSort : sorted === 'descending' ? IconArrowDown : IconArrowUp;
  return (
    <Table.Th aria-sort={sorted ?? 'none'} ta={isFigure ? 'right' : 'left'}>
      <UnstyledButton className="sort-heading" fw={700} fz="sm" onClick={press}>
        {name} <Sign size={14} aria-hidden="true" data-unsorted={sorted === null || undefined} />
      </UnstyledButton>
    </Table.Th>
  );
}
