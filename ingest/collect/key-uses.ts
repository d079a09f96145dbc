import { createBoundedCache } from '../../core/caching/bounded-cache.ts';
import type { Logger } from '../../core/tier/log.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import { recordKeyUse } from '../../sql/workspaces/keys.ts';

/** Interval between two writes for one key, ms. */
const NOTED_EVERY_MS = 60_000;
/** Keys whose last write is cached. */
const CAPACITY = 10_000;

/**
 * Records in PostgreSQL that a key was used at `/collect`. No request waits for it. One write runs at a time, so
 * that links keep the connections; the next use makes up for a skipped or failed one.
 */
export type KeyUses = {
  /** @param use.byPixel whether a script in a page reported what was recorded: the pixel is on the site */
  note(keyId: string, use: { byPixel: boolean }): void;
};

export function createKeyUses({ pool, log }: { pool: Queryable; log: Logger }): KeyUses {
  const notedAt = createBoundedCache<string, number>(CAPACITY);
  let isNoting = false;

  async function write(keyId: string, byPixel: boolean): Promise<void> {
    isNoting = true;
    try {
      await recordKeyUse(pool, keyId, { byPixel });
    } catch (error) {
      log.debug({ err: error, key: keyId }, 'failed to record the use of a key; the next use will');
    } finally {
      isNoting = false;
    }
  }

  return {
    note(keyId, { byPixel }) {
      const now = performance.now();
      // A call without the pixel must not hide the pixel's first one.
      const use = `${keyId} ${byPixel}`;
      const last = notedAt.get(use);
      if (isNoting || (last !== undefined && now - last < NOTED_EVERY_MS)) return;
      notedAt.set(use, now);
      void write(keyId, byPixel);
    },
  };
}
