import { describe, expect, test } from 'vitest';
import { createWallClock } from './wall-clock.ts';

const SECOND = 1_000_000;
const HOUR = 3_600 * SECOND;
const START = 1_800_000_000 * SECOND;

function machine() {
  const at = { wall: START, steady: 0, asleep: 0 };
  const clock = createWallClock({
    wall: () => at.wall,
    steady: () => at.steady,
    sinceBoot: () => at.steady + at.asleep,
  });
  const pass = (micros: number) => {
    at.wall += micros;
    at.steady += micros;
  };
  return { at, clock, pass };
}

describe('the wall clock', () => {
  test("is within two milliseconds of the system's", () => {
    const clock = createWallClock();
    clock.check();
    const before = Date.now() * 1000;
    const now = clock.now();
    const after = Date.now() * 1000;
    expect(now).toBeGreaterThan(before - 2000);
    expect(now).toBeLessThan(after + 2000);
  });

  test('takes no pause of the process between two readings for a step', () => {
    const { at, pass } = machine();
    let pauses = 0;
    const pausing = () => {
      const { wall } = at;
      if (pauses-- > 0) pass(20 * SECOND);
      return wall;
    };
    const clock = createWallClock({ wall: pausing, steady: () => at.steady, sinceBoot: () => at.steady });
    pauses = 1;
    expect(clock.check()).toBeNull();
    expect(clock.now()).toBe(at.wall);
  });

  test('does not follow a jump ahead that is reversed within a minute', () => {
    const { at, clock, pass } = machine();
    at.wall += 10 * HOUR;
    expect(clock.check()).toEqual({ step: 'held', micros: 10 * HOUR });
    pass(59 * SECOND);
    expect(clock.check()).toBeNull();
    expect(clock.now()).toBe(START + 59 * SECOND);
    at.wall -= 10 * HOUR;
    expect(clock.check()).toEqual({ step: 'withdrawn', micros: 10 * HOUR });
    expect(clock.now()).toBe(at.wall);
  });

  test('follows a jump ahead that has held for a minute, and tells when it is reversed', () => {
    const { at, clock, pass } = machine();
    at.wall += HOUR;
    clock.check();
    pass(60 * SECOND);
    expect(clock.check()).toEqual({ step: 'followed', micros: HOUR });
    expect(clock.now()).toBe(at.wall);
    pass(HOUR);
    at.wall -= HOUR;
    expect(clock.check()).toEqual({ step: 'returned', micros: HOUR });
    expect(clock.now(), 'until it is set').toBe(at.wall + HOUR);
    clock.set(at.wall);
    expect(clock.check()).toBeNull();
  });

  test('restarts the minute when the wall clock jumps again', () => {
    const { at, clock, pass } = machine();
    at.wall += HOUR;
    clock.check();
    pass(50 * SECOND);
    at.wall += HOUR;
    expect(clock.check()).toEqual({ step: 'held', micros: 2 * HOUR });
    pass(50 * SECOND);
    expect(clock.check()).toBeNull();
  });

  test('follows at once when the machine slept for that long', () => {
    const { at, clock } = machine();
    at.wall += 8 * HOUR;
    at.asleep += 8 * HOUR;
    expect(clock.check()).toBeNull();
    expect(clock.now()).toBe(at.wall);
  });

  test('follows steps of up to a second ahead and five seconds back at once', () => {
    const { at, clock } = machine();
    for (const step of [0.9 * SECOND, -4.9 * SECOND, -2_000]) {
      at.wall += step;
      expect(clock.check()).toBeNull();
      expect(clock.now()).toBe(at.wall);
    }
  });

  test('continues with the monotonic clock when the wall clock goes further back', () => {
    const { at, clock, pass } = machine();
    at.wall -= HOUR;
    expect(clock.check()).toEqual({ step: 'behind', micros: HOUR });
    pass(SECOND);
    expect(clock.now()).toBe(START + SECOND);
    at.wall += HOUR;
    expect(clock.check()).toBeNull();
    expect(clock.now()).toBe(at.wall);
  });
});
