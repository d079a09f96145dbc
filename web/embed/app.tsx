import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { AnnouncerContext, LiveRegion } from './announcer.tsx';
import { Dashboard } from './dashboard.tsx';
import type { Failure } from './failures.ts';
import type { ReferralsApi } from './referrals-api.ts';
import { Failed, Skeleton } from './states.tsx';
import type { Stats } from './stats.ts';

type View = { kind: 'loading' } | { kind: 'failed'; failure: Failure } | { kind: 'ready'; stats: Stats };

/** A page that comes back into view after this long is brought up to date. Milliseconds. */
const STALE_AFTER = 60_000;

/** Loads the figures and shows what became of that. */
export function App({ api, days: givenDays }: { api: ReferralsApi; days: number }) {
  const [view, setView] = useState<View>({ kind: 'loading' });
  const [days, setDays] = useState(givenDays);
  const [busy, setBusy] = useState(false);
  const [said, say] = useState('');
  const loadedAt = useRef(0);
  const call = useRef(0);

  const load = useCallback(
    async (wanted: number, quietly: boolean) => {
      const own = ++call.current;
      setBusy(true);
      const answer = await api.stats(wanted);
      if (own !== call.current) return; // a later call has taken over
      setBusy(false);
      if (answer.ok) {
        loadedAt.current = Date.now();
        setView({ kind: 'ready', stats: answer.value });
        setDays(wanted);
        if (!quietly) say(`Figures of the last ${wanted} days are shown.`);
      } else if (!quietly) {
        setView({ kind: 'failed', failure: answer.failure });
      }
    },
    [api],
  );

  useEffect(() => {
    void load(givenDays, false);
  }, [load, givenDays]);

  const ready = view.kind === 'ready';
  useEffect(() => {
    const refresh = () => {
      const stale = Date.now() - loadedAt.current > STALE_AFTER;
      if (ready && stale && document.visibilityState === 'visible') void load(days, true);
    };
    document.addEventListener('visibilitychange', refresh);
    return () => document.removeEventListener('visibilitychange', refresh);
  }, [load, days, ready]);

  const change = useCallback((next: Stats) => setView({ kind: 'ready', stats: next }), []);
  return (
    <AnnouncerContext.Provider value={say}>
      <LiveRegion text={said} />
      {view.kind === 'loading' && <Skeleton />}
      {view.kind === 'failed' && (
        <Failed failure={view.failure} busy={busy} onRetry={() => void load(days, false)} />
      )}
      {view.kind === 'ready' && (
        <Dashboard
          api={api}
          stats={view.stats}
          days={days}
          offeredDays={givenDays}
          busy={busy}
          onDays={(wanted) => void load(wanted, false)}
          onChange={change}
        />
      )}
    </AnnouncerContext.Provider>
  );
}
