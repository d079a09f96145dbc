import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { AnnouncerContext, LiveRegion } from './announcer.tsx';
import { Dashboard, type Missed } from './dashboard.tsx';
import type { Failure } from './failures.ts';
import { formatSpan } from './formats.ts';
import type { ReferralsApi } from './referrals-api.ts';
import { Failed, Skeleton } from './states.tsx';
import type { Stats } from './stats.ts';
import { words } from './words.ts';

type View =
  | { kind: 'loading' }
  | { kind: 'failed'; failure: Failure }
  | { kind: 'ready'; stats: Stats; days: number; missed: Missed | null };

/** A read of the statistics. `quietly`: a background refresh, which is not announced. */
type Read = { days: number; quietly: boolean };

/** A page that becomes visible after this time is refreshed. Milliseconds. */
const STALE_AFTER = 60_000;

/** Loads the statistics and renders the loading, failed or ready state. */
export function App({ api, days: givenDays }: { api: ReferralsApi; days: number }) {
  const [view, setView] = useState<View>({ kind: 'loading' });
  const [chosen, setChosen] = useState(givenDays);
  const [busy, setBusy] = useState(false);
  const [said, say] = useState('');
  const loadedAt = useRef(0);
  const underWay = useRef<Read | null>(null);

  const load = useCallback(
    async (read: Read) => {
      const { days, quietly } = read;
      underWay.current = read;
      setBusy(true);
      if (!quietly) {
        setChosen(days);
        setView((before) => (before.kind === 'ready' ? { ...before, missed: null } : before));
      }
      const answer = await api.stats(days);
      if (underWay.current !== read) return; // a later call has taken over
      underWay.current = null;
      setBusy(false);
      if (answer.ok) {
        loadedAt.current = Date.now();
        setView((before) => {
          const missed = quietly && before.kind === 'ready' ? before.missed : null;
          return { kind: 'ready', stats: answer.value, days, missed };
        });
        if (!quietly) say(words('showing', { days: formatSpan(days, 'day') }));
      } else if (!quietly) {
        const { failure } = answer;
        setView((before) => {
          if (before.kind !== 'ready') return { kind: 'failed', failure };
          // The current content stays, with any input.
          return { ...before, missed: before.days === days ? null : { days, failure } };
        });
      }
    },
    [api],
  );

  useEffect(() => {
    void load({ days: givenDays, quietly: false });
  }, [load, givenDays]);

  const shownDays = view.kind === 'ready' ? view.days : null;
  useEffect(() => {
    const refresh = () => {
      const stale = Date.now() - loadedAt.current > STALE_AFTER;
      if (shownDays === null || underWay.current || !stale || document.visibilityState !== 'visible') return;
      void load({ days: shownDays, quietly: true });
    };
    document.addEventListener('visibilitychange', refresh);
    return () => document.removeEventListener('visibilitychange', refresh);
  }, [load, shownDays]);

  const change = useCallback(
    (made: (stats: Stats) => Stats) => {
      setView((before) => (before.kind === 'ready' ? { ...before, stats: made(before.stats) } : before));
      // A response to a request from before the change may lack it: request again.
      if (underWay.current) void load({ ...underWay.current });
    },
    [load],
  );
  return (
    <AnnouncerContext.Provider value={say}>
      <LiveRegion text={said} />
      {view.kind === 'loading' && <Skeleton />}
      {view.kind === 'failed' && (
        <Failed
          failure={view.failure}
          isPreview={api.isReadOnly}
          busy={busy}
          onRetry={() => void load({ days: chosen, quietly: false })}
        />
      )}
      {view.kind === 'ready' && (
        <Dashboard
          api={api}
          stats={view.stats}
          days={view.days}
          chosenDays={chosen}
          offeredDays={givenDays}
          missed={view.missed}
          busy={busy}
          onDays={(days) => void load({ days, quietly: false })}
          onChange={change}
        />
      )}
    </AnnouncerContext.Provider>
  );
}
