/** PostgreSQL gave no answer in time, or too many questions wait already. */
export class StoreUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StoreUnavailable';
  }
}

/**
 * Questions to PostgreSQL that a visitor waits for: the same question is asked once, few run at a time, few wait, and
 * nobody waits longer than `timeoutMs`.
 */
export type StoreQuestions<T> = {
  /** @throws {StoreUnavailable} */
  ask(key: string, question: () => Promise<T>): Promise<T>;
};

export function createStoreQuestions<T>(limits: {
  timeoutMs: number;
  concurrency: number;
  /** Most questions that wait for their turn. */
  waiting: number;
}): StoreQuestions<T> {
  const asked = new Map<string, Promise<T>>();
  const queue: (() => void)[] = [];
  let running = 0;

  async function turn(): Promise<void> {
    if (running < limits.concurrency) {
      running++;
      return;
    }
    // The one that ends hands its place over.
    await new Promise<void>((resolve) => queue.push(resolve));
  }

  function done(): void {
    const next = queue.shift();
    if (next === undefined) running--;
    else next();
  }

  async function answer(question: () => Promise<T>): Promise<T> {
    await turn();
    try {
      return await question();
    } catch (error) {
      throw new StoreUnavailable('PostgreSQL does not answer', { cause: error });
    } finally {
      done();
    }
  }

  /** The place is held until PostgreSQL really answers; only the visitor stops waiting. */
  function bounded(answered: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new StoreUnavailable(`no answer in ${limits.timeoutMs} ms`)),
        limits.timeoutMs,
      );
      answered.then(resolve, reject).finally(() => clearTimeout(timer));
    });
  }

  return {
    ask(key, question) {
      const known = asked.get(key);
      if (known !== undefined) return known;
      if (queue.length >= limits.waiting) {
        return Promise.reject(new StoreUnavailable('too many questions wait'));
      }
      const promise = bounded(answer(question)).finally(() => asked.delete(key));
      asked.set(key, promise);
      return promise;
    },
  };
}
