import { Button, Group, TextInput } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { dayOf } from './window.ts';

type RangeProps = {
  label: string;
  from: string;
  to: string;
  choose: (from: string, to: string) => void;
  close: () => void;
};

/** Two days, both included. An inline form: a popover would add a fifth to the first load. */
export function RangeForm({ label, choose, close, ...chosen }: RangeProps) {
  const [from, setFrom] = useState(chosen.from);
  const [to, setTo] = useState(chosen.to);
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.focus(), []);
  // The API refuses reports that start in the future.
  const today = dayOf(new Date());
  const wrong = from !== '' && to !== '' && from > to ? 'ends before it starts' : null;
  return (
    <form
      aria-label={label}
      onKeyDown={(event) => {
        if (event.key === 'Escape') close();
      }}
      onSubmit={(event) => {
        event.preventDefault();
        choose(from, to);
      }}
    >
      <Group align="flex-end" gap="xs">
        <TextInput
          ref={first}
          type="date"
          label="From"
          size="xs"
          required
          max={today}
          value={from}
          onChange={(event) => setFrom(event.currentTarget.value)}
        />
        <TextInput
          type="date"
          label="To"
          size="xs"
          required
          max={today}
          value={to}
          error={wrong}
          onChange={(event) => setTo(event.currentTarget.value)}
        />
        <Button type="submit" size="xs" disabled={from === '' || to === '' || wrong !== null}>
          Show
        </Button>
      </Group>
    </form>
  );
}
