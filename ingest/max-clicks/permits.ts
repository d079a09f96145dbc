// Imported, because as a global it is a getter that every use calls.
import { performance } from 'node:perf_hooks';
import type { Logger } from '../../core/tier/log.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { claimLease, leaseCredits, returnCredits } from '../../sql/links/leases.ts';
import { createLease, type Lease, type Take } from './lease.ts';
import type { Outstanding } from './outstanding.ts';

/**
 * The permits that this process holds of links with `max_clicks`. A visit let through takes one at once; leases are
 * asked for in the background and given back when a link has been idle for a second.
 *
 * Exactness rests on three things. PostgreSQL never grants more than `max_clicks` in sum. What a stream holds is
 * `granted - spent`, where `spent` is kept here and, across a restart, worked out from the journal
 * (`outstanding.ts`). And `granted` is trusted only while nothing is under way on the lease that is not known here:
 * after a start, and after a request whose outcome is unknown, the lease is claimed first, which waits for what has
 * started and voids a give-back that comes later. What a claim finds unspent goes back before anything else.
 */
export type Permits = {
  /**
   * Takes a credit that is here already.
   *
   * @returns `wait`: {@link ask} for one
   */
  take(linkId: string, maxClicks: number): 'taken' | 'spent' | 'wait';
  /** Whether every credit is known to be spent. */
  isSpent(linkId: string, maxClicks: number): boolean;
  /** Waits for a credit, about a second at most. */
  request(linkId: string): Promise<Take>;
  /** Whether the link's permits are spent, without taking one: for visitors who use none. */
  checkSpent(linkId: string, maxClicks: number): Promise<boolean>;
  /** A visitor who was not let through after all. */
  release(linkId: string): void;
  /** Begins with what the last run has left. Nothing is let through before. */
  start(outstanding: Outstanding): void;
  /** Gives back what is left, as far as PostgreSQL answers within a second or so. */
  close(): Promise<void>;
};

const IDLE_MS = 1_000;
const SWEEP_MS = 250;
/** Idle leases that are seen to at once: one that is held in PostgreSQL is not to take a connection from visitors. */
const RETURNS_AT_ONCE = 4;
const WAIT_MS = 1_000;
const MOST_WAITERS = 2_000;
/** After "nothing to grant now" or an error, visitors are answered at once for so long. */
const PAUSE_MS = 100;

