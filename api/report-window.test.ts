import { expect, test } from 'vitest';
import { reportWindow } from './report-window.ts';

const KEPT = { retention_months: 1 };

test('a window that begins before the data says where they begin, and holds nothing older', () => {
  const now = new Date();
  const begin = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1));
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
