import type { Pool } from '../../sql/database/pool.ts';
import { type Claimed, claimDue, type Queue } from '../../sql/deliveries/queue.ts';

/** A target with deliveries due. `room`: how many of at most `most` to take into memory. */
export type Due<To> = { id: string; to: To; room: (most: number) => number };

/** A kind of delivery. */
export type DeliveryKind<Columns, To> = {
  queue: Queue;
  /** Deliveries claimed at once. */
  most: number;
  /**
   * Duration of a claim: longer than the longest wait and attempt. After that other workers take the claims of a dead
   * one.
   */
  leaseMs: number;
  /** Returns the targets with deliveries due, longest due first. */
  due(): Promise<readonly Due<To>[]>;
  /** Attempts claimed deliveries, and saves their outcomes. None of the promises rejects. */
  begin(claimed: readonly { delivery: Claimed<Columns>; to: To }[]): Promise<readonly Promise<void>[]>;
};

export type Deliverer = {
  /**
   * Claims due deliveries, for each target as many as it can take, so that none waits for another. @returns whether it
   * claimed any
   */
  attemptDue(): Promise<boolean>;
  /** Resolves when no attempt is under way. */
  settled(): Promise<void>;
};

/** Creates the deliverer of a kind. Several workers may run it. */
export function createDeliverer<Columns, To>(
  { pool, now }: { pool: Pool; now: () => number },
  { queue, most, leaseMs, due: findDue, begin }: DeliveryKind<Columns, To>,
): Deliverer {
  const underWay = new Set<Promise<void>>();

  return {
    async attemptDue() {
      const due = await findDue();
      const targets = new Map(due.map(({ id, to }) => [id, to]));
      // At least one for each target.
      const share = Math.max(1, Math.floor(most / Math.max(1, due.length)));
      let left = most;
      const rooms: { target: string; room: number }[] = [];
      for (const { id, room: roomOf } of due) {
        const room = roomOf(Math.min(share, left));
        left -= room;
        if (room > 0) rooms.push({ target: id, room });
      }
      const claimed = await claimDue<Columns>(pool, queue, rooms, now(), leaseMs);
      const given = claimed.map((delivery) => ({ delivery, to: targets.get(delivery.target) as To }));
      for (const run of await begin(given)) {
        underWay.add(run);
        void run.finally(() => underWay.delete(run));
      }
      return claimed.length > 0;
    },
    async settled() {
      await Promise.all(underWay);
    },
  };
}
