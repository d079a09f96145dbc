import { Button, Group, Popover, SegmentedControl, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useWindow, WINDOW_DAYS } from './window.ts';

const NAMES: Record<number, string> = { 1: '24 h', 7: '7 days', 30: '30 days', 90: '90 days', 365: '1 year' };
const RANGE = 'range';

/** Chooses the window of time; it stands in the page's URL. */
export function WindowPicker() {
  const { window, choose } = useWindow();
  const value = window.kind === 'days' ? String(window.days) : RANGE;
  const data = WINDOW_DAYS.map((days) => ({ value: String(days), label: NAMES[days] ?? `${days} days` }));
  return (
    <Group gap="xs">
      <SegmentedControl
        aria-label="Window of time"
        size="xs"
        data={data}
        value={value}
        onChange={(chosen) => choose({ kind: 'days', days: Number(chosen) })}
      />
      <RangeButton />
    </Group>
  );
}

function RangeButton() {
  const { window, choose } = useWindow();
  const [opened, setOpened] = useState(false);
  const chosen = window.kind === 'range' ? window : null;
  const [from, setFrom] = useState(chosen?.from ?? '');
  const [to, setTo] = useState(chosen?.to ?? '');
  const wrong = from !== '' && to !== '' && from > to ? 'ends before it begins' : null;
  return (
    <Popover opened={opened} onChange={setOpened} trapFocus position="bottom-end" shadow="md">
      <Popover.Target>
        <Button size="xs" variant={chosen ? 'filled' : 'default'} onClick={() => setOpened(!opened)}>
          {chosen ? `${chosen.from} to ${chosen.to}` : 'Other days'}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Other days">
        <form
          onSubmit={(event) => {
            event.preventDefault();
            choose({ kind: 'range', from, to });
            setOpened(false);
          }}
        >
          <Group align="flex-end" gap="xs">
            <TextInput
              type="date"
              label="From"
              size="xs"
              required
              value={from}
              onChange={(event) => setFrom(event.currentTarget.value)}
            />
            <TextInput
              type="date"
              label="To"
              size="xs"
              required
              value={to}
              error={wrong}
              onChange={(event) => setTo(event.currentTarget.value)}
            />
            <Button type="submit" size="xs" disabled={from === '' || to === '' || wrong !== null}>
              Show
            </Button>
          </Group>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}
