import { outsideTransaction } from '../../sql/database/nested-connections.ts';
import { inTransaction, type Pool, type PoolClient } from '../../sql/database/pool.ts';

/** Holds a transaction open while a test does other things in `work`, possibly on other connections. */
export function heldTransaction<T>(pool: Pool, work: (tx: PoolClient) => Promise<T>): Promise<T> {
  return inTransaction(pool, (tx) => outsideTransaction(() => work(tx)));
}
