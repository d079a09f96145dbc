import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { previousWindow, reportWindow } from './report-window.ts';

const KEPT = { retention_months: 1 };
const NOW = new Date('2026-11-30T23:59:59.999Z');

beforeEach(() => {
  vi.useFakeTimers({ now: NOW, toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('a window that begins before the data says where they begin, and holds nothing older', () => {
  const begin = new Date('2026-10-01');
  const { shown, span } = reportWindow({ days: 365 }, KEPT);
  expect(shown.data_from).toBe(begin.toISOString());
  expect(span.from).toBe(BigInt(begin.getTime()) * 1_000_000n);
  expect(span.to).toBeGreaterThan(span.from);
  expect(Date.parse(shown.from)).toBeLessThan(begin.getTime());
});

test('a window inside the data, and one of a workspace that keeps all, is as it was requested', () => {
  expect(reportWindow({ days: 1 }, KEPT).shown).not.toHaveProperty('data_from');
  expect(reportWindow({ days: 365 }, { retention_months: null }).shown).not.toHaveProperty('data_from');
  expect(reportWindow({ days: 365 }).shown).not.toHaveProperty('data_from');
});

test('a window that ends before the data is empty', () => {
  const { span } = reportWindow({ from: '2020-01-01', to: '2020-02-01' }, KEPT);
  expect(span.from).toBe(span.to);
});

test('the previous window is as long as the one that was requested, and says where the data begin', () => {
  const now = new Date();
  const begin = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1)).toISOString();
  const whole = reportWindow({ from: '2020-01-01', to: '2020-01-11' });
  expect(previousWindow(whole, null, 'UTC')).toMatchObject({
    shown: { from: '2019-12-22T00:00:00.000Z', to: '2020-01-01T00:00:00.000Z' },
    span: {
      from: BigInt(Date.UTC(2019, 11, 22)) * 1_000_000n,
      to: BigInt(Date.UTC(2020, 0, 1)) * 1_000_000n,
    },
  });
  const cut = reportWindow({ days: 90 }, KEPT);
  const { shown, span } = previousWindow(cut, KEPT, 'UTC');
  expect(shown).toEqual({ from: expect.any(String), to: cut.shown.from, data_from: begin });
  expect(Date.parse(shown.to) - Date.parse(shown.from)).toBe(90 * 86_400_000);
  expect(span.from).toBe(span.to);
});
