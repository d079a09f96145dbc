import {
  AHEAD_MICROS,
  type ClockStep,
  type MicrosecondClock,
  type WallClock,
} from '../../time/wall-clock.ts';

/** A jump of the wall clock that was followed. From this event on, the stream's times may be ahead by `micros`. */
export type FollowedJump = {
  sequence: bigint;
  ts: number;
  /** Length of the jump. Microseconds. */
  micros: number;
};

/**
 * Names the events of a stream whose times are ahead, and by how much: those with a sequence from `first` to below
 * `before`, and a time from `fromTs` to `toTs`. Times are microseconds.
 */
export type ClockCorrection = {
  first: bigint;
  before: bigint;
  fromTs: number;
  toTs: number;
  shift: number;
};

/** Returns the right time of an event. */
export function correctedTime(
  { first, before, fromTs, toTs, shift }: ClockCorrection,
  { sequence, ts }: { sequence: bigint; ts: number },
): number {
  const isAhead = sequence >= first && sequence < before && ts >= fromTs && ts <= toTs;
  return isAhead ? ts - shift : ts;
}

/** How long after the start of the process its wall clock may be taken back: a machine's clock may be wrong at boot. */
const UNCONFIRMED_MICROS = 3_600_000_000;
/** Longest restart over which a followed jump may be taken back. */
const LONGEST_RESTART_MICROS = 86_400_000_000;
const TOLERANCE_MICROS = 2_000_000;

/**
 * The times of a stream. They strictly increase whatever the wall clock does, except through {@link
 * StreamClock.setBack}.
 *
 * Where the wall clock falls behind the stream's time, times follow the monotonic clock, so all of them are ahead by
 * the same length and can be corrected. This needs no operator where the wall clock certainly was ahead:
 *
 * - it takes back a jump that was followed, also across a restart of the process;
 * - within an hour of the process's start it goes back to a time that is still later than the stream before that
 *   start: the machine booted with a clock that was ahead.
 */
export class StreamClock {
  readonly #clock: WallClock;
  /** The largest time of the stream before this process started. */
  readonly #floor: number;
  readonly #began: { sequence: bigint; ts: number; at: number };
  #latest: number;
  #jump: FollowedJump | null;

  /**
   * @param last the largest time of the stream so far; 0 for a new one
   * @param sequence of the first event of this process
   */
  constructor(
    clock: WallClock,
    { last, jump, sequence }: { last: number; jump: FollowedJump | null; sequence: bigint },
  ) {
    this.#clock = clock;
    this.#latest = last;
    this.#floor = last;
    const wall = clock.wall();
    const followed = jump && wall - jump.ts < LONGEST_RESTART_MICROS ? jump : null;
    this.#jump = followed;
    const withoutReturn = followed && isReturn(wall, last, followed) ? wall + followed.micros : wall;
    if (last - wall > AHEAD_MICROS) clock.set(Math.max(last, withoutReturn), followed?.micros);
    else if (followed) clock.set(clock.now(), followed.micros);
    const ts = Math.floor(clock.now());
    this.#began = { sequence, ts, at: ts };
  }

  readonly next: MicrosecondClock = () => {
    const time = Math.floor(this.#clock.now());
    this.#latest = time > this.#latest ? time : this.#latest + 1;
    return this.#latest;
  };

  /** The jump that was followed and not taken back. It must survive a restart. */
  get jump(): FollowedJump | null {
    return this.#jump;
  }

  /** Returns how far the stream's time is ahead of the wall clock, in microseconds; 0 when it is not. */
  ahead(): number {
    return Math.max(0, this.#latest - this.#clock.wall(), this.#clock.now() - this.#clock.wall());
  }

  /**
   * Checks the wall clock.
   *
   * @param sequence of the stream's next event
   * @returns what it did, and whether {@link setBack} is certainly right
   */
  check(sequence: bigint): (ClockStep & { isCertain: boolean }) | null {
    const found = this.#clock.check();
    if (found === null) return null;
    const { step, micros } = found;
    if (step === 'followed') this.#jump = { sequence, ts: Math.floor(this.#clock.now()), micros };
    const isCertain = step === 'returned' || (step === 'behind' && this.#isUnconfirmed());
    return { ...found, isCertain };
  }

  /**
   * Returns which events have times that are ahead of the wall clock. It changes nothing.
   *
   * @param sequence of the stream's next event
   */
  correction(sequence: bigint): ClockCorrection {
    const wall = Math.floor(this.#clock.wall());
    const shift = Math.floor(this.#clock.now()) - wall;
    const { sequence: first, ts: fromTs } = this.#aheadFrom(shift, wall);
    return { first, before: sequence, fromTs, toTs: this.#latest, shift };
  }

  /** Sets the stream's time back by a correction that was just returned. */
  setBack({ toTs, shift }: ClockCorrection): void {
    this.#clock.set(Math.floor(this.#clock.now()) - shift);
    // Corrected times end here; the next one follows them.
    this.#latest = toTs - shift;
    this.#jump = null;
  }

  /** Returns the first event that is ahead; where that is not known, the times later than now. */
  #aheadFrom(shift: number, wall: number): { sequence: bigint; ts: number } {
    if (this.#jump && Math.abs(shift - this.#jump.micros) <= TOLERANCE_MICROS) return this.#jump;
    return this.#isUnconfirmed() ? this.#began : { sequence: 0n, ts: wall };
  }

  #isUnconfirmed(): boolean {
    return (
      this.#clock.now() - this.#began.at < UNCONFIRMED_MICROS &&
      this.#jump === null &&
      this.#clock.wall() > this.#floor
    );
  }
}

/** Returns whether the wall clock shows the time without the jump, plus the duration of a restart. */
function isReturn(wall: number, last: number, jump: FollowedJump): boolean {
  const since = wall + jump.micros - last;
  return since >= -TOLERANCE_MICROS && since < LONGEST_RESTART_MICROS;
}
