import { createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../core/tier/log.ts';
import { beginAttempt, withdrawAttempt } from '../../sql/console/sign-in-attempts.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { MOST_WRONG, pairOf } from './attempts.ts';

/**
 * Limits wrong passwords per link and address over all processes, by rows in PostgreSQL. While PostgreSQL is down each
 * process has only its own limit ({@link createAttempts}).
 */
export type SharedAttempts = {
  /**
   * Counts a check before it is made.
   *
   * @returns null after five wrong passwords in the last minute; else what to call when the password was right
   */
  begin(linkId: string, address: Uint8Array): Promise<(() => Promise<void>) | null>;
};

/** A lock younger than this may be of checks under way that turn out right. Seconds. */
const YOUNG_LOCK_SECONDS = 59;
const RETRIES = 4;
const RETRY_MS = 100;

/** @param key the deployment's `cookie_key` */
export function createSharedAttempts(pool: Pool, key: Uint8Array, log: Logger): SharedAttempts {
  const uncounted = async () => {};
  const failed = (error: unknown) => {
    log.warn(
      { err: error },
      'failed to count tries of link passwords in PostgreSQL; this process counts its own',
    );
  };

  async function reserve(subject: Buffer): Promise<string | null> {
    for (let retries = 0; ; retries += 1) {
      const attempt = await beginAttempt(pool, subject, MOST_WRONG);
      if (attempt.allowed) return attempt.at;
      if (attempt.retryAfter < YOUNG_LOCK_SECONDS || retries === RETRIES) return null;
      await delay(RETRY_MS);
    }
  }

  return {
    async begin(linkId, address) {
      const subject = createHmac('sha256', key)
        .update(`link password\n${pairOf(linkId, address)}`)
        .digest();
      try {
        const at = await reserve(subject);
        return at === null ? null : () => withdrawAttempt(pool, subject, at, MOST_WRONG).catch(failed);
      } catch (error) {
        failed(error);
        return uncounted;
      }
    },
  };
}
