import { createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createBoundedCache } from '../../core/caching/bounded-cache.ts';
import type { Logger } from '../../core/tier/log.ts';
import { hasRecentAudit, recordAudit } from '../../sql/audit/audit-log.ts';
import { beginAttempt, withdrawAttempt } from '../../sql/console/sign-in-attempts.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { MOST_WRONG, MOST_WRONG_OF_LINK, pairOf } from './attempts.ts';

/** A visitor who tries a password. */
export type Guess = { workspaceId: string; linkId: string; address: Uint8Array; wasLetIn: boolean };

/**
 * Limits wrong passwords per link and address, and per link, over all processes, by rows in PostgreSQL. While
 * PostgreSQL is down each process has only its own limits ({@link createAttempts}).
 */
export type SharedAttempts = {
  /**
   * Counts a check before it is made.
   *
   * @returns null after too many wrong passwords in the last minute; else what to call when the password was right
   */
  begin(guess: Guess): Promise<(() => Promise<void>) | null>;
  /** Records in the audit log, at most once a minute, that a link got too many wrong passwords. */
  noteLock(workspaceId: string, linkId: string): void;
};

/** The checks behind a younger lock may still be running, and turn out right. Seconds. */
const YOUNG_LOCK_SECONDS = 59;
const RETRIES = 4;
const RETRY_MS = 100;
/** Links whose locks were noted lately. */
const LINKS = 1_000;
const NOTED_EVERY_MS = 60_000;
/** Action of the audit log. */
const LOCKED = 'link.password_locked';

/** @param key the deployment's `cookie_key` */
export function createSharedAttempts(pool: Pool, key: Uint8Array, log: Logger): SharedAttempts {
  const uncounted = async () => {};
  const failed = (error: unknown) => {
    log.warn(
      { err: error },
      'failed to count tries of link passwords in PostgreSQL; this process counts its own',
    );
  };

  const subjectOf = (text: string) => createHmac('sha256', key).update(text).digest();

  async function reserve(subject: Buffer, most: number): Promise<string | null> {
    for (let retries = 0; ; retries += 1) {
      const attempt = await beginAttempt(pool, subject, most);
      if (attempt.allowed) return attempt.at;
      if (attempt.retryAfter < YOUNG_LOCK_SECONDS || retries === RETRIES) return null;
      await delay(RETRY_MS);
    }
  }

  /** Counts a check of one subject. @returns null when it is locked; else what withdraws the check */
  async function counted(subject: Buffer, most: number): Promise<(() => Promise<void>) | null> {
    const at = await reserve(subject, most);
    return at === null ? null : () => withdrawAttempt(pool, subject, at, most).catch(failed);
  }

  async function recordLock(workspaceId: string, linkId: string): Promise<void> {
    if (await hasRecentAudit(pool, workspaceId, LOCKED, linkId)) return;
    await recordAudit(pool, {
      workspaceId,
      actor: { type: 'service', id: null },
      action: LOCKED,
      target: { type: 'link', id: linkId },
      details: { wrong_passwords: MOST_WRONG_OF_LINK },
    });
  }

  /** When this process noted the lock of a link. */
  const noted = createBoundedCache<string, number>(LINKS);
  function noteLock(workspaceId: string, linkId: string): void {
    if ((noted.get(linkId) ?? Number.NEGATIVE_INFINITY) > performance.now() - NOTED_EVERY_MS) return;
    noted.set(linkId, performance.now());
    recordLock(workspaceId, linkId).catch(failed);
  }

  return {
    noteLock,
    async begin({ workspaceId, linkId, address, wasLetIn }) {
      try {
        const ofAddress = await counted(subjectOf(`link password\n${pairOf(linkId, address)}`), MOST_WRONG);
        if (ofAddress === null || wasLetIn) return ofAddress;
        const ofLink = await counted(subjectOf(`link password\n${linkId}`), MOST_WRONG_OF_LINK);
        if (ofLink !== null) return () => Promise.all([ofAddress(), ofLink()]).then(() => undefined);
        await ofAddress();
        noteLock(workspaceId, linkId);
        return null;
      } catch (error) {
        failed(error);
        return uncounted;
      }
    },
  };
}
