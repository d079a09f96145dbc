import { uptime } from 'node:os';
// Imported, because the global is a getter that every use calls.
import { performance } from 'node:perf_hooks';

/** Microseconds since the Unix epoch. */
export type MicrosecondClock = () => number;

/** Largest drift of the fine clock from the wall clock; then it is set again. */
const DRIFT_MICROS = 1_000;
/** Comparisons of the clocks in a row, each of which may be interrupted. */
const COMPARISONS = 5;
/** A wall clock that moves further than this between two checks was set, or the machine slept. */
const STEP_MICROS = 1_000_000;
/** Duration of a jump ahead after which the clock follows it. */
const HOLD_MICROS = 60_000_000;
/** A stream's time further ahead of the wall clock than this is a fault, which is reported. */
export const AHEAD_MICROS = 5_000_000;

/**
 * The result of a check of the wall clock. `micros` is a length.
 *
 * - `held`: the wall clock jumped ahead of the monotonic clock; it is not followed yet.
 * - `withdrawn`: the wall clock reversed a held jump.
 * - `followed`: the jump has lasted for a minute, and the clock follows it.
 * - `returned`: the wall clock reversed the jump that was followed last.
 * - `behind`: the wall clock is more than five seconds behind.
 */
export type ClockStep = {
  step: 'held' | 'withdrawn' | 'followed' | 'returned' | 'behind';
  micros: number;
};

export type WallClock = {
  /** Returns the time for streams, which runs with the monotonic clock. */
  now: MicrosecondClock;
  /** Returns the system's time, right or wrong. */
  wall: MicrosecondClock;
  /** Compares both. @returns null when they agree, or when a held jump has not changed */
  check(): ClockStep | null;
  /** Sets the clock. @param jump length of a followed jump that the wall clock may still reverse; 0: none */
  set(micros: number, jump?: number): void;
};

/** The clocks of the system. Microseconds. */
export type ClockSources = {
  wall: MicrosecondClock;
  /** Monotonic; stops while the machine sleeps. */
  steady: MicrosecondClock;
  /** Monotonic; continues while the machine sleeps. */
  sinceBoot: MicrosecondClock;
};

const steady = () => performance.now() * 1_000;

const SYSTEM: ClockSources = {
  wall: () => Date.now() * 1_000,
  steady,
  // Elsewhere the time since boot is computed from the wall clock, so a jump would count as sleep.
  sinceBoot: process.platform === 'linux' ? () => uptime() * 1_000_000 : steady,
};

/**
 * Creates a wall clock with microseconds, guarded by the monotonic clock. Times are persisted and never step back, so
 * a wall clock that is wrong for a moment must not affect them.
 *
 * - A jump ahead is followed at once only when the machine slept for as long, else after a minute.
 * - Steps of less than a second are followed at once, and so are steps back of up to five seconds: streams wait that
 *   out.
 * - A larger step back is not followed: times run with the monotonic clock until the caller calls `set`.
 */
export function createWallClock(sources: ClockSources = SYSTEM): WallClock {
  let anchor = sources.wall() - sources.steady();
  let awake = sources.sinceBoot() - sources.steady();
  let held: { micros: number; since: number } | null = null;
  let jump = 0;
  const now = () => anchor + sources.steady();

  /** By how much the wall clock is ahead. A pause of the process between the readings must not count as drift. */
  function drifted(): number {
    for (let comparison = 1; ; comparison++) {
      const before = now();
      const wall = sources.wall();
      const pause = now() - before;
      if (pause < DRIFT_MICROS || comparison === COMPARISONS) return wall - before - pause / 2;
    }
  }

  function slept(): number {
    const before = awake;
    awake = sources.sinceBoot() - sources.steady();
    return awake - before;
  }

  function ahead(micros: number): ClockStep | null {
    if (Math.abs(micros - slept()) <= STEP_MICROS) {
      anchor += micros;
      held = null;
      return null;
    }
    if (held === null || Math.abs(micros - held.micros) > STEP_MICROS) {
      held = { micros, since: sources.steady() };
      return { step: 'held', micros };
    }
    if (sources.steady() - held.since < HOLD_MICROS) return null;
    anchor += micros;
    held = null;
    jump = micros;
    return { step: 'followed', micros };
  }

  return {
    now,
    wall: sources.wall,
    check() {
      const drift = drifted();
      if (drift > STEP_MICROS) return ahead(drift);
      const withdrawn: ClockStep | null = held && { step: 'withdrawn', micros: held.micros };
      held = null;
      if (drift < -AHEAD_MICROS) {
        const isBack = Math.abs(drift + jump) <= 2 * STEP_MICROS;
        return { step: isBack ? 'returned' : 'behind', micros: -drift };
      }
      if (Math.abs(drift) > DRIFT_MICROS) anchor += drift;
      return withdrawn;
    },
    set(micros, followed = 0) {
      anchor = micros - sources.steady();
      held = null;
      jump = followed;
    },
  };
}