export function createPermits(given: { pool: Pool; streamId: string; log: Logger }): Permits {
  const { pool, streamId, log } = given;
  const leases = new Map<string, Lease>();
  const due = new Set<Lease>();
  let returning = 0;
  let started = false;
  let closing = false;
  const sweep = setInterval(returnIdle, SWEEP_MS);
  sweep.unref();

  function leaseOf(linkId: string, maxClicks: number): Lease {
    let lease = leases.get(linkId);
    if (lease === undefined) {
      lease = createLease(linkId, maxClicks);
      leases.set(linkId, lease);
    } else if (lease.maxClicks !== maxClicks) {
      // Permits granted under another limit go back first: a lower limit must hold for them as well.
      lease.mustReturn ||= lease.maxClicks !== null && lease.permits > 0;
      lease.maxClicks = maxClicks;
      lease.spent = false;
      lease.pausedUntil = Number.NEGATIVE_INFINITY;
    }
    return lease;
  }

  /** One request per link at a time; `work` repeats until nobody waits any more. */
  function work(lease: Lease): void {
    if (lease.busy) return;
    lease.busy = true;
    requestLease(lease, Math.max(1, lease.waiting()))
      .catch((error: unknown) => {
        log.warn({ err: error, link: lease.linkId }, 'max_clicks: no lease');
        lease.pausedUntil = performance.now() + PAUSE_MS;
        lease.settleWaiters('unavailable');
      })
      .finally(() => {
        lease.busy = false;
        if (lease.waiting() > 0) work(lease);
      });
  }

  async function requestLease(lease: Lease, needed: number): Promise<void> {
    if (needed > 0 && lease.spent) return lease.settleWaiters('spent');
    if (lease.generation === null) await claim(lease);
    if (lease.mustReturn) await returnUnused(lease);
    const { generation } = lease;
    // Should the response be lost, it may have brought permits that nobody here knows of.
    if (needed > 0) lease.generation = null;
    const response = await leaseCredits(pool, { linkId: lease.linkId, streamId, needed });
    lease.generation = generation;
    if (response.kind === 'unlimited') return lease.settleWaiters('unlimited');
    lease.setGranted(response.granted);
    if (response.kind === 'gone') {
      await returnUnused(lease);
      // Not kept: the table hears of the deletion at once, and the link may come back.
      return lease.settleWaiters('spent');
    }
    if (response.kind === 'none_left' && response.excess > 0 && lease.permits > 0) {
      // The limit was lowered.
      await returnUnused(lease);
      return requestLease(lease, needed);
    }
    lease.serveWaiters();
    if (response.kind === 'granted') return;
    lease.spent = response.spent && lease.permits === 0;
    if (!lease.spent) lease.pausedUntil = performance.now() + PAUSE_MS;
    lease.settleWaiters(lease.spent ? 'spent' : 'unavailable');
  }

  /** Finds out how the lease stands, for certain. */
  async function claim(lease: Lease): Promise<void> {
    const found = await claimLease(pool, { linkId: lease.linkId, streamId });
    // Nothing is known of it here, so the start found it used up: what is more than that was granted since.
    lease.granted ??= found.used;
    lease.setGranted(found.granted);
    lease.generation = found.generation;
    // They may have been granted under a higher limit than the present one.
    lease.mustReturn ||= lease.permits > 0;
  }

  async function returnUnused(lease: Lease): Promise<void> {
    for (;;) {
      if (lease.generation === null) await claim(lease);
      const { permits: count, generation, granted } = lease;
      lease.mustReturn = false;
      if (count === 0 || generation === null || granted === null) return;
      // Assumed given back until the response comes; should it be lost, the next claim tells.
      lease.permits = 0;
      lease.granted = granted - count;
      lease.generation = null;
      const total = await returnCredits(pool, { linkId: lease.linkId, streamId, count, generation });
      // A claim whose response was lost came late: nothing has gone back.
      if (total === null) continue;
      lease.generation = generation;
      return lease.setGranted(total);
    }
  }

  const isDue = (lease: Lease) =>
    !lease.busy &&
    lease.takenAt <= performance.now() - IDLE_MS &&
    (lease.permits > 0 || lease.generation === null);

  function returnIdle(): void {
    for (const lease of leases.values()) if (isDue(lease)) due.add(lease);
    while (returning < RETURNS_AT_ONCE && due.size > 0) void returnDue();
  }

  async function returnDue(): Promise<void> {
    returning += 1;
    for (const lease of due) {
      due.delete(lease);
      if (closing || !isDue(lease)) continue;
      lease.busy = true;
      const error: unknown = await returnUnused(lease).then(
        () => null,
        (reason: unknown) => reason,
      );
      lease.busy = false;
      if (lease.waiting() > 0) work(lease);
      if (error === null) continue;
      log.warn({ err: error, link: lease.linkId }, 'max_clicks: lease not returned, tried again');
      lease.takenAt = performance.now();
      await new Promise((resolve) => setTimeout(resolve, IDLE_MS).unref());
    }
    returning -= 1;
  }

  return {
    take(linkId, maxClicks) {
      if (!started) return 'wait';
      const lease = leaseOf(linkId, maxClicks);
      if (lease.mustReturn) return 'wait';
      if (lease.permits === 0) return lease.spent ? 'spent' : 'wait';
      lease.permits -= 1;
      lease.takenAt = performance.now();
      if (lease.permits < lease.lastGrant / 2 && !lease.spent && lease.pausedUntil < lease.takenAt) {
        work(lease);
      }
      return 'taken';
    },
    isSpent: (linkId, maxClicks) => started && leases.has(linkId) && leaseOf(linkId, maxClicks).spent,
    request(linkId) {
      const lease = leases.get(linkId);
      if (!started || closing || lease === undefined) return Promise.resolve('unavailable');
      if (lease.pausedUntil > performance.now() || lease.waiting() >= MOST_WAITERS) {
        return Promise.resolve('unavailable');
      }
      const waiting = lease.wait(WAIT_MS);
      work(lease);
      return waiting;
    },
    async checkSpent(linkId, maxClicks) {
      if (!started) return false;
      const lease = leaseOf(linkId, maxClicks);
      const now = performance.now();
      if (lease.spent || lease.permits > 0 || lease.busy || lease.checkedAt > now - PAUSE_MS) {
        return lease.spent;
      }
      lease.busy = true;
      lease.checkedAt = now;
      await requestLease(lease, 0)
        .catch(() => undefined)
        .finally(() => {
          lease.busy = false;
          if (lease.waiting() > 0) work(lease);
        });
      return lease.spent;
    },
    release(linkId) {
      const lease = leases.get(linkId);
      if (lease === undefined) return;
      lease.permits += 1;
      lease.spent = false;
      lease.serveWaiters();
    },
    start(outstanding) {
      for (const { linkId, spent } of outstanding) {
        const lease = createLease(linkId, null);
        // What it was granted beyond that is known once the lease has been claimed.
        lease.granted = spent;
        leases.set(linkId, lease);
      }
      started = true;
    },
    async close() {
      closing = true;
      clearInterval(sweep);
      const returns = [...leases.values()]
        .filter((lease) => lease.permits > 0 && !lease.busy)
        .map((lease) => {
          lease.busy = true;
          return returnUnused(lease);
        });
      await Promise.race([
        Promise.allSettled(returns),
        new Promise((resolve) => setTimeout(resolve, WAIT_MS).unref()),
      ]);
    },
  };
}
