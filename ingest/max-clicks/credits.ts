// Imported, because as a global it is a getter that every use calls.
import { performance } from 'node:perf_hooks';
import type { Logger } from '../../core/tier/log.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { claimLease, leasePermits, returnPermits } from '../../sql/links/leases.ts';
import { type Account, createAccount, type Take } from './account.ts';
import type { Outstanding } from './outstanding.ts';

/**
 * The credits that this process holds of links with `max_clicks`. A visit let through takes one at once; leases are
 * asked for in the background and given back when a link has been idle for a second.
 *
 * Exactness rests on three things. PostgreSQL never grants more than `max_clicks` in sum. What a stream holds is
 * `granted - spent`, where `spent` is kept here and, across a restart, worked out from the journal
 * (`outstanding.ts`). And `granted` is trusted only while nothing is under way on the lease that is not known here:
 * after a start, and after a request whose outcome is unknown, the lease is claimed first, which waits for what has
 * begun and voids a give-back that comes later. What a claim finds unspent goes back before anything else.
 */
export type Credits = {
  /**
   * Takes a credit that is here already.
   *
   * @returns `wait`: {@link ask} for one
   */
  take(linkId: string, maxClicks: number): 'taken' | 'spent' | 'wait';
  /** Whether every credit is known to be spent. */
  isSpent(linkId: string, maxClicks: number): boolean;
  /** Waits for a credit, about a second at most. */
  ask(linkId: string): Promise<Take>;
  /** Whether the link's credits are spent, without taking one: for visitors who use none. */
  look(linkId: string, maxClicks: number): Promise<boolean>;
  /** A visitor who was not let through after all. */
  giveBack(linkId: string): void;
  /** Begins with what the last run has left. Nothing is let through before. */
  begin(outstanding: Outstanding): void;
  /** Gives back what is left, as far as PostgreSQL answers within a second or so. */
  close(): Promise<void>;
};

const IDLE_MS = 1_000;
const SWEEP_MS = 250;
/** Idle leases that are seen to at once: one that is held in PostgreSQL is not to take a connection from visitors. */
const LANES = 4;
const WAIT_MS = 1_000;
const MOST_WAITERS = 2_000;
/** After "nothing to grant now" or an error, visitors are answered at once for so long. */
const PAUSE_MS = 100;

