import { Text } from '@mantine/core';
import { formatChange } from '../formats.ts';

const AGAINST = 'Compared with the previous period';

/** The relative change from the previous period, by sign as well as by color. */
export function Delta({ now, before }: { now: number; before: number }) {
  if (before === 0) {
    return (
      <Text size="xs" c="dimmed">
        No previous data
      </Text>
    );
  }
  const change = (now - before) / before;
  const color = change > 0 ? 'var(--delta-up)' : change < 0 ? 'var(--delta-down)' : 'dimmed';
  const sign = change > 0 ? '▲' : change < 0 ? '▼' : '=';
  return (
    <Text size="xs" c={color} className="figure" title={AGAINST}>
      <span aria-hidden="true">{sign} </span>
      {formatChange(change)}
    </Text>
  );
}
