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
    <Table.ScrollContainer minWidth={minWidth} type="native" tabIndex={0} role="region" aria-label={label}>
      <Table verticalSpacing="xs" highlightOnHover {...table}>
        {children}
      </Table>
    </Table.ScrollContainer>
  );
}
