import { Button, Group, Paper, SimpleGrid, Stack, Text, VisuallyHidden } from '@mantine/core';
import { IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { formatCount, plural } from '../../formats.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { FailureNotice } from '../../parts/failure-notice.tsx';
import { Figure } from '../../parts/figure.tsx';
import { GeoCredit } from '../../parts/geo-credit.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { ConnectionBadge } from './connection-badge.tsx';
import { LiveFilters } from './live-filters.tsx';
import { type LiveList, perMinute } from './live-list.ts';
import { LiveTable } from './live-table.tsx';
import { useLiveFilter } from './live-view.ts';
import { useLiveClicks } from './use-live-clicks.ts';

/** Interval of screen reader announcements. Milliseconds. */
const TOLD_EVERY = 10_000;

/** Clicks as they arrive. */
export default function LivePage() {
  const { filter, change } = useLiveFilter();
  const [isPaused, setPaused] = useState(false);
  const { list, state, failure, isLoaded } = useLiveClicks(filter, isPaused);
  const now = useNow();
  return (
    <>
      <PageHeader title="Live">
        <ConnectionBadge state={state} />
        <Button
          variant={isPaused ? 'filled' : 'default'}
          leftSection={isPaused ? <IconPlayerPlay size={18} /> : <IconPlayerPause size={18} />}
          onClick={() => setPaused(!isPaused)}
        >
          {isPaused ? 'Resume' : 'Pause'}
        </Button>
      </PageHeader>
      <Stack gap="md">
        <LiveFilters filter={filter} change={change} />
        {failure !== null && <FailureNotice error={failure} />}
        <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }}>
          <Figure label="Clicks in the last minute" value={formatCount(perMinute(list, now))} />
        </SimpleGrid>
        {isPaused && (
          <Group gap="sm" role="status">
            <Text size="sm">
              The list is paused.{' '}
              {list.heldCount === 0
                ? 'No new clicks.'
                : `${plural(list.heldCount, 'new click', 'new clicks')}.`}
            </Text>
          </Group>
        )}
        {list.rows.length > 0 ? (
          <LiveTable clicks={list.rows} />
        ) : (
          <Paper withBorder>
            <EmptyState title={isLoaded ? 'Waiting for the first click' : 'Loading clicks'}>
              {isLoaded && 'Open one of your links. The click appears here.'}
            </EmptyState>
          </Paper>
        )}
      </Stack>
      <Told list={list} isPaused={isPaused} />
      <GeoCredit />
    </>
  );
}

/** The current time, updated each second. Milliseconds. */
function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** Announces the number of new clicks at intervals, not each click. */
function Told({ list, isPaused }: { list: LiveList; isPaused: boolean }) {
  const [text, setText] = useState('');
  const newest = list.rows[0]?.id;
  const shown = useRef({ list, told: newest });
  shown.current.list = list;
  useEffect(() => {
    if (isPaused) return;
    const timer = setInterval(() => {
      const { rows } = shown.current.list;
      const from = rows.findIndex(({ id }) => id === shown.current.told);
      const count = from < 0 ? rows.length : from;
      shown.current.told = rows[0]?.id;
      setText(count === 0 ? '' : `${plural(count, 'new click', 'new clicks')}.`);
    }, TOLD_EVERY);
    return () => clearInterval(timer);
  }, [isPaused]);
  return (
    <VisuallyHidden role="status" aria-live="polite">
      {text}
    </VisuallyHidden>
  );
}
