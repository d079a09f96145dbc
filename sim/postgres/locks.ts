import type { World } from '../world/world.ts';

/** Who holds locks: a transaction. */
export type Owner = object;

type Mode = 'shared' | 'exclusive';
type Waiting = { owner: Owner; mode: Mode; proceed: (error: Error | null) => void };
type Lock = { holders: Map<Owner, Mode>; queue: Waiting[] };

/** Time after which a wait looks for a deadlock, as PostgreSQL's `deadlock_timeout`. */
const DEADLOCK_MS = 1_000;

/** An error with the code that PostgreSQL gives it. */
export function sqlError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

/**
 * Locks of rows, tables and numbers. Who waits is served in order, and holds what it got until its transaction ends.
 */
export class Locks {
  readonly #world: World;
  readonly #locks = new Map<string, Lock>();

  constructor(world: World) {
    this.#world = world;
  }

  /** @param timeoutMs 0: no limit @throws an error of code 55P03 after the limit, 40P01 in a deadlock */
  async take(key: string, owner: Owner, mode: Mode, timeoutMs: number): Promise<void> {
    const lock: Lock = this.#locks.get(key) ?? { holders: new Map(), queue: [] };
    this.#locks.set(key, lock);
    const held = lock.holders.get(owner);
    if (held === 'exclusive' || held === mode) return;
    if (lock.queue.length === 0 && isFree(lock, owner, mode)) {
      lock.holders.set(owner, mode);
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const waiting: Waiting = {
        owner,
        mode,
        proceed: (error) => (error ? reject(error) : resolve()),
      };
      lock.queue.push(waiting);
      const giveUp = (error: Error) => {
        const at = lock.queue.indexOf(waiting);
        if (at < 0) return;
        lock.queue.splice(at, 1);
        this.#serve(lock);
        reject(error);
      };
      if (timeoutMs > 0) {
        this.#world.schedule(timeoutMs, () =>
          giveUp(sqlError('55P03', 'canceling statement due to lock timeout')),
        );
      }
      this.#world.schedule(DEADLOCK_MS, () => {
        if (this.#waitsForItself(owner)) giveUp(sqlError('40P01', 'deadlock detected'));
      });
    });
  }

  /** Releases what a transaction holds or waits for. */
  release(owner: Owner): void {
    for (const [key, lock] of this.#locks) {
      lock.holders.delete(owner);
      for (const { proceed } of lock.queue.filter((waiting) => waiting.owner === owner)) {
        proceed(sqlError('57P01', 'terminating connection'));
      }
      lock.queue = lock.queue.filter((waiting) => waiting.owner !== owner);
      this.#serve(lock);
      if (lock.holders.size === 0 && lock.queue.length === 0) this.#locks.delete(key);
    }
  }

  #serve(lock: Lock): void {
    for (;;) {
      const [first] = lock.queue;
      if (!first || !isFree(lock, first.owner, first.mode)) return;
      lock.queue.shift();
      lock.holders.set(first.owner, first.mode);
      first.proceed(null);
    }
  }

  #waitsForItself(owner: Owner): boolean {
    const seen = new Set<Owner>();
    const blockers = (waiter: Owner) =>
      [...this.#locks.values()]
        .filter(({ queue }) => queue.some((waiting) => waiting.owner === waiter))
        .flatMap(({ holders }) => [...holders.keys()].filter((holder) => holder !== waiter));
    const reaches = (from: Owner): boolean =>
      blockers(from).some((next) => {
        if (next === owner) return true;
        if (seen.has(next)) return false;
        seen.add(next);
        return reaches(next);
      });
    return reaches(owner);
  }
}

function isFree({ holders }: Lock, owner: Owner, mode: Mode): boolean {
  for (const [holder, held] of holders) {
    if (holder !== owner && (mode === 'exclusive' || held === 'exclusive')) return false;
  }
  return true;
}
