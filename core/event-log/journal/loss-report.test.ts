import pino from 'pino';
import { expect, test } from 'vitest';
import { LossReport } from './loss-report.ts';

function report() {
  const lines: { events: number; msg: string }[] = [];
  const clock = { now: Date.UTC(2026, 10, 25, 9, 39) };
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  return { lines, clock, loss: new LossReport(log, () => clock.now) };
}

test('a loss is logged when it begins, once a minute with its count, and when it ends', () => {
  const { lines, clock, loss } = report();
  for (let second = 0; second < 150; second++) {
    for (let write = 0; write < 4; write++) {
      expect(loss.begin('disk_full')).toBe('disk_full');
      loss.count(10);
    }
    clock.now += 1_000;
  }
  expect(loss.current()).toEqual({
    reason: 'disk full',
    since: Date.UTC(2026, 10, 25, 9, 39),
    events: 6_000,
  });
  loss.end(true);
  expect(loss.current()).toBeNull();
  expect(lines.map(({ events }) => events)).toEqual([0, 2_400, 4_800, 6_000]);
  expect(lines[0]?.msg).toBe('the journal is losing events: disk full');
  loss.begin('disk_full');
  expect(loss.current()?.events).toBe(0);
});

test('heartbeats that fit where events do not end no loss, unless nothing was refused for a while', () => {
  const { lines, clock, loss } = report();
  loss.begin('disk_error');
  loss.end(false);
  expect(loss.current()?.reason).toBe('disk rejects writes');
  clock.now += 11_000;
  loss.end(false);
  expect(loss.current()).toBeNull();
  expect(lines).toHaveLength(2);
});
