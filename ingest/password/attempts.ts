import { createBoundedCache } from '../../core/caching/bounded-cache.ts';
import { bytesToUuid } from '../../core/ids.ts';

/**
 * Counts wrong passwords per link and address. Five may be wrong in a minute, so at most as many are checked at once as
 * may still be wrong: who comes meanwhile waits until one of them is decided. Right ones never count, however many come
 * at once from behind one address.
 */
export type Attempts = {
  /**
   * To be called before a password is checked.
   *
   * @returns `blocked` after five wrong ones in the last minute; `busy` when too many wait, or this one waited too long
   */
  begin(linkId: string, address: Uint8Array): Promise<Begun>;
};

export type Begun = Attempt | 'blocked' | 'busy';

export type Attempt = {
  /** To be called once, whatever came of it. One that was not checked was not wrong. */
  end(wrong: boolean): void;
};

/** Attempts for one link from one address, some of which are being checked. */
type Ongoing = { checking: number; waiting: Set<(begun: Begun) => void> };

const MOST_WRONG = 5;
const WINDOW_MS = 60_000;
/** Pairs of link and address remembered at most: whoever has more addresses than this has better ways. */
const CAPACITY = 50_000;
/** Of one pair, and in milliseconds. A check takes some 40 ms; whoever has to wait longer should come again. */
const MOST_WAITING = 50;
const LONGEST_WAIT_MS = 5_000;

/** @param now milliseconds, monotone */
export function createAttempts(now: () => number = () => performance.now()): Attempts {
  const wrongOnes = createBoundedCache<string, number[]>(CAPACITY);
  /** Apart from the cache, which forgets: as many as there are checks, which the caller bounds. */
  const ongoing = new Map<string, Ongoing>();

  function recent(key: string): number[] {
    const since = now() - WINDOW_MS;
    return (wrongOnes.get(key) ?? []).filter((at) => at > since);
  }

  /** Null: it depends on those that are being checked. */
  function admit(key: string): Attempt | 'blocked' | null {
    const wrong = recent(key).length;
    if (wrong >= MOST_WRONG) return 'blocked';
    const pair = ongoing.get(key) ?? { checking: 0, waiting: new Set() };
    if (wrong + pair.checking >= MOST_WRONG) return null;
    pair.checking += 1;
    ongoing.set(key, pair);
    return { end: (isWrong) => end(key, pair, isWrong) };
  }

  function end(key: string, pair: Ongoing, isWrong: boolean): void {
    pair.checking -= 1;
    if (isWrong) wrongOnes.set(key, [...recent(key), now()]);
    for (const settle of pair.waiting) {
      const begun = admit(key);
      if (begun === null) break;
      pair.waiting.delete(settle);
      settle(begun);
    }
    // With none being checked none waits either: it was let in, or blocked.
    if (pair.checking === 0) ongoing.delete(key);
  }

  function wait({ waiting }: Ongoing): Promise<Begun> {
    return new Promise((resolve) => {
      const settle = (begun: Begun) => {
        clearTimeout(late);
        resolve(begun);
      };
      const late = setTimeout(() => {
        waiting.delete(settle);
        resolve('busy');
      }, LONGEST_WAIT_MS);
      waiting.add(settle);
    });
  }

  return {
    async begin(linkId, address) {
      const key = keyOf(linkId, address);
      const begun = admit(key);
      if (begun !== null) return begun;
      const pair = ongoing.get(key);
      return pair === undefined || pair.waiting.size >= MOST_WAITING ? 'busy' : wait(pair);
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
