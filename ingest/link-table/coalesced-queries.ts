/** PostgreSQL gave no answer in time, or too many questions wait already. */
export class LookupUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'LookupUnavailable';
  }
}

/**
 * Questions to PostgreSQL that visitors wait for. The same question is asked once; those that come in one turn of the
 * event loop are asked in one statement, and so are those that come while as many statements as may run are on their
 * way: one costs ten times what a row of its answer does. Few wait, and nobody longer than `timeoutMs`.
 */
export type CoalescedQueries<T> = {
  /**
   * @returns null when PostgreSQL has nothing under the key
   * @throws {LookupUnavailable}
   */
  query(key: string): Promise<T | null>;
};

type Query<T> = { key: string; answer(found: T | null): void; fail(error: LookupUnavailable): void };

/** @param runQuery what stands under the keys, by key; one that is missing has nothing */
export function createCoalescedQueries<T>(
  runQuery: (keys: string[]) => Promise<Map<string, T>>,
  limits: {
    timeoutMs: number;
    /** Most statements at a time. */
    concurrency: number;
    /** Most questions that wait for their turn. */
    waiting: number;
    /** Most questions of one statement. */
    together: number;
  },
): CoalescedQueries<T> {
  const pending = new Map<string, Promise<T | null>>();
  const waiting = new Set<Query<T>>();
  let running = 0;
  /** Whether statements begin at the end of this turn. */
  let isDue = false;

  /** Begins as many statements as may run. */
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
      // The place is held until PostgreSQL really answers; only visitors stop waiting.
      void answer(batch).finally(() => {
        running--;
        begin();
      });
    }
  }

  async function answer(batch: Query<T>[]): Promise<void> {
    try {
      const found = await runQuery(batch.map(({ key }) => key));
      for (const one of batch) one.answer(found.get(one.key) ?? null);
    } catch (error) {
      for (const one of batch) {
        one.fail(new LookupUnavailable('PostgreSQL does not answer', { cause: error }));
      }
    }
  }

  function bounded(key: string): Promise<T | null> {
    return new Promise((resolve, reject) => {
      let isOver = false;
      /** The first end counts: an answer may come after its visitor has stopped waiting. */
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
        answer: (found) => end(() => resolve(found)),
        fail: (error) => end(() => reject(error)),
      };
      const timer = setTimeout(
        () => one.fail(new LookupUnavailable(`no answer in ${limits.timeoutMs} ms`)),
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
        return Promise.reject(new LookupUnavailable('too many questions wait'));
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
