import { createBoundedCache } from '../../core/bounded-cache.ts';
import { bytesToUuid } from '../../core/ids.ts';

/** Counts wrong passwords per link and address. */
export type Attempts = {
  /**
   * Counts one attempt before it is checked, so that many at once are not checked at once.
   *
   * @returns false when there were five wrong ones in the last minute; the attempt is not counted then
   */
  begin(linkId: string, address: Uint8Array): boolean;
  /** The attempt was right, or was never checked: it does not count. */
  forget(linkId: string, address: Uint8Array): void;
};

const MOST_WRONG = 5;
const WINDOW_MS = 60_000;
/** Pairs of link and address remembered at most: whoever has more addresses than this has better ways. */
const CAPACITY = 50_000;

/** @param now milliseconds, monotone */
export function createAttempts(now: () => number = () => performance.now()): Attempts {
  const attempts = createBoundedCache<string, number[]>(CAPACITY);

  function recent(key: string): number[] {
    const since = now() - WINDOW_MS;
    return (attempts.get(key) ?? []).filter((at) => at > since);
  }

  return {
    begin(linkId, address) {
      const key = keyOf(linkId, address);
      const times = recent(key);
      if (times.length >= MOST_WRONG) return false;
      attempts.set(key, [...times, now()]);
      return true;
    },
    forget(linkId, address) {
      const key = keyOf(linkId, address);
      attempts.set(key, recent(key).slice(0, -1));
    },
  };
}

/** One subscriber has a whole IPv6 /64 to choose addresses from: it counts as one. */
function keyOf(linkId: string, address: Uint8Array): string {
  const prefix = Uint8Array.from(address);
  const isMapped = prefix[10] === 0xff && prefix[11] === 0xff && prefix.subarray(0, 10).every((b) => b === 0);
  if (!isMapped) prefix.fill(0, 8);
  return `${linkId} ${bytesToUuid(prefix)}`;
}
