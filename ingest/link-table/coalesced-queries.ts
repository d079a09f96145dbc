/** PostgreSQL or the disk did not respond in time, or too many lookups wait. */
export class LookupUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'LookupUnavailable';
  }
}

/**
 * Coalesces lookups that visitors wait for. Equal lookups share one result; those of one turn of the event loop, and
 * those that arrive while all statements are running, share one statement, as a statement costs ten times a row. The
 * queue is short, and no lookup waits longer than `timeoutMs`.
 */
export type CoalescedQueries<T> = {
  /**
   * Looks a key up.
   *
   * @returns null when it does not exist
   * @throws {LookupUnavailable}
   */
  query(key: string): Promise<T | null>;
};

type Query<T> = { key: string; succeed(found: T | null): void; fail(error: LookupUnavailable): void };

/** @param runQuery returns the values of the keys that exist */
export function createCoalescedQueries<T>(
  runQuery: (keys: string[]) => Promise<Map<string, T>>,
  limits: {
    timeoutMs: number;
    /** Most statements at a time. */
    concurrency: number;
    /** Most waiting lookups. */
    waiting: number;
    /** Most lookups of one statement. */
    together: number;
  },
): CoalescedQueries<T> {
  const pending = new Map<string, Promise<T | null>>();
  const waiting = new Set<Query<T>>();
  let running = 0;
  /** Whether statements start at the end of this turn. */
  let isDue = false;

  /** Starts as many statements as may run. */
  function begin(): void {
    isDue = false;
    while (running < limits.concurrency && waiting.size > 0) {
      const batch: Query<T>[] = [];
      for (const one of waiting) {
        if (batch.length === limits.together) break;
        waiting.delete(one);
        batch.push(one);
      }
      running++;
      // A statement occupies its slot until PostgreSQL responds; only its visitors stop waiting.
      void run(batch).finally(() => {
        running--;
        begin();
      });
    }
  }

  async function run(batch: Query<T>[]): Promise<void> {
    try {
      const found = await runQuery(batch.map(({ key }) => key));
      for (const one of batch) one.succeed(found.get(one.key) ?? null);
    } catch (error) {
      for (const one of batch) {
        one.fail(new LookupUnavailable('the lookup failed', { cause: error }));
      }
    }
  }

  function bounded(key: string): Promise<T | null> {
    return new Promise((resolve, reject) => {
      let isOver = false;
      /** The first outcome counts: a response may come after the timeout. */
      const end = (settle: () => void) => {
        if (isOver) return;
        isOver = true;
        clearTimeout(timer);
        waiting.delete(one);
        pending.delete(key);
        settle();
      };
      const one: Query<T> = {
        key,
        succeed: (found) => end(() => resolve(found)),
        fail: (error) => end(() => reject(error)),
      };
      const timer = setTimeout(
        () => one.fail(new LookupUnavailable(`no response within ${limits.timeoutMs} ms`)),
        limits.timeoutMs,
      );
      waiting.add(one);
    });
  }

  return {
    query(key) {
      const known = pending.get(key);
      if (known !== undefined) return known;
      if (waiting.size >= limits.waiting) {
        return Promise.reject(new LookupUnavailable('too many lookups wait'));
      }
      const promise = bounded(key);
      pending.set(key, promise);
      if (!isDue && running < limits.concurrency) {
        isDue = true;
        setImmediate(begin);
      }
      return promise;
    },
  };
}
