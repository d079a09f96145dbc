import { createBoundedCache } from '../../core/caching/bounded-cache.ts';
import type { Logger } from '../../core/tier/log.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import { recordKeyUse } from '../../sql/workspaces/keys.ts';

/** Interval between two writes for one key, ms. */
const NOTED_EVERY_MS = 60_000;
/** Keys whose last write is cached. */
const CAPACITY = 10_000;

/**
 * Records in PostgreSQL that the pixel used a key. No request waits for it. One write runs at a time, so
 * that links keep the connections; the next use makes up for a skipped or failed one.
 */
export type KeyUses = { note(keyId: string): void };

export function createKeyUses({ pool, log }: { pool: Queryable; log: Logger }): KeyUses {
  const notedAt = createBoundedCache<string, number>(CAPACITY);
  let isNoting = false;

  async function write(keyId: string): Promise<void> {
    isNoting = true;
    try {
      await recordKeyUse(pool, keyId, { byPixel: true });
    } catch (error) {
      log.debug({ err: error, key: keyId }, 'failed to record the use of a key; the next use will');
    } finally {
      isNoting = false;
    }
  }

  return {
    note(keyId) {
      const now = performance.now();
      const last = notedAt.get(keyId);
      if (isNoting || (last !== undefined && now - last < NOTED_EVERY_MS)) return;
      notedAt.set(keyId, now);
      void write(keyId);
    },
  };
}
