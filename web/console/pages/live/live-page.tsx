import { Box, Button, Group, Paper, Stack, Text, VisuallyHidden } from '@mantine/core';
import { IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { Suspense, useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import type { Click } from '../../api/click.ts';
import { formatCount, plural } from '../../formats.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { FailureNotice } from '../../parts/failure-notice.tsx';
import { Figure } from '../../parts/figure.tsx';
import { GeoCredit } from '../../parts/geo-credit.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { MapSkeleton } from '../../parts/skeletons.tsx';
import { lazyPage } from '../../shell/lazy-page.tsx';
import { ConnectionBadge } from './connection-badge.tsx';
import { LiveFilters } from './live-filters.tsx';
import { type LiveList, perMinute, perSecond } from './live-list.ts';
import { LiveTable } from './live-table.tsx';
import { useLiveFilter } from './live-view.ts';
import { useLiveClicks } from './use-live-clicks.ts';

/** Interval of screen reader announcements. Milliseconds. */
const TOLD_EVERY = 10_000;

/** What the list will look like. */
const EXAMPLE = [
  ['Autumn sale', 'Berlin', '2 seconds ago'],
  ['Newsletter', 'Vienna', '9 seconds ago'],
];

const MAP = lazyPage<{ clicks: readonly Click[] }>(() => import('./live-map.tsx'));

/** Clicks as they arrive. The list holds still under a mouse, and while something in it has the focus. */
export default function LivePage() {
  const { filter, change } = useLiveFilter();
  const [isStopped, setStopped] = useState(false);
  const [isPointed, setPointed] = useState(false);
  const isPaused = isStopped || isPointed;
  const [Shapes] = useState(() => MAP.component());
  const { list, state, failure, isLoaded, again } = useLiveClicks(filter, isPaused);
  const now = useNow();
  return (
    <>
      <PageHeader title="Live">
        <ConnectionBadge state={state} />
        <Button
          variant={isStopped ? 'filled' : 'default'}
          leftSection={isStopped ? <IconPlayerPlay size={18} /> : <IconPlayerPause size={18} />}
          onClick={() => setStopped(!isStopped)}
        >
          {isStopped ? 'Resume' : 'Pause'}
        </Button>
      </PageHeader>
      <Stack gap="md">
        <LiveFilters filter={filter} change={change} />
        {failure !== null && <FailureNotice error={failure} again={again} />}
        <div className="live-top">
          <div className="live-figures">
            <Figure label="Clicks in the last minute" value={formatCount(perMinute(list, now))} />
            <Figure label="Clicks a second" value={formatCount(perSecond(list, now))} />
          </div>
          {list.rows.length > 0 && (
            <Paper withBorder p="xs">
              <Suspense fallback={<MapSkeleton />}>
                <Shapes clicks={list.rows} />
              </Suspense>
            </Paper>
          )}
        </div>
        {isPaused && (
          <Group gap="sm" role="status">
            <Text size="sm">
              {isStopped ? 'The list is paused.' : 'The list holds still while you point at it.'}{' '}
              {list.heldCount === 0
                ? 'No new clicks.'
                : `${plural(list.heldCount, 'new click', 'new clicks')}.`}
            </Text>
          </Group>
        )}
        {list.rows.length > 0 ? (
          <Box
            onPointerEnter={({ pointerType }) => setPointed(pointerType === 'mouse')}
            onPointerLeave={() => setPointed(false)}
            onFocus={() => setPointed(true)}
            onBlur={() => setPointed(false)}
          >
            <LiveTable clicks={list.rows} />
          </Box>
        ) : failure !== null ? null : (
          <Paper withBorder>
            {isLoaded ? (
              <EmptyState
                title="Waiting for the first click"
                example={EXAMPLE}
                action={
                  <Button component={Link} href="/links" variant="default">
                    Show the links
                  </Button>
                }
              >
                Open one of your links. The click appears here.
              </EmptyState>
            ) : (
              <EmptyState title="Loading clicks" />
            )}
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
  const [news, setNews] = useState({ nth: 0, count: 0 });
  const counts = useRef({ received: list.newCount, told: list.newCount });
  counts.current.received = list.newCount;
  // Another filter begins another list.
  counts.current.told = Math.min(counts.current.told, list.newCount);
  useEffect(() => {
    if (isPaused) return;
    const timer = setInterval(() => {
      const { received, told } = counts.current;
      counts.current.told = received;
      setNews(({ nth }) => ({ nth: nth + 1, count: received - told }));
    }, TOLD_EVERY);
    return () => clearInterval(timer);
  }, [isPaused]);
  return (
    <VisuallyHidden role="status" aria-live="polite">
      {/* A new element: a text that does not change is not read out. */}
      {news.count > 0 && <span key={news.nth}>{plural(news.count, 'new click', 'new clicks')}.</span>}
    </VisuallyHidden>
  );
}