export function createCredits(given: { pool: Pool; streamId: string; log: Logger }): Credits {
  const { pool, streamId, log } = given;
  const accounts = new Map<string, Account>();
  const due = new Set<Account>();
  let lanes = 0;
  let begun = false;
  let closing = false;
  const sweep = setInterval(returnIdle, SWEEP_MS);
  sweep.unref();

  function accountOf(linkId: string, maxClicks: number): Account {
    let account = accounts.get(linkId);
    if (account === undefined) {
      account = createAccount(linkId, maxClicks);
      accounts.set(linkId, account);
    } else if (account.maxClicks !== maxClicks) {
      // Credits granted under another limit go back first: a lower limit must hold for them as well.
      account.mustReturn ||= account.maxClicks !== null && account.credits > 0;
      account.maxClicks = maxClicks;
      account.spent = false;
      account.pausedUntil = Number.NEGATIVE_INFINITY;
    }
    return account;
  }

  /** One request per link at a time; `work` repeats until nobody waits any more. */
  function work(account: Account): void {
    if (account.busy) return;
    account.busy = true;
    lease(account, Math.max(1, account.waiting()))
      .catch((error: unknown) => {
        log.warn({ err: error, link: account.linkId }, 'max_clicks: no lease');
        account.pausedUntil = performance.now() + PAUSE_MS;
        account.answerWaiters('unavailable');
      })
      .finally(() => {
        account.busy = false;
        if (account.waiting() > 0) work(account);
      });
  }

  async function lease(account: Account, needed: number): Promise<void> {
    if (needed > 0 && account.spent) return account.answerWaiters('spent');
    if (account.generation === null) await claim(account);
    if (account.mustReturn) await giveBackIdle(account);
    const { generation } = account;
    // Should the answer be lost, it may have brought credits that nobody here knows of.
    if (needed > 0) account.generation = null;
    const answer = await leasePermits(pool, { linkId: account.linkId, streamId, needed });
    account.generation = generation;
    if (answer.kind === 'unlimited') return account.answerWaiters('unlimited');
    account.setGranted(answer.granted);
    if (answer.kind === 'gone') {
      await giveBackIdle(account);
      // Not kept: the table hears of the deletion at once, and the link may come back.
      return account.answerWaiters('spent');
    }
    if (answer.kind === 'none_left' && answer.excess > 0 && account.credits > 0) {
      // The limit was lowered.
      await giveBackIdle(account);
      return lease(account, needed);
    }
    account.serveWaiters();
    if (answer.kind === 'granted') return;
    account.spent = answer.spent && account.credits === 0;
    if (!account.spent) account.pausedUntil = performance.now() + PAUSE_MS;
    account.answerWaiters(account.spent ? 'spent' : 'unavailable');
  }

  /** Finds out how the lease stands, for certain. */
  async function claim(account: Account): Promise<void> {
    const found = await claimLease(pool, { linkId: account.linkId, streamId });
    // Nothing is known of it here, so the start found it used up: what is more than that was granted since.
    account.granted ??= found.used;
    account.setGranted(found.granted);
    account.generation = found.generation;
    // They may have been granted under a higher limit than the present one.
    account.mustReturn ||= account.credits > 0;
  }

  async function giveBackIdle(account: Account): Promise<void> {
    for (;;) {
      if (account.generation === null) await claim(account);
      const { credits: count, generation, granted } = account;
      account.mustReturn = false;
      if (count === 0 || generation === null || granted === null) return;
      // Assumed given back until the answer comes; should it be lost, the next claim tells.
      account.credits = 0;
      account.granted = granted - count;
      account.generation = null;
      const total = await returnPermits(pool, { linkId: account.linkId, streamId, count, generation });
      // A claim whose answer was lost came late: nothing has gone back.
      if (total === null) continue;
      account.generation = generation;
      return account.setGranted(total);
    }
  }

  const isDue = (account: Account) =>
    !account.busy &&
    account.takenAt <= performance.now() - IDLE_MS &&
    (account.credits > 0 || account.generation === null);

  function returnIdle(): void {
    for (const account of accounts.values()) if (isDue(account)) due.add(account);
    while (lanes < LANES && due.size > 0) void returnDue();
  }

  async function returnDue(): Promise<void> {
    lanes += 1;
    for (const account of due) {
      due.delete(account);
      if (closing || !isDue(account)) continue;
      account.busy = true;
      const error: unknown = await giveBackIdle(account).then(
        () => null,
        (reason: unknown) => reason,
      );
      account.busy = false;
      if (account.waiting() > 0) work(account);
      if (error === null) continue;
      log.warn({ err: error, link: account.linkId }, 'max_clicks: lease not returned, tried again');
      account.takenAt = performance.now();
      await new Promise((resolve) => setTimeout(resolve, IDLE_MS).unref());
    }
    lanes -= 1;
  }

  return {
    take(linkId, maxClicks) {
      if (!begun) return 'wait';
      const account = accountOf(linkId, maxClicks);
      if (account.mustReturn) return 'wait';
      if (account.credits === 0) return account.spent ? 'spent' : 'wait';
      account.credits -= 1;
      account.takenAt = performance.now();
      if (
        account.credits < account.lastLease / 2 &&
        !account.spent &&
        account.pausedUntil < account.takenAt
      ) {
        work(account);
      }
      return 'taken';
    },
    isSpent: (linkId, maxClicks) => begun && accounts.has(linkId) && accountOf(linkId, maxClicks).spent,
    ask(linkId) {
      const account = accounts.get(linkId);
      if (!begun || closing || account === undefined) return Promise.resolve('unavailable');
      if (account.pausedUntil > performance.now() || account.waiting() >= MOST_WAITERS) {
        return Promise.resolve('unavailable');
      }
      const waiting = account.wait(WAIT_MS);
      work(account);
      return waiting;
    },
    async look(linkId, maxClicks) {
      if (!begun) return false;
      const account = accountOf(linkId, maxClicks);
      const now = performance.now();
      if (account.spent || account.credits > 0 || account.busy || account.lookedAt > now - PAUSE_MS) {
        return account.spent;
      }
      account.busy = true;
      account.lookedAt = now;
      await lease(account, 0)
        .catch(() => undefined)
        .finally(() => {
          account.busy = false;
          if (account.waiting() > 0) work(account);
        });
      return account.spent;
    },
    giveBack(linkId) {
      const account = accounts.get(linkId);
      if (account === undefined) return;
      account.credits += 1;
      account.spent = false;
      account.serveWaiters();
    },
    begin(outstanding) {
      for (const { linkId, spent } of outstanding) {
        const account = createAccount(linkId, null);
        // What it was granted beyond that is known once the lease has been claimed.
        account.granted = spent;
        accounts.set(linkId, account);
      }
      begun = true;
    },
    async close() {
      closing = true;
      clearInterval(sweep);
      const returns = [...accounts.values()]
        .filter((account) => account.credits > 0 && !account.busy)
        .map((account) => {
          account.busy = true;
          return giveBackIdle(account);
        });
      await Promise.race([
        Promise.allSettled(returns),
        new Promise((resolve) => setTimeout(resolve, WAIT_MS).unref()),
      ]);
    },
  };
}
