import {
  AHEAD_MICROS,
  type ClockStep,
  type MicrosecondClock,
  type WallClock,
} from '../../time/wall-clock.ts';

/** A jump of the wall clock that was followed: from this event on the stream's times may be ahead by as much. */
export type FollowedJump = {
  /** Of the first event after it. */
  sequence: bigint;
  /** Time of that event, microseconds. */
  ts: number;
  /** Length of the jump, microseconds. */
  micros: number;
};

/**
 * Says which events of a stream have times that are ahead, and by how much: those with a sequence from `first` up to, not including,
 * `before` and a time from `fromTs` to `toTs`. Times are microseconds.
 */
export type ClockCorrection = {
  first: bigint;
  before: bigint;
  fromTs: number;
  toTs: number;
  shift: number;
};

/** A clock that a process has just started with may be wrong, as a machine's at boot: for so long it may be taken back. */
const UNCONFIRMED_MICROS = 3_600_000_000;
/** What a restart may take: a jump that was followed before it is taken back after it. */
const LONGEST_RESTART_MICROS = 86_400_000_000;
const TOLERANCE_MICROS = 2_000_000;

/**
 * The times of a stream: strictly increasing whatever the wall clock does, except where {@link StreamClock.setBack} says so.
 *
 * Where the wall clock falls behind the stream's time, the times run on with the monotonic clock, so all of them are ahead by the
 * same length and can be put right. That happens without an operator where it is certain that the wall clock was ahead:
 *
 * - it takes back a jump that was followed, also over a restart of the process;
 * - within an hour of the process's start it goes back to a time that is still later than all of the stream before that start:
 *   the machine booted with a clock that was ahead.
 */
export class StreamClock {
  readonly #clock: WallClock;
  /** The largest time of the stream before this process began. */
  readonly #floor: number;
  /** The first event of this process. */
  readonly #began: { sequence: bigint; ts: number; at: number };
  #latest: number;
  #jump: FollowedJump | null;

  /**
   * @param last the largest time that the stream has given so far; 0 for a new one
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
    const kept = jump && wall - jump.ts < LONGEST_RESTART_MICROS ? jump : null;
    this.#jump = kept;
    const withoutReturn = kept && isReturn(wall, last, kept) ? wall + kept.micros : wall;
    if (last - wall > AHEAD_MICROS) clock.set(Math.max(last, withoutReturn), kept?.micros);
    else if (kept) clock.set(clock.now(), kept.micros);
    const ts = Math.floor(clock.now());
    this.#began = { sequence, ts, at: ts };
  }

  /** The time of the next event. */
  readonly next: MicrosecondClock = () => {
    const time = Math.floor(this.#clock.now());
    this.#latest = time > this.#latest ? time : this.#latest + 1;
    return this.#latest;
  };

  /** The jump that was followed and not taken back: to be kept over a restart. */
  get jump(): FollowedJump | null {
    return this.#jump;
  }

  /** How far the stream's time is ahead of the wall clock, microseconds; 0 when it is not. */
  ahead(): number {
    return Math.max(0, this.#latest - this.#clock.wall(), this.#clock.now() - this.#clock.wall());
  }

  /**
   * Looks at the wall clock.
   *
   * @param sequence of the stream's next event
   * @returns what it did, and whether {@link setBack} is certain to be right
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
   * Sets the stream's time back to the wall clock's.
   *
   * @param sequence of the stream's next event
   * @returns which events before it have times that are ahead
   */
  setBack(sequence: bigint): ClockCorrection {
    const wall = Math.floor(this.#clock.wall());
    const shift = Math.floor(this.#clock.now()) - wall;
    const { sequence: first, ts: fromTs } = this.#aheadFrom(shift, wall);
    const correction = { first, before: sequence, fromTs, toTs: this.#latest, shift };
    this.#clock.set(wall);
    // Corrected times end here, and the next one comes after them.
    this.#latest -= shift;
    this.#jump = null;
    return correction;
  }

  /** @returns the first event that is ahead; where that is not known, those that are later than now */
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

/** Whether the wall clock stands where it would without the jump, the duration of a restart later. */
function isReturn(wall: number, last: number, jump: FollowedJump): boolean {
  const since = wall + jump.micros - last;
  return since >= -TOLERANCE_MICROS && since < LONGEST_RESTART_MICROS;
}
