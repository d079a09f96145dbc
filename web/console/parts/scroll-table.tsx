import { Table, type TableProps } from '@mantine/core';
import type { ReactNode } from 'react';

/** A table that scrolls sideways in itself where it is too wide, reachable by keyboard. */
export function ScrollTable({
  label,
  minWidth = 600,
  children,
  ...table
}: TableProps & { label: string; minWidth?: number; children: ReactNode }) {
  return (
    // Its own frame for what is placed in it: a visually hidden heading would widen the page otherwise.
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
        {children}
      </Table>
    </Table.ScrollContainer>
  );
}
