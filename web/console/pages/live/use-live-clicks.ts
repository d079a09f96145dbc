import { useCallback, useEffect, useRef, useState } from 'react';
import { apiUrl, callApi } from '../../api/call.ts';
import type { Click } from '../../api/click.ts';
import { isRetryable, isSignedOut } from '../../api/failures.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { addClicks, EMPTY_LIST, type LiveList, release } from './live-list.ts';
import { type LiveFilter, passes, recentQuery, streamQuery } from './live-view.ts';

/** Clicks come in bursts; the page is drawn that often. Milliseconds. */
const DRAW_EVERY = 250;
/** A pause before the page connects again where the browser does not do it by itself. Milliseconds. */
const RETRY_AFTER = 3_000;
/** Clicks from before that are asked for: those of the last minute, as far as that goes. */
const RECENT = 500;

/** `broken`: it will be made again; `over`: it will not. */
export type ConnectionState = 'connecting' | 'connected' | 'broken' | 'over';

export type LiveClicks = {
  list: LiveList;
  state: ConnectionState;
  /** Why nothing comes and nothing will: the plan, the role. */
  failure: unknown;
  /** Whether the clicks from before are there. */
  isLoaded: boolean;
};

/**
 * The newest clicks, then each as it arrives. The stream begins where the list of newest ones ends and the browser
 * goes on after a break where it was, so no click is left out and none is shown twice.
 * Another filter begins anew.
 */
export function useLiveClicks(filter: LiveFilter, isPaused: boolean): LiveClicks {
  const key = JSON.stringify(filter);
  const [list, setList] = useState<LiveList>(EMPTY_LIST);
  const [state, setState] = useState<ConnectionState>('connecting');
  const [failure, setFailure] = useState<unknown>(null);
  const [loadedKey, setLoadedKey] = useState<string | null>(null);
  const [incoming] = useState<Click[]>(() => []);
  const isHeld = useRef(isPaused);
  isHeld.current = isPaused;
  const draw = useCallback(() => {
    if (incoming.length === 0) return;
    const clicks = incoming.splice(0);
    setList((before) => addClicks(before, clicks, isHeld.current, Date.now()));
  }, [incoming]);

  useEffect(() => {
    const chosen = JSON.parse(key) as LiveFilter;
    const gone = new AbortController();
    let source: EventSource | null = null;
    let timer: ReturnType<typeof setTimeout> | undefined;

    async function begin(): Promise<void> {
      try {
        const recent = await callApi<ResponseOf<'/clicks'>>('/clicks', {
          query: { limit: RECENT, ...recentQuery(chosen) },
          signal: gone.signal,
        });
        if (gone.signal.aborted) return;
        setFailure(null);
        incoming.push(...recent.clicks.filter((click) => passes(chosen, click)).toReversed());
        setLoadedKey(key);
        draw();
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
      // A deployment without any click yet has the watermark 1970.
      const isNew = Date.parse(since) > Date.now() - 3_600_000;
      source = new EventSource(
        apiUrl('/clicks/live', { ...streamQuery(chosen), since: isNew ? since : null }),
      );
      source.addEventListener('open', () => setState('connected'));
      source.addEventListener('click', (event) => {
        incoming.push(JSON.parse((event as MessageEvent<string>).data) as Click);
      });
      source.addEventListener('error', () => {
        setState('broken');
        if (source?.readyState !== EventSource.CLOSED) return; // the browser connects again by itself
        timer = setTimeout(begin, RETRY_AFTER);
      });
    }

    incoming.length = 0;
    setList(EMPTY_LIST);
    setState('connecting');
    void begin();
    return () => {
      gone.abort();
      clearTimeout(timer);
      source?.close();
    };
  }, [key, incoming, draw]);

  useEffect(() => {
    if (!isPaused) setList(release);
    const timer = setInterval(draw, DRAW_EVERY);
    return () => clearInterval(timer);
  }, [isPaused, draw]);

  return { list, state, failure, isLoaded: loadedKey === key };
}
