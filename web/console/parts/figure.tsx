import { Paper, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Delta } from './delta.tsx';

type Props = {
  label: string;
  /** As it is written: `1,204`, `€ 12.00`. */
  value: ReactNode;
  /** Now and in the window before, to show the change; left out: none is shown. */
  change?: { now: number; before: number };
  /** The smaller line below. */
  note?: ReactNode;
};

/** Longer ones, such as a billion with its cents, would break within the number. Characters. */
const LONG = 14;

/** One number with its name and its change. */
export function Figure({ label, value, change, note }: Props) {
  return (
    <Paper withBorder p={{ base: 'sm', xs: 'md' }}>
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      <Text
        fz={
          typeof value === 'string' && value.length > LONG
            ? { base: 'sm', xs: 'md' }
            : { base: 'md', xs: 'xl' }
        }
        fw={700}
        className="figure"
        style={{ overflowWrap: 'anywhere' }}
      >
        {value}
      </Text>
      {change && <Delta {...change} />}
      {note && (
        <Text size="xs" c="dimmed">
          {note}
        </Text>
      )}
    </Paper>
  );
}
