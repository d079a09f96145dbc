// Imported, because as a global it is a getter that every use calls.
import { performance } from 'node:perf_hooks';

/** Microseconds since the Unix epoch. */
export type MicrosecondClock = () => number;

/** How far the fast clock may run from the wall clock before it is set again. */
const DRIFT_MICROS = 1000;

/**
 * The wall clock with microseconds: the process's own fine clock, set by the wall clock again whenever
 * `check` finds them apart (a clock that was set, a machine that slept).
 */
export function createWallClock(): { now: MicrosecondClock; check(): void } {
  let anchor = performance.timeOrigin * 1000;
  const now = () => anchor + performance.now() * 1000;
  const check = () => {
    const drift = Date.now() * 1000 - now();
    if (Math.abs(drift) > DRIFT_MICROS) anchor += drift;
  };
  check();
  return { now, check };
}

/**
 * The times of a stream: strictly increasing whatever the wall clock does.
 *
 * @param last the largest time that the stream has given so far; 0 for a new one
 */
export function createStreamClock(now: MicrosecondClock, last: number): MicrosecondClock {
  let latest = last;
  return () => {
    const time = Math.floor(now());
    latest = time > latest ? time : latest + 1;
    return latest;
  };
}
