import { expect, test } from 'vitest';
import { windowOf, windowQuery } from './window.ts';

const windowIn = (query: string) => windowOf(new URLSearchParams(query));
const USUAL = { kind: 'days', days: 30 };

test('reads a range of two valid days', () => {
  expect(windowIn('from=2024-02-29&to=2024-03-01')).toEqual({
    kind: 'range',
    from: '2024-02-29',
    to: '2024-03-01',
  });
  expect(windowIn('days=7')).toEqual({ kind: 'days', days: 7 });
});

test.each([
  'from=2026-13-01&to=2026-13-01',
  'from=2026-02-30&to=2026-03-01',
  'from=2026-02-01&to=2026-02-29',
  'from=2026-00-01&to=2026-01-01',
  'from=2026-03-02&to=2026-03-01',
  'from=yesterday&to=today',
  'days=0',
])('falls back to the default range: %s', (query) => {
  expect(windowIn(query)).toEqual(USUAL);
  expect(windowQuery(windowIn(query))).toEqual({ days: 30 });
});
