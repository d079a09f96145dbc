import { Text } from '@mantine/core';
import { formatPercent } from '../formats.ts';

/** The change against the window before, in words as well as by color. */
export function Delta({ now, before }: { now: number; before: number }) {
  if (before === 0) {
    return (
      <Text size="xs" c="dimmed">
        {now === 0 ? 'as before: none' : 'none in the window before'}
      </Text>
    );
  }
  const change = (now - before) / before;
  const color = change > 0 ? 'var(--delta-up)' : change < 0 ? 'var(--delta-down)' : 'dimmed';
  const sign = change > 0 ? '▲' : change < 0 ? '▼' : '=';
  return (
    <Text size="xs" c={color} className="figure">
      <span aria-hidden="true">{sign} </span>
      {change >= 0 ? 'up' : 'down'} {formatPercent(Math.abs(change))} on the window before
    </Text>
  );
}
