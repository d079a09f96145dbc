import type { Pool } from '../../sql/database/pool.ts';
import { countPending, WEBHOOK_DELIVERIES } from '../../sql/deliveries/queue.ts';

/** Limit of click deliveries that wait for one webhook: about a gigabyte. */
export const MAX_PENDING = 1_000_000;
const COUNT_EVERY_MS = 10_000;
/** Writes from which on a webhook's deliveries are counted. */
const COUNT_FROM = 1_000;

/** Tracks how many deliveries wait for each webhook, and which webhooks had clicks written. */
export type PendingCounts = {
  /** Returns which of the webhooks have too many waiting deliveries. Counted every few seconds. */
  full(webhookIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Records that a click's delivery was written for this webhook. */
  wrote(webhookId: string): void;
  /** Returns the webhooks written for since the last call. */
  takeWritten(): string[];
};

export function createPendingCounts(
  pool: Pool,
  { most = MAX_PENDING, countEveryMs = COUNT_EVERY_MS } = {},
): PendingCounts {
  const written = new Set<string>();
  const writes = new Map<string, number>();
  let full: ReadonlySet<string> = new Set();
  let countAt = performance.now() + countEveryMs;

  return {
    async full(webhookIds) {
      if (performance.now() < countAt) return full;
      countAt = performance.now() + countEveryMs;
      const busy = [...new Set(webhookIds)].filter(
        (id) => full.has(id) || (writes.get(id) ?? 0) >= Math.min(COUNT_FROM, most),
      );
      const found = new Set<string>();
      for (const id of busy) {
        // A failed count keeps the previous result.
        const isFull = await countPending(pool, WEBHOOK_DELIVERIES, most, id).then(
          (count) => count >= most,
          () => full.has(id),
        );
        if (isFull) found.add(id);
      }
      writes.clear();
      full = found;
      return full;
    },
    wrote(webhookId) {
      written.add(webhookId);
      writes.set(webhookId, (writes.get(webhookId) ?? 0) + 1);
    },
    takeWritten() {
      const taken = [...written];
      written.clear();
      return taken;
    },
  };
}
