import { createBoundedCache } from '../../core/caching/bounded-cache.ts';
import { bytesToUuid } from '../../core/ids.ts';

/**
 * Limits wrong passwords per link and address to five a minute, and per link to thirty for visitors who have not yet
 * entered the password: guesses from many addresses count together. At most as many checks of an address run at once as
 * may still be wrong; other attempts wait. Correct passwords never count.
 */
export type Attempts = {
  /**
   * Starts an attempt. Call it before the password is checked.
   *
   * @param wasLetIn whether the visitor's cookie is one of an earlier right password
   * @returns `blocked` after five wrong passwords of the address in the last minute, `locked` after thirty of all; `busy` when too many attempts wait or this one
   * waited too long
   */
  begin(linkId: string, address: Uint8Array, wasLetIn: boolean): Promise<Begun>;
  /** Whether this address gave the right password before, as far as this process has cached it. */
  wasLetIn(linkId: string, address: Uint8Array): boolean;
};

export type Begun = Attempt | 'blocked' | 'locked' | 'busy';

/** `unchecked`: the attempt ended before the password was checked. */
export type Outcome = 'right' | 'wrong' | 'unchecked';

export type Attempt = {
  /** Ends the attempt; call it once. */
  end(outcome: Outcome): void;
};

/** Attempts for one link from one address. */
type Ongoing = { checking: number; waiting: Set<(begun: Begun) => void> };

/** In a minute, of one address and of all. */
export const MOST_WRONG = 5;
export const MOST_WRONG_OF_LINK = 30;
const WINDOW_MS = 60_000;
/** Cached pairs of link and address. */
const CAPACITY = 50_000;
/** Waiting attempts of one pair, and their longest wait in ms. A check takes some 40 ms. */
const MOST_WAITING = 50;
const LONGEST_WAIT_MS = 5_000;

/**
 * @param given.now a monotonic clock, ms
 * @param given.waitMs longest wait of an attempt for those before it, ms
 */
export function createAttempts(given: { now?: () => number; waitMs?: number | undefined } = {}): Attempts {
  const { now = () => performance.now(), waitMs = LONGEST_WAIT_MS } = given;
  const wrongOnes = createBoundedCache<string, number[]>(CAPACITY);
  /** Pairs of link and address from which the right password came. */
  const letIn = createBoundedCache<string, true>(CAPACITY);
  /** Not in the cache, which evicts. The caller bounds the number of checks. */
  const ongoing = new Map<string, Ongoing>();

  function recent(key: string): number[] {
    const since = now() - WINDOW_MS;
    return (wrongOnes.get(key) ?? []).filter((at) => at > since);
  }

  /** @returns null when it depends on running checks */
  function admit(key: string): Attempt | 'blocked' | null {
    const wrong = recent(key).length;
    if (wrong >= MOST_WRONG) return 'blocked';
    const pair = ongoing.get(key) ?? { checking: 0, waiting: new Set() };
    if (wrong + pair.checking >= MOST_WRONG) return null;
    pair.checking += 1;
    ongoing.set(key, pair);
    return { end: (outcome) => end(key, pair, outcome) };
  }

  function end(key: string, pair: Ongoing, outcome: Outcome): void {
    pair.checking -= 1;
    if (outcome === 'right') letIn.set(key, true);
    if (outcome === 'wrong') {
      const [link = ''] = key.split(' ', 1);
      for (const counted of [key, link]) wrongOnes.set(counted, [...recent(counted), now()]);
    }
    for (const settle of pair.waiting) {
      const begun = admit(key);
      if (begun === null) break;
      pair.waiting.delete(settle);
      settle(begun);
    }
    // Without a check no attempt waits: each was admitted or blocked.
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
      }, waitMs);
      waiting.add(settle);
    });
  }

  return {
    wasLetIn: (linkId, address) => letIn.get(pairOf(linkId, address)) !== undefined,
    async begin(linkId, address, wasLetIn) {
      const key = pairOf(linkId, address);
      if (!wasLetIn && recent(linkId).length >= MOST_WRONG_OF_LINK) return 'locked';
      const begun = admit(key);
      if (begun !== null) return begun;
      const pair = ongoing.get(key);
      return pair === undefined || pair.waiting.size >= MOST_WAITING ? 'busy' : wait(pair);
    },
  };
}

/** Names a link and an address. An IPv6 /64 counts as one address: one subscriber has all of it. */
export function pairOf(linkId: string, address: Uint8Array): string {
  const prefix = Uint8Array.from(address);
  const isMapped = prefix[10] === 0xff && prefix[11] === 0xff && prefix.subarray(0, 10).every((b) => b === 0);
  if (!isMapped) prefix.fill(0, 8);
  return `${linkId} ${bytesToUuid(prefix)}`;
}
