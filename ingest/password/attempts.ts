import { createBoundedCache } from '../../core/caching/bounded-cache.ts';
import { bytesToUuid } from '../../core/ids.ts';

/**
 * Limits wrong passwords per link and address to five a minute, and per link to thirty for visitors who have not yet
 * entered the password: guesses from many addresses count together. At most as many checks of an address, and of a
 * link, run at once as may still be wrong; other attempts wait. Correct passwords never count.
 */
export type Attempts = {
  /**
   * Starts an attempt. Call it before the password is checked.
   *
   * @param wasLetIn whether the visitor gave the right password before
   * @returns `blocked` after five wrong passwords of the address in the last minute, `locked` after thirty of all;
   *   `busy` when too many attempts wait or this one waited too long
   */
  begin(linkId: string, address: Uint8Array, wasLetIn: boolean): Promise<Begun>;
};

export type Begun = Attempt | 'blocked' | 'locked' | 'busy';

/** `unchecked`: the attempt ended before the password was checked. */
export type Outcome = 'right' | 'wrong' | 'unchecked';

export type Attempt = {
  /** Ends the attempt; call it once. */
  end(outcome: Outcome): void;
};

/** Attempts for one link. */
type Ongoing = {
  /** Running checks, of all addresses and of each pair of link and address. */
  checking: number;
  ofPairs: Map<string, number>;
  waiting: Set<Waiting>;
};
type Visitor = { linkId: string; key: string; wasLetIn: boolean };
type Waiting = Visitor & { settle(begun: Begun): void };

/** Most wrong passwords a minute: of one address, and of all. */
export const MOST_WRONG = 5;
export const MOST_WRONG_OF_LINK = 30;
const WINDOW_MS = 60_000;
/** Cached pairs of link and address. */
const CAPACITY = 50_000;
/** Waiting attempts of one pair and of one link, and their longest wait in ms. A check takes some 40 ms. */
const MOST_WAITING = 50;
const MOST_WAITING_OF_LINK = 100;
const LONGEST_WAIT_MS = 5_000;

/**
 * @param given.now a monotonic clock, ms
 * @param given.waitMs longest wait of an attempt for those before it, ms
 */
export function createAttempts(given: { now?: () => number; waitMs?: number | undefined } = {}): Attempts {
  const { now = () => performance.now(), waitMs = LONGEST_WAIT_MS } = given;
  const wrongOnes = createBoundedCache<string, number[]>(CAPACITY);
  /** Not in the cache, which evicts. The caller bounds the number of checks. */
  const ongoing = new Map<string, Ongoing>();

  function recent(key: string): number[] {
    const since = now() - WINDOW_MS;
    return (wrongOnes.get(key) ?? []).filter((at) => at > since);
  }

  /** @returns null when it depends on running checks */
  function admit(visitor: Visitor): Exclude<Begun, 'busy'> | null {
    const { linkId, key, wasLetIn } = visitor;
    const wrongOfLink = recent(linkId).length;
    if (!wasLetIn && wrongOfLink >= MOST_WRONG_OF_LINK) return 'locked';
    const wrong = recent(key).length;
    if (wrong >= MOST_WRONG) return 'blocked';
    const link = ongoing.get(linkId) ?? { checking: 0, ofPairs: new Map(), waiting: new Set() };
    const ofPair = link.ofPairs.get(key) ?? 0;
    if (wrong + ofPair >= MOST_WRONG) return null;
    if (!wasLetIn && wrongOfLink + link.checking >= MOST_WRONG_OF_LINK) return null;
    link.checking += 1;
    link.ofPairs.set(key, ofPair + 1);
    ongoing.set(linkId, link);
    return { end: (outcome) => end(visitor, link, outcome) };
  }

  function end({ linkId, key }: Visitor, link: Ongoing, outcome: Outcome): void {
    link.checking -= 1;
    const ofPair = (link.ofPairs.get(key) ?? 1) - 1;
    if (ofPair > 0) link.ofPairs.set(key, ofPair);
    else link.ofPairs.delete(key);
    if (outcome === 'wrong') {
      for (const counted of [key, linkId]) wrongOnes.set(counted, [...recent(counted), now()]);
    }
    for (const one of link.waiting) {
      const begun = admit(one);
      if (begun === null) continue;
      link.waiting.delete(one);
      one.settle(begun);
    }
    // Without a check no attempt waits: each was admitted or refused.
    if (link.checking === 0) ongoing.delete(linkId);
  }

  function wait({ waiting }: Ongoing, visitor: Visitor): Promise<Begun> {
    return new Promise((resolve) => {
      const settle = (begun: Begun) => {
        clearTimeout(late);
        resolve(begun);
      };
      const one = { ...visitor, settle };
      const late = setTimeout(() => {
        waiting.delete(one);
        resolve('busy');
      }, waitMs);
      waiting.add(one);
    });
  }

  return {
    async begin(linkId, address, wasLetIn) {
      const visitor = { linkId, key: pairOf(linkId, address), wasLetIn };
      const begun = admit(visitor);
      if (begun !== null) return begun;
      const link = ongoing.get(linkId);
      if (link === undefined || link.waiting.size >= MOST_WAITING_OF_LINK) return 'busy';
      const ofPair = [...link.waiting].filter(({ key }) => key === visitor.key).length;
      return ofPair >= MOST_WAITING ? 'busy' : wait(link, visitor);
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
