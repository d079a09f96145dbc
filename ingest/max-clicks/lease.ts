// Imported, because as a global it is a getter that every use calls.
import { performance } from 'node:perf_hooks';

/** How a visitor's wait for a credit ended. `unlimited`: the link has no limit any more. */
export type Take = 'taken' | 'spent' | 'unavailable' | 'unlimited';

type Waiter = { settle(take: Take): void };

/** One link's permits in this process. */
export type Lease = {
  readonly linkId: string;
  /** The limit that the table last told; null before a visitor has come. */
  maxClicks: number | null;
  /** Permits that nobody has taken yet. */
  permits: number;
  /** The stream's own total as PostgreSQL last told it, or less; null before it has. Less `permits`: what was spent. */
  granted: number | null;
  /** The lease's generation; null while something may be under way on it that is not known here. */
  generation: number | null;
  /** Size of the last lease: half of it is when to ask for the next. */
  lastGrant: number;
  /** Every credit of every stream is spent. */
  spent: boolean;
  /** What is here has to go back before anything else happens. */
  mustReturn: boolean;
  /** A request to PostgreSQL is under way. */
  busy: boolean;
  /** Until then PostgreSQL is not asked. Milliseconds of `performance.now()`, as all times here: a wall clock may step back. */
  pausedUntil: number;
  /** When it was last asked how the link stands. */
  checkedAt: number;
  /** When the last credit was taken or leased. */
  takenAt: number;
  /** Takes PostgreSQL's word for the stream's total: what it is more than was known here is new credit. */
  setGranted(granted: number): void;
  wait(ms: number): Promise<Take>;
  waiting(): number;
  /** Gives permits to those who wait, first come first served. */
  serveWaiters(): void;
  /** Tells everybody who still waits. */
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
    pausedUntil: Number.NEGATIVE_INFINITY,
    checkedAt: Number.NEGATIVE_INFINITY,
    takenAt: Number.NEGATIVE_INFINITY,
    setGranted(granted) {
      const spent = (lease.granted ?? granted) - lease.permits;
      const fresh = Math.max(0, granted - spent) - lease.permits;
      lease.permits += fresh;
      // Never less than was spent: should the row tell less, the next permits granted make up for it.
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
