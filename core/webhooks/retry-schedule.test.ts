import { expect, test, vi } from 'vitest';
import { parseRetryAfter, RETRY_WAITS, retryWait } from './retry-schedule.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

test('the waits are 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h, and then retries end', () => {
  const waits = [1, 2, 3, 4, 5, 6, 7, 8].map((attempts) => retryWait(attempts, null, 0));
  expect(waits).toEqual([
    5 * SECOND,
    5 * MINUTE,
    30 * MINUTE,
    2 * HOUR,
    5 * HOUR,
    10 * HOUR,
    10 * HOUR,
    null,
  ]);
});

test('jitter makes a wait up to a fifth longer', () => {
  for (const [index, wait] of RETRY_WAITS.entries()) {
    expect(retryWait(index + 1, null, 1)).toBe(Math.round(wait * 1.2));
    expect(retryWait(index + 1, null, 0.5)).toBe(Math.round(wait * 1.1));
  }
});

test('a longer Retry-After is used, up to five days', () => {
  expect(retryWait(1, 4 * SECOND, 0)).toBe(5 * SECOND);
  expect(retryWait(1, 90 * SECOND, 1)).toBe(90 * SECOND);
  expect(retryWait(2, 90 * SECOND, 0)).toBe(5 * MINUTE);
  expect(retryWait(1, 365 * 24 * HOUR, 0)).toBe(120 * HOUR);
  expect(retryWait(8, 90 * SECOND, 0)).toBeNull();
});

test('Retry-After is parsed as seconds or as an HTTP date', () => {
  const now = Date.UTC(2026, 10, 20, 10, 0, 0);
  expect(parseRetryAfter('120', now)).toBe(120 * SECOND);
  expect(parseRetryAfter(' 0 ', now)).toBe(0);
  expect(parseRetryAfter('Fri, 20 Nov 2026 10:00:30 GMT', now)).toBe(30 * SECOND);
  expect(parseRetryAfter('Fri, 20 Nov 2026 09:00:00 GMT', now)).toBe(0);
  for (const nothing of [undefined, '', 'soon', '-5', '1.5', '5-5', '2026-11-20']) {
    expect([nothing, parseRetryAfter(nothing, now)]).toEqual([nothing, null]);
  }
});

test.each(['UTC', 'America/New_York', 'Asia/Kolkata'])(
  'an HTTP date in each of its forms is UTC in %s',
  (zone) => {
    vi.stubEnv('TZ', zone);
    try {
      const now = Date.UTC(2026, 10, 6, 10, 0, 0);
      const forms = [
        'Fri, 06 Nov 2026 11:00:00 GMT',
        'Friday, 06-Nov-26 11:00:00 GMT',
        'Fri Nov  6 11:00:00 2026',
      ];
      expect(forms.map((form) => parseRetryAfter(form, now))).toEqual([HOUR, HOUR, HOUR]);
    } finally {
      vi.unstubAllEnvs();
    }
  },
);
