// Imported, because as a global it is a getter that every use calls.
import { performance } from 'node:perf_hooks';

/** How a visitor's wait for a credit ended. `unlimited`: the link has no limit any more. */
export type Take = 'taken' | 'spent' | 'unavailable' | 'unlimited';

type Waiter = { settle(take: Take): void };

/** One link's credits in this process. */
export type Account = {
  readonly linkId: string;
  /** The limit that the table last told; null before a visitor has come. */
  maxClicks: number | null;
  /** Credits that nobody has taken yet. */
  credits: number;
  /** The stream's own total as PostgreSQL last told it, or less; null before it has. Less `credits`: what was spent. */
  granted: number | null;
  /** The lease's generation; null while something may be under way on it that is not known here. */
  generation: number | null;
  /** Size of the last lease: half of it is when to ask for the next. */
  lastLease: number;
  /** Every credit of every stream is spent. */
  spent: boolean;
  /** What is here has to go back before anything else happens. */
  mustReturn: boolean;
  /** A request to PostgreSQL is under way. */
  busy: boolean;
  /** Until then PostgreSQL is not asked. Milliseconds of `performance.now()`, as all times here: a wall clock may step back. */
  pausedUntil: number;
  /** When it was last asked how the link stands. */
  lookedAt: number;
  /** When the last credit was taken or leased. */
  takenAt: number;
  /** Takes PostgreSQL's word for the stream's total: what it is more than was known here is new credit. */
  setGranted(granted: number): void;
  wait(ms: number): Promise<Take>;
  waiting(): number;
  /** Gives credits to those who wait, first come first served. */
  serveWaiters(): void;
  /** Tells everybody who still waits. */
  answerWaiters(take: Take): void;
};

export function createAccount(linkId: string, maxClicks: number | null): Account {
  const waiters = new Set<Waiter>();
  const account: Account = {
    linkId,
    maxClicks,
    credits: 0,
    granted: null,
    generation: null,
    lastLease: 0,
    spent: false,
    mustReturn: false,
    busy: false,
    pausedUntil: Number.NEGATIVE_INFINITY,
    lookedAt: Number.NEGATIVE_INFINITY,
    takenAt: Number.NEGATIVE_INFINITY,
    setGranted(granted) {
      const spent = (account.granted ?? granted) - account.credits;
      const fresh = Math.max(0, granted - spent) - account.credits;
      account.credits += fresh;
      // Never less than was spent: should the row tell less, the next credits granted make up for it.
      account.granted = spent + account.credits;
      if (fresh <= 0) return;
      account.lastLease = fresh;
      account.takenAt = performance.now();
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
        if (account.credits === 0) return;
        account.credits -= 1;
        waiter.settle('taken');
      }
    },
    answerWaiters(take) {
      for (const waiter of [...waiters]) waiter.settle(take);
    },
  };
  return account;
}
