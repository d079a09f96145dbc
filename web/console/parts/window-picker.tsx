import { Button, Group, SegmentedControl, TextInput } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { useWindow } from './use-window.ts';
import { dayOf, WINDOW_DAYS } from './window.ts';

const NAMES: Record<number, string> = { 1: '24 h', 7: '7 days', 30: '30 days', 90: '90 days', 365: '1 year' };
const RANGE = 'range';

/** Chooses the time range; it is in the page's URL. */
export function WindowPicker() {
  const { window, choose } = useWindow();
  const value = window.kind === 'days' ? String(window.days) : RANGE;
  const data = WINDOW_DAYS.map((days) => ({ value: String(days), label: NAMES[days] ?? `${days} days` }));
  return (
    <Group gap="xs">
      <SegmentedControl
        aria-label="Time range"
        size="xs"
        data={data}
        value={value}
        onChange={(chosen) => choose({ kind: 'days', days: Number(chosen) })}
      />
      <RangeButton />
    </Group>
  );
}

/** An inline form: a popover would add a fifth to the first load. */
function RangeButton() {
  const { window, choose } = useWindow();
  const [opened, setOpened] = useState(false);
  const chosen = window.kind === 'range' ? window : null;
  return (
    <>
      <Button
        size="xs"
        variant={chosen ? 'filled' : 'default'}
        aria-expanded={opened}
        onClick={() => setOpened(!opened)}
      >
        {chosen ? `${chosen.from} to ${chosen.to}` : 'Custom range'}
      </Button>
      {opened && (
        <RangeForm
          from={chosen?.from ?? ''}
          to={chosen?.to ?? ''}
          choose={(from, to) => {
            choose({ kind: 'range', from, to });
            setOpened(false);
          }}
          close={() => setOpened(false)}
        />
      )}
    </>
  );
}

type RangeProps = {
  from: string;
  to: string;
  choose: (from: string, to: string) => void;
  close: () => void;
};

function RangeForm({ choose, close, ...chosen }: RangeProps) {
  const [from, setFrom] = useState(chosen.from);
  const [to, setTo] = useState(chosen.to);
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.focus(), []);
  // The API refuses reports that start in the future.
  const today = dayOf(new Date());
  const wrong = from !== '' && to !== '' && from > to ? 'ends before it starts' : null;
  return (
    <form
      aria-label="Custom range"
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
