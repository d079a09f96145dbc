import { describe, expect, test } from 'vitest';
import { createWallClock, type WallClock } from '../../time/wall-clock.ts';
import { type FollowedJump, StreamClock } from './stream-clock.ts';

const SECOND = 1_000_000;
const HOUR = 3_600 * SECOND;
const YEAR = 365 * 24 * HOUR;
const NOW = 1_800_000_000 * SECOND;
const FIRST = 5n << 40n;

function fixed(source: number[]): WallClock {
  const now = () => source.shift() ?? 0;
  return { now, wall: () => 0, check: () => null, set: () => undefined };
}

function machine(wall = NOW) {
  const at = { wall, steady: 0 };
  const clock = createWallClock({ wall: () => at.wall, steady: () => at.steady, sinceBoot: () => at.steady });
  const pass = (micros: number) => {
    at.wall += micros;
    at.steady += micros;
  };
  const stream = (last: number, jump: FollowedJump | null = null) =>
    new StreamClock(clock, { last, jump, sequence: FIRST });
  return { at, pass, stream };
}

describe('the clock of a stream', () => {
  test('returns whole, strictly increasing microseconds, whatever its source returns', () => {
    const source = [0, 5.7, 5.9, 6.2, 3, 3, 7, 6.99, 100.5];
    const clock = new StreamClock(fixed(source), { last: 0, jump: null, sequence: FIRST });
    expect(Array.from({ length: 8 }, clock.next)).toEqual([5, 6, 7, 8, 9, 10, 11, 100]);
  });

  test('begins after the stream’s last time, and waits for a wall clock that is slightly behind', () => {
    const { pass, stream } = machine();
    const clock = stream(NOW + 2 * SECOND);
    expect([clock.next(), clock.next()]).toEqual([NOW + 2 * SECOND + 1, NOW + 2 * SECOND + 2]);
    pass(3 * SECOND);
    expect(clock.next()).toBe(NOW + 3 * SECOND);
  });

  test('reverses a followed jump when the wall clock does, with the events since', () => {
    const { at, pass, stream } = machine();
    const clock = stream(NOW - HOUR);
    pass(SECOND);
    const before = clock.next();
    at.wall += 10 * YEAR;
    expect(clock.check(FIRST + 1n)).toMatchObject({ step: 'held', isCertain: false });
    pass(61 * SECOND);
    expect(clock.check(FIRST + 9n)).toMatchObject({ step: 'followed' });
    const wrong = clock.next();
    expect(wrong).toBe(NOW + 10 * YEAR + 62 * SECOND);
    pass(HOUR);
    at.wall -= 10 * YEAR;
    const last = clock.next();
    expect(clock.check(FIRST + 40n)).toMatchObject({ step: 'returned', isCertain: true });
    const correction = clock.correction(FIRST + 40n);
    expect(correction).toEqual({
      first: FIRST + 9n,
      before: FIRST + 40n,
      fromTs: wrong,
      toTs: last,
      shift: 10 * YEAR,
    });
    clock.setBack(correction);
    expect(clock.next()).toBe(at.wall + 1);
    expect(clock.next()).toBeGreaterThan(before);
    expect([clock.ahead() < 10, clock.jump]).toEqual([true, null]);
  });

  test('reverses a followed jump that the wall clock reversed while the process was down', () => {
    const jump = { sequence: 77n, ts: NOW + 10 * YEAR - HOUR, micros: 10 * YEAR };
    const { at, pass, stream } = machine(NOW + 2 * SECOND);
    const clock = stream(NOW + 10 * YEAR, jump);
    expect(clock.next()).toBe(NOW + 10 * YEAR + 2 * SECOND);
    pass(SECOND);
    expect(clock.check(FIRST + 3n)).toMatchObject({ step: 'returned', isCertain: true });
    const correction = clock.correction(FIRST + 3n);
    expect(correction).toMatchObject({ first: 77n, fromTs: jump.ts, shift: 10 * YEAR });
    clock.setBack(correction);
    expect(clock.next()).toBe(at.wall);
  });

  test('is right at once when the clock of a machine that booted hours ahead is corrected', () => {
    const { at, pass, stream } = machine(NOW + 3 * HOUR);
    const clock = stream(NOW - 60 * SECOND);
    pass(30 * SECOND);
    const last = clock.next();
    at.wall -= 3 * HOUR;
    expect(clock.check(FIRST + 5n)).toMatchObject({ step: 'behind', isCertain: true });
    const correction = clock.correction(FIRST + 5n);
    expect(correction).toEqual({
      first: FIRST,
      before: FIRST + 5n,
      fromTs: NOW + 3 * HOUR,
      toTs: last,
      shift: 3 * HOUR,
    });
    clock.setBack(correction);
    expect(clock.next()).toBe(NOW + 30 * SECOND + 1);
  });

  test('continues when the wall clock goes back to before the process started: it may be wrong', () => {
    const { at, pass, stream } = machine();
    const clock = stream(NOW - SECOND);
    pass(10 * SECOND);
    at.wall -= HOUR;
    expect(clock.check(FIRST)).toMatchObject({ step: 'behind', isCertain: false });
    expect(clock.next()).toBe(NOW + 10 * SECOND);
    expect(clock.ahead()).toBe(HOUR);
    at.wall += HOUR;
    expect([clock.check(FIRST), clock.ahead()]).toEqual([null, 0]);
  });

  test('continues from marks that are ahead, and corrects the events later than now when it is set back', () => {
    const { at, pass, stream } = machine();
    const clock = stream(NOW + 10 * YEAR);
    pass(HOUR);
    const last = clock.next();
    expect(last).toBe(NOW + 10 * YEAR + HOUR);
    expect(clock.check(FIRST)).toMatchObject({ step: 'behind', isCertain: false });
    const correction = clock.correction(FIRST + 3n);
    expect(correction).toEqual({
      first: 0n,
      before: FIRST + 3n,
      fromTs: at.wall,
      toTs: last,
      shift: 10 * YEAR,
    });
  });
});
