import { useCallback, useEffect, useRef, useState } from 'react';
import { apiUrl, callApi } from '../../api/call.ts';
import type { Click } from '../../api/click.ts';
import { isRetryable, isSignedOut } from '../../api/failures.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { addClicks, addRecent, EMPTY_LIST, type LiveList, release } from './live-list.ts';
import { clicksQuery, type LiveFilter } from './live-view.ts';

/** Render interval, because clicks arrive in bursts. Milliseconds. */
const DRAW_EVERY = 250;
/** Delay before a reconnect that the browser does not do itself. Milliseconds. */
const RETRY_AFTER = 3_000;
/** Recent clicks to load: the rows, and more for the count of the last minute. 130 bytes each. */
const RECENT = 300;

/** `broken`: will reconnect; `over`: will not. */
export type ConnectionState = 'connecting' | 'connected' | 'broken' | 'over';

export type LiveClicks = {
  list: LiveList;
  state: ConnectionState;
  /** Why the stream is refused: plan or role. */
  failure: unknown;
  /** Whether the recent clicks are loaded. */
  isLoaded: boolean;
  /** Connects again, after a refusal. */
  again: () => void;
};

/**
 * The newest clicks, then each new one. The stream starts at the watermark of the newest clicks and resumes after a
 * break, so no click is missed or shown twice. A changed filter starts over.
 */
export function useLiveClicks(filter: LiveFilter, isPaused: boolean): LiveClicks {
  const key = JSON.stringify(filter);
  const [list, setList] = useState<LiveList>(EMPTY_LIST);
  const [state, setState] = useState<ConnectionState>('connecting');
  const [failure, setFailure] = useState<unknown>(null);
  const [loadedKey, setLoadedKey] = useState<string | null>(null);
  const [attempt, setAttempt] = useState(0);
  const [incoming] = useState<Click[]>(() => []);
  const isHeld = useRef(isPaused);
  isHeld.current = isPaused;
  const draw = useCallback(() => {
    if (incoming.length === 0) return;
    const clicks = incoming.splice(0);
    setList((before) => addClicks(before, clicks, isHeld.current, Date.now()));
  }, [incoming]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: each attempt starts over
  useEffect(() => {
    const chosen = JSON.parse(key) as LiveFilter;
    const gone = new AbortController();
    let source: EventSource | null = null;
    let timer: ReturnType<typeof setTimeout> | undefined;

    async function begin(): Promise<void> {
      try {
        const recent = await callApi<ResponseOf<'/clicks'>>('/clicks', {
          query: { limit: RECENT, ...clicksQuery(chosen) },
          signal: gone.signal,
        });
        if (gone.signal.aborted) return;
        setFailure(null);
        draw();
        setList((before) => addRecent(before, recent.clicks.toReversed(), isHeld.current, Date.now()));
        setLoadedKey(key);
        listen(recent.watermark);
      } catch (error) {
        if (gone.signal.aborted) return;
        if (isRetryable(error) || isSignedOut(error)) {
          setState('broken');
          timer = setTimeout(begin, RETRY_AFTER);
        } else {
          setState('over');
          setFailure(error);
        }
      }
    }

    function listen(since: string): void {
      // Without any click, the watermark is 1970.
      const isNew = Date.parse(since) > Date.now() - 3_600_000;
      source = new EventSource(
        apiUrl('/clicks/live', { ...clicksQuery(chosen), since: isNew ? since : null }),
      );
      source.addEventListener('open', () => setState('connected'));
      source.addEventListener('click', (event) => {
        incoming.push(JSON.parse((event as MessageEvent<string>).data) as Click);
      });
      source.addEventListener('error', () => {
        setState('broken');
        if (source?.readyState !== EventSource.CLOSED) return; // the browser reconnects
        timer = setTimeout(begin, RETRY_AFTER);
      });
    }

    incoming.length = 0;
    setList(EMPTY_LIST);
    setState('connecting');
    setFailure(null);
    void begin();
    return () => {
      gone.abort();
      clearTimeout(timer);
      source?.close();
    };
  }, [key, attempt, incoming, draw]);

  useEffect(() => {
    if (!isPaused) setList(release);
    const timer = setInterval(draw, DRAW_EVERY);
    return () => clearInterval(timer);
  }, [isPaused, draw]);

  const again = useCallback(() => setAttempt((nth) => nth + 1), []);
  return { list, state, failure, isLoaded: loadedKey === key, again };
}
