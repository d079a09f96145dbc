import { inTransaction, type Pool, type PoolClient } from './pool.ts';

class RolledBack extends Error {}

/** Runs work in a transaction, and rolls it back: a dry run. @returns what the work returned */
export async function rolledBack<T>(pool: Pool, work: (tx: PoolClient) => Promise<T>): Promise<T> {
  let done: { result: T } | undefined;
  try {
    await inTransaction(pool, async (tx) => {
      done = { result: await work(tx) };
      throw new RolledBack();
    });
  } catch (error) {
    if (!(error instanceof RolledBack)) throw error;
  }
  if (!done) throw new Error('the work was not done');
  return done.result;
}
