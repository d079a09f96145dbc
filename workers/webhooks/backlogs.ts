import type { Pool } from '../../sql/database/pool.ts';
import { countPending } from '../../sql/webhooks/delivery-queue.ts';

/** Click deliveries that may wait for one webhook: about a gigabyte. A dead receiver of a busy link must end somewhere. */
export const MOST_PENDING = 1_000_000;
const COUNT_EVERY_MS = 10_000;
/** Fewer deliveries than this in memory say that it is not worth counting. */
const COUNT_FROM = 1_000;

/** Watches how much waits for each webhook, and which ones have had clicks written. */
export type Backlogs = {
  /** Those of the webhooks for which too much waits. Counted now and then, only for those that are written for. */
  full(webhookIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** A click's delivery was written for this webhook. */
  wrote(webhookId: string): void;
  /** Webhooks written for since the last call. */
  takeWritten(): string[];
};

export function createBacklogs(
  pool: Pool,
  { most = MOST_PENDING, countEveryMs = COUNT_EVERY_MS } = {},
): Backlogs {
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
        // What can't be counted is as it was.
        const isFull = await countPending(pool, id, most).then(
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
