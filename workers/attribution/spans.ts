import type { ClickSpan } from '../../clickhouse/queries/clicks-before-orders.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import { type Buyer, visitorsOfBuyers } from '../../sql/orders/buyers.ts';

const MICROS_PER_DAY = 86_400_000_000;

/** An order or a lead with its person. */
type Event = Buyer & {
  /** Microseconds. */
  ts: number;
  /** Days. */
  window: number;
};

/**
 * Returns where to look for the clicks that may have led to each event.
 *
 * @returns `reached`: only the first events, when all of them have too many visitors for one query
 */
export async function spansOf<E extends Event>(
  transaction: Queryable,
  events: readonly E[],
): Promise<{ reached: E[]; spans: ClickSpan[] }> {
  const visitors = await visitorsOfBuyers(transaction, events);
  const reached = events.slice(0, visitors.length);
  const spans = reached.flatMap((event, position) =>
    (visitors[position] ?? []).map((visitorId): ClickSpan => {
      const from = event.ts - event.window * MICROS_PER_DAY;
      return { position, workspaceId: event.workspaceId, visitorId, from, to: event.ts };
    }),
  );
  return { reached, spans };
}
