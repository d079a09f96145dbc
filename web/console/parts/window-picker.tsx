import { Button, Group, SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import { RangeForm } from './range-form.tsx';
import { useWindow } from './use-window.ts';
import { WINDOW_DAYS } from './window.ts';

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
          label="Custom range"
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
