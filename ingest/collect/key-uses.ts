import { createBoundedCache } from '../../core/caching/bounded-cache.ts';
import type { Logger } from '../../core/tier/log.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import { recordKeyUse } from '../../sql/workspaces/keys.ts';

/** How long a key's use is not noted again. Milliseconds. */
const NOTED_EVERY_MS = 60_000;
/** Keys remembered at most; one that was forgotten is noted again. */
const CAPACITY = 10_000;

/**
 * Notes in PostgreSQL that a key was used, as the API does with its own callers. Nobody waits for it, one note is on its
 * way at a time so that links keep the connections, and the next use makes up for one that was left out or has failed.
 */
export type KeyUses = { note(keyId: string): void };

export function createKeyUses({ pool, log }: { pool: Queryable; log: Logger }): KeyUses {
  const notedAt = createBoundedCache<string, number>(CAPACITY);
  let isNoting = false;

  async function write(keyId: string): Promise<void> {
    isNoting = true;
    try {
      await recordKeyUse(pool, keyId);
    } catch (error) {
      log.debug({ err: error, key: keyId }, 'key use not noted');
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
