import type { Pool } from '../../sql/database/pool.ts';
import { type Claimed, type Queue, targetsDue } from '../../sql/deliveries/queue.ts';
import { createDeliverer, type Deliverer } from './deliver-due.ts';

/** Deliveries to one service, such as the mail server, of which a worker attempts few at once. */
export type FewAtOnce<Columns> = {
  queue: Queue;
  /** Attempts under way at once. */
  most: number;
  /** Longer than an attempt. Milliseconds. */
  leaseMs: number;
  /** Attempts a delivery and saves its outcome. It never rejects. */
  deliver(claimed: Claimed<Columns>): Promise<void>;
  /** Called when an attempt has ended, so that the next delivery can begin. */
  onEnd(): void;
};

/** Creates the deliverer of such deliveries. Targets share the attempts, so a backlog of one does not delay others. */
export function createFewAtOnce<Columns>(
  { pool, now }: { pool: Pool; now: () => number },
  { queue, most, leaseMs, deliver, onEnd }: FewAtOnce<Columns>,
): Deliverer {
  let underWay = 0;

  return createDeliverer<Columns, null>(
    { pool, now },
    {
      queue,
      most,
      leaseMs,
      async due() {
        const targets = await targetsDue(pool, queue, now());
        let free = most - underWay;
        const room = (wanted: number) => {
          const taken = Math.min(wanted, free);
          free -= taken;
          return taken;
        };
        return targets.map((id) => ({ id, to: null, room }));
      },
      async begin(claimed) {
        underWay += claimed.length;
        return claimed.map(({ delivery }) =>
          deliver(delivery).finally(() => {
            underWay -= 1;
            onEnd();
          }),
        );
      },
    },
  );
}
