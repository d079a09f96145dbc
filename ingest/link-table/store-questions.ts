/** PostgreSQL gave no answer in time, or too many questions wait already. */
export class StoreUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StoreUnavailable';
  }
}

/**
 * Questions to PostgreSQL that visitors wait for. The same question is asked once; those that come in one turn of the
 * event loop are asked in one statement, and so are those that come while as many statements as may run are on their
 * way: one costs ten times what a row of its answer does. Few wait, and nobody longer than `timeoutMs`.
 */
export type StoreQuestions<T> = {
  /**
   * @returns null when PostgreSQL has nothing under the key
   * @throws {StoreUnavailable}
   */
  ask(key: string): Promise<T | null>;
};

type Asked<T> = { key: string; answer(found: T | null): void; fail(error: StoreUnavailable): void };

/** @param question what stands under the keys, by key; one that is missing has nothing */
export function createStoreQuestions<T>(
  question: (keys: string[]) => Promise<Map<string, T>>,
  limits: {
    timeoutMs: number;
    /** Most statements at a time. */
    concurrency: number;
    /** Most questions that wait for their turn. */
    waiting: number;
    /** Most questions of one statement. */
    together: number;
  },
): StoreQuestions<T> {
  const asked = new Map<string, Promise<T | null>>();
  const waiting = new Set<Asked<T>>();
  let running = 0;
  /** Whether statements begin at the end of this turn. */
  let isDue = false;

  /** Begins as many statements as may run. */
  function begin(): void {
    isDue = false;
    while (running < limits.concurrency && waiting.size > 0) {
      const batch: Asked<T>[] = [];
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

  async function answer(batch: Asked<T>[]): Promise<void> {
    try {
      const found = await question(batch.map(({ key }) => key));
      for (const one of batch) one.answer(found.get(one.key) ?? null);
    } catch (error) {
      for (const one of batch) {
        one.fail(new StoreUnavailable('PostgreSQL does not answer', { cause: error }));
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
        asked.delete(key);
        settle();
      };
      const one: Asked<T> = {
        key,
        answer: (found) => end(() => resolve(found)),
        fail: (error) => end(() => reject(error)),
      };
      const timer = setTimeout(
        () => one.fail(new StoreUnavailable(`no answer in ${limits.timeoutMs} ms`)),
        limits.timeoutMs,
      );
      waiting.add(one);
    });
  }

  return {
    ask(key) {
      const known = asked.get(key);
      if (known !== undefined) return known;
      if (waiting.size >= limits.waiting) {
        return Promise.reject(new StoreUnavailable('too many questions wait'));
      }
      const promise = bounded(key);
      asked.set(key, promise);
      if (!isDue && running < limits.concurrency) {
        isDue = true;
        setImmediate(begin);
      }
      return promise;
    },
  };
}
