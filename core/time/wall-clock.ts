import { uptime } from 'node:os';
// Imported, because as a global it is a getter that every use calls.
import { performance } from 'node:perf_hooks';

/** Microseconds since the Unix epoch. */
export type MicrosecondClock = () => number;

/** How far the fine clock may run from the wall clock before it is set again. */
const DRIFT_MICROS = 1_000;
/** A wall clock that moves further than this within a look was set, or the machine slept. */
const STEP_MICROS = 1_000_000;
/** How long a jump ahead must hold before it is followed. */
const HOLD_MICROS = 60_000_000;
/** A stream's time further ahead of the wall clock than this is a fault that somebody must know about. */
export const AHEAD_MICROS = 5_000_000;

/**
 * What a look at the wall clock found. `micros` is a length.
 *
 * - `held`: the wall clock jumped ahead of the monotonic clock; it is not followed.
 * - `withdrawn`: a held jump is over: the wall clock is back.
 * - `followed`: the jump has held for a minute, so the clock follows it.
 * - `returned`: the wall clock took back the jump that was followed last.
 * - `behind`: the wall clock is more than five seconds behind.
 */
export type ClockStep = {
  step: 'held' | 'withdrawn' | 'followed' | 'returned' | 'behind';
  micros: number;
};

export type WallClock = {
  /** The time that streams go by: it runs with the monotonic clock. */
  now: MicrosecondClock;
  /** What the system says now, right or wrong. */
  wall: MicrosecondClock;
  /** Compares the two. @returns null when they agree, or when nothing new is to be told of a held jump */
  check(): ClockStep | null;
  /** Sets the clock. @param jump length of a followed jump that the wall clock may still take back; 0: none */
  set(micros: number, jump?: number): void;
};

/** Where the clock gets its times from, in microseconds. */
export type ClockSources = {
  wall: MicrosecondClock;
  /** Monotonic; stands still while the machine sleeps. */
  steady: MicrosecondClock;
  /** Monotonic; runs on while the machine sleeps. */
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
 * The wall clock with microseconds, guarded by the monotonic clock. Marks that are made from its times are persisted and
 * never step back, so a wall clock that is wrong for a moment must not reach them:
 *
 * - A jump ahead is followed at once only when the machine slept for as long, else after it has held for a minute.
 * - Steps of less than a second are followed at once, and so are steps back of up to five seconds: streams wait that out.
 * - A step back of more is not followed: times run on with the monotonic clock until the caller calls `set`.
 */
export function createWallClock(sources: ClockSources = SYSTEM): WallClock {
  let anchor = sources.wall() - sources.steady();
  let awake = sources.sinceBoot() - sources.steady();
  let held: { micros: number; since: number } | null = null;
  let jump = 0;
  const now = () => anchor + sources.steady();

  /** @returns how long the machine slept since the last call */
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
      const drift = sources.wall() - now();
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
    set(micros, kept = 0) {
      anchor = micros - sources.steady();
      held = null;
      jump = kept;
    },
  };
}
