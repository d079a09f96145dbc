import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { requestingHeartbeats } from './heartbeat-requests.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('heartbeats are requested while it is not quiet, and at once when the quiet ends', () => {
  let isQuiet = false;
  let requests = 0;
  const stopping = new AbortController();
  const own = {
    isQuiet: () => isQuiet,
    end() {
      isQuiet = false;
    },
    untilStoreMs: () => 0,
  };
  const reader = {
    requestHeartbeats() {
      requests += 1;
    },
  };
  const quiet = requestingHeartbeats(own, reader, stopping.signal);
  expect(requests).toBe(1);
  vi.advanceTimersByTime(2_000);
  expect(requests).toBe(3);
  isQuiet = true;
  vi.advanceTimersByTime(60_000);
  expect(requests).toBe(3);
  quiet.end();
  expect([quiet.isQuiet(), requests]).toEqual([false, 4]);
  quiet.end();
  expect(requests).toBe(4);
  stopping.abort();
  vi.advanceTimersByTime(60_000);
  expect(requests).toBe(4);
});
