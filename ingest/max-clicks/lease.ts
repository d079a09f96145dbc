// Imported: the global `performance` is a getter, which each use would call.
import { performance } from 'node:perf_hooks';

/** Outcome of a wait for a permit. `unlimited`: the link no longer has a limit. */
export type Take = 'taken' | 'spent' | 'unavailable' | 'unlimited';

type Waiter = { settle(take: Take): void };

/** One link's lease in this process. */
export type Lease = {
  readonly linkId: string;
  /** `max_clicks` as the table last had it; null before the first visitor. */
  maxClicks: number | null;
  /** Permits not taken yet. */
  permits: number;
  /**
   * The stream's total as PostgreSQL last reported it, or less; null before that. `granted - permits` is what was
   * spent.
   */
  granted: number | null;
  /** Generation of the lease; null while an unknown request may still change it. */
  generation: number | null;
  /** Size of the last grant. Below half of it the next one is requested. */
  lastGrant: number;
  /** All permits of all streams are spent. */
  spent: boolean;
  /** The permits must go back before anything else. */
  mustReturn: boolean;
  /** A request to PostgreSQL is running. */
  busy: boolean;
  /** Since when other processes have had all permits; null: they don't. */
  emptySince: number | null;
  /** No request before this time. All times are `performance.now()`, ms: a wall clock may step back. */
  pausedUntil: number;
  /** Time of the last check without a permit. */
  checkedAt: number;
  /** Time of the last permit taken or granted. */
  takenAt: number;
  /** Sets the stream's total. What exceeds the known total becomes permits. */
  setGranted(granted: number): void;
  wait(ms: number): Promise<Take>;
  waiting(): number;
  /** Gives permits to waiting visitors, first come first served. */
  serveWaiters(): void;
  /** Ends all waits with this outcome. */
  settleWaiters(take: Take): void;
};

export function createLease(linkId: string, maxClicks: number | null): Lease {
  const waiters = new Set<Waiter>();
  const lease: Lease = {
    linkId,
    maxClicks,
    permits: 0,
    granted: null,
    generation: null,
    lastGrant: 0,
    spent: false,
    mustReturn: false,
    busy: false,
    emptySince: null,
    pausedUntil: Number.NEGATIVE_INFINITY,
    checkedAt: Number.NEGATIVE_INFINITY,
    takenAt: Number.NEGATIVE_INFINITY,
    setGranted(granted) {
      const spent = (lease.granted ?? granted) - lease.permits;
      const fresh = Math.max(0, granted - spent) - lease.permits;
      lease.permits += fresh;
      // Never below what was spent. If the row has less, the next grants make up for it.
      lease.granted = spent + lease.permits;
      if (fresh <= 0) return;
      lease.lastGrant = fresh;
      lease.takenAt = performance.now();
    },
    wait(ms) {
      return new Promise((resolve) => {
        const timer = setTimeout(() => waiter.settle('unavailable'), ms);
        const waiter: Waiter = {
          settle(take) {
            clearTimeout(timer);
            waiters.delete(waiter);
            resolve(take);
          },
        };
        waiters.add(waiter);
      });
    },
    waiting: () => waiters.size,
    serveWaiters() {
      for (const waiter of waiters) {
        if (lease.permits === 0) return;
        lease.permits -= 1;
        waiter.settle('taken');
      }
    },
    settleWaiters(take) {
      for (const waiter of [...waiters]) waiter.settle(take);
    },
  };
  return lease;
}
