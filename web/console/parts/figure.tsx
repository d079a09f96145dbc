import { Paper } from '@mantine/core';
import type { ReactNode } from 'react';
import { Delta } from './delta.tsx';
import { Note, SmallNote } from './note.tsx';

type Props = {
  label: ReactNode;
  /** Formatted: `1,204`, `€ 12.00`. */
  value: ReactNode;
  /** The current and previous period's values, to show the change; `against`: the tooltip. */
  change?: { now: number; before: number; against?: string };
  /** Small text below. */
  note?: ReactNode;
};

/** A number with its label and change. */
export function Figure({ label, value, change, note }: Props) {
  return (
    <Paper withBorder p={{ base: 'sm', xs: 'md' }}>
      <Note>{label}</Note>
      <div className="figure-value">{value}</div>
      {change && <Delta {...change} />}
      {note && <SmallNote>{note}</SmallNote>}
    </Paper>
  );
}
