import { setTimeout as sleep } from 'node:timers/promises';
import { inTransaction, type Pool } from '../database/pool.ts';
import { nextVersion } from './orders.ts';

const BATCH = 500;
/** Pause before orders that others hold are tried again, milliseconds. */
const HELD_MS = 50;

const OF_PAIR = `FROM orders JOIN workspaces AS workspace ON workspace.id = orders.workspace_id
  WHERE orders.without_rate AND orders.currency = $1 AND workspace.currency = $2`;

/**
 * Gives a new version to the orders that count without revenue because their pair of currencies had no rate, so that
 * they are attributed again. Call it when the rate is set; may be repeated.
 *
 * @returns how many orders
 */
export async function attributeAnew(pool: Pool, currency: string, base: string): Promise<number> {
  let orders = 0;
  for (;;) {
    const some = await inTransaction(pool, async (tx) => {
      // Skips locked orders instead of waiting: a lane locks several orders, in an order of its own.
      const { rows } = await tx.query<{ internal_id: number }>(
        `WITH chosen AS MATERIALIZED (
           SELECT internal_id ${OF_PAIR} LIMIT ${BATCH} FOR NO KEY UPDATE OF orders SKIP LOCKED
         )
         UPDATE orders SET without_rate = false, version = ${nextVersion('orders')}
         FROM chosen WHERE orders.internal_id = chosen.internal_id RETURNING orders.internal_id`,
        [currency, base],
      );
      return rows.length;
    });
    orders += some;
    if (some > 0) continue;
    const held = await pool.query(`SELECT ${OF_PAIR} LIMIT 1`, [currency, base]);
    if (held.rowCount === 0) return orders;
    await sleep(HELD_MS);
  }
}
