// Imported: the global `performance` is a getter, which each use would call.
import { performance } from 'node:perf_hooks';
import type { Logger } from '../../core/tier/log.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { claimLease, leasePermits, leasesOfStream, returnPermits } from '../../sql/links/leases.ts';
import { createLease, type Lease, type Take } from './lease.ts';
import type { Outstanding } from './outstanding.ts';

/**
 * Permits of links with `max_clicks` that this process holds. A visitor takes one without waiting. Leases are
 * requested in the background, and returned after half a second without use.
 *
 * Exactness rests on three rules:
 * 1. PostgreSQL never grants more than `max_clicks` in total.
 * 2. A stream holds `granted - spent`. `spent` is counted here and, after a restart, recomputed from the journal
 *    (`outstanding.ts`).
 * 3. `granted` is trusted only while no unknown request can change the lease. After a start or a lost response the
 *    lease is claimed first: a claim waits for running requests and voids later returns. Permits that a claim finds
 *    go back before anything else.
 */
export type Permits = {
  /**
   * Takes a permit that is already here.
   *
   * @returns `wait`: call {@link request}
   */
  take(linkId: string, maxClicks: number): 'taken' | 'spent' | 'wait';
  /** Whether all permits are known to be spent. */
  isSpent(linkId: string, maxClicks: number): boolean;
  /** Waits for a permit, about a second at most. */
  request(linkId: string): Promise<Take>;
  /** Whether the permits are spent, for visitors that use none. */
  checkSpent(linkId: string, maxClicks: number): Promise<boolean>;
  /** Puts back a permit whose visitor was not redirected. */
  release(linkId: string): void;
  /** Starts with the permits that the last run spent. Before that, no visitor gets a permit. */
  start(outstanding: Outstanding): void;
  /** Returns unused permits, as far as PostgreSQL responds within a second. */
  close(): Promise<void>;
};

/** A visitor elsewhere waits for these permits for a second at most. */
const IDLE_MS = 500;
const SWEEP_MS = 250;
/** Returns that run at once: a lease locked in PostgreSQL must not use up the connections. */
const RETURNS_AT_ONCE = 4;
/**
 * Interval of the search for permits that this process holds without knowing. A request of an earlier run, or one whose
 * response was lost, may be granted after the lease was read. Visitors of other processes would wait for such permits
 * forever.
 */
const LOOK_MS = 30_000;
const WAIT_MS = 1_000;
const MOST_WAITERS = 2_000;
/** Pause after an error or an empty grant. During the pause after an error, visitors get their response at once. */
const PAUSE_MS = 100;
/**
 * Longest wait of visitors while other processes hold all permits. Those return unused permits, but a killed process
 * returns none before its restart.
 */
const EMPTY_MS = 3_000;

/**
 * @param given.waitMs longest wait for a permit, milliseconds
 * @param given.emptyMs how long visitors wait at most while other processes have all permits, milliseconds
 */
export function createPermits(given: {
  pool: Pool;
  streamId: string;
  log: Logger;
  waitMs?: number | undefined;
  emptyMs?: number;
}): Permits {
  const { pool, streamId, log, waitMs = WAIT_MS, emptyMs = EMPTY_MS } = given;
  const leases = new Map<string, Lease>();
  const due = new Set<Lease>();
  let returning = 0;
  let started = false;
  let closing = false;
  const sweep = setInterval(returnIdle, SWEEP_MS);
  sweep.unref();
  const look = setInterval(() => void findUnknown(), LOOK_MS);
  look.unref();

  function leaseOf(linkId: string, maxClicks: number): Lease {
    let lease = leases.get(linkId);
    if (lease === undefined) {
      lease = createLease(linkId, maxClicks);
      leases.set(linkId, lease);
    } else if (lease.maxClicks !== maxClicks) {
      // Permits of the former limit go back first: a lower limit applies to them too.
      lease.mustReturn ||= lease.maxClicks !== null && lease.permits > 0;
      lease.maxClicks = maxClicks;
      lease.spent = false;
      lease.pausedUntil = Number.NEGATIVE_INFINITY;
    }
    return lease;
  }

  /** Runs one request per link at a time until no visitor waits. */
  function work(lease: Lease): void {
    if (lease.busy) return;
    lease.busy = true;
    requestLease(lease, Math.max(1, lease.waiting()))
      .catch((error: unknown) => {
        log.warn({ err: error, link: lease.linkId }, 'failed to lease max_clicks permits; visitors get 503');
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
    // A lost response may have granted permits that this process does not know of.
    if (needed > 0) lease.generation = null;
    const response = await leasePermits(pool, { linkId: lease.linkId, streamId, needed });
    lease.generation = generation;
    if (response.kind === 'unlimited') return lease.settleWaiters('unlimited');
    lease.setGranted(response.granted);
    if (response.kind === 'gone') {
      await returnUnused(lease);
      // Not stored as spent: the table learns of the deletion, and the link may be restored.
      return lease.settleWaiters('spent');
    }
    if (response.kind === 'none_left' && response.excess > 0 && lease.permits > 0) {
      // The limit was lowered.
      await returnUnused(lease);
      return requestLease(lease, needed);
    }
    lease.serveWaiters();
    if (response.kind === 'granted') {
      lease.emptySince = null;
      return;
    }
    lease.spent = response.spent && lease.permits === 0;
    if (lease.spent) return lease.settleWaiters('spent');
    if (needed === 0) return;
    const now = performance.now();
    lease.emptySince ??= now;
    if (now - lease.emptySince < emptyMs && !closing) {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS).unref());
      return;
    }
    lease.pausedUntil = now + PAUSE_MS;
    lease.settleWaiters('unavailable');
  }

  /** Reads the lease and makes earlier requests void. */
  async function claim(lease: Lease): Promise<void> {
    const found = await claimLease(pool, { linkId: lease.linkId, streamId });
    // A lease unknown at the start was used up then, so permits beyond `used` were granted since.
    lease.granted ??= found.used;
    lease.setGranted(found.granted);
    lease.generation = found.generation;
    // They may have been granted under a higher limit.
    lease.mustReturn ||= lease.permits > 0;
  }

  async function returnUnused(lease: Lease): Promise<void> {
    for (;;) {
      if (lease.generation === null) await claim(lease);
      const { permits: count, generation, granted } = lease;
      lease.mustReturn = false;
      if (count === 0 || generation === null || granted === null) return;
      // Counted as returned until the response; after a lost one the next claim corrects it.
      lease.permits = 0;
      lease.granted = granted - count;
      lease.generation = null;
      const total = await returnPermits(pool, { linkId: lease.linkId, streamId, count, generation });
      // A later claim voided this return, so PostgreSQL took nothing back.
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

  /** Marks each lease that has permits in PostgreSQL and none here. The sweep claims the marked ones. */
  async function findUnknown(): Promise<void> {
    if (!started || closing) return;
    const found = await leasesOfStream(pool, streamId).catch(() => null);
    for (const { link_id } of found?.leases ?? []) {
      const lease = leases.get(link_id) ?? createLease(link_id, null);
      leases.set(link_id, lease);
      if (!lease.busy && lease.permits === 0) lease.generation = null;
    }
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
      log.warn({ err: error, link: lease.linkId }, 'failed to return max_clicks permits; will retry');
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
      const waiting = lease.wait(waitMs);
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
        // The claim of the lease finds permits granted beyond these.
        lease.granted = spent;
        leases.set(linkId, lease);
      }
      started = true;
    },
    async close() {
      closing = true;
      clearInterval(sweep);
      clearInterval(look);
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
