import { Text } from '@mantine/core';
import { formatChange } from '../formats.ts';

const AGAINST = 'Compared with the previous period';

type Props = {
  now: number;
  before: number;
  /** Tooltip: the period that it is compared with. */
  against?: string | undefined;
};

/** The relative change from the previous period, by sign as well as by color. */
export function Delta({ now, before, against = AGAINST }: Props) {
  if (before === 0) {
    return (
      <Text size="xs" c="dimmed" component="span" display="block">
        No previous data
      </Text>
    );
  }
  const change = (now - before) / before;
  const color = change > 0 ? 'var(--delta-up)' : change < 0 ? 'var(--delta-down)' : 'dimmed';
  const sign = change > 0 ? '▲' : change < 0 ? '▼' : '=';
  return (
    <Text size="xs" c={color} title={against} component="span" display="block">
      <span aria-hidden="true">{sign} </span>
      {formatChange(change)}
    </Text>
  );
}
