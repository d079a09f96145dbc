import { createHmac } from 'node:crypto';
import { createBoundedCache } from '../../core/caching/bounded-cache.ts';
import type { Logger } from '../../core/tier/log.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { keepPasswordVisitor, passwordVisitors } from '../../sql/links/password-visitors.ts';
import { createCoalescedQueries } from '../link-table/coalesced-queries.ts';
import { pairOf } from './attempts.ts';

/** A visitor of a link with a password. */
export type PasswordVisitor = { linkId: string; hash: string; address: Uint8Array };

/**
 * Knows the addresses that gave a link's present password in the last 90 days: guesses of others do not block them.
 * This process caches them, and PostgreSQL has them for all processes and after a restart.
 */
export type KnownVisitors = {
  /** Whether this process has cached the visitor's address. */
  has(visitor: PasswordVisitor): boolean;
  /** Whether PostgreSQL knows the address; false also while it is down. */
  find(visitor: PasswordVisitor): Promise<boolean>;
  /** Adds an address after the right password, in PostgreSQL behind the response. */
  add(visitor: PasswordVisitor): void;
};

/** Cached addresses. */
const CAPACITY = 50_000;
/** An address that is used again is written again after this time, so that its row stays. Milliseconds. */
const WRITE_AGAIN_MS = 86_400_000;
const NEVER = Number.NEGATIVE_INFINITY;
/** Most rows that are being written. Further addresses are only cached, and written when they come again. */
const MOST_WRITES = 4;
/** Guesses of strangers may ask too: few statements run, and a visitor waits a second at most. */
const LOOKUPS = { timeoutMs: 1_000, concurrency: 1, waiting: 100, together: 100 };

/** @param key the deployment's `cookie_key` */
export function createKnownVisitors(pool: Pool, key: Uint8Array, log: Logger): KnownVisitors {
  /** When this process wrote each last, on the monotonic clock. */
  const cached = createBoundedCache<string, number>(CAPACITY);
  const lookups = createCoalescedQueries<true>(async (subjects) => {
    const found = await passwordVisitors(
      pool,
      subjects.map((subject) => Buffer.from(subject, 'base64')),
    );
    return new Map(found.map((subject) => [subject.toString('base64'), true]));
  }, LOOKUPS);
  let writes = 0;

  const subjectOf = ({ linkId, hash, address }: PasswordVisitor) =>
    createHmac('sha256', key)
      .update(`link password\nlet in\n${pairOf(linkId, address)}\n${hash}`)
      .digest('base64');

  return {
    has: (visitor) => cached.get(subjectOf(visitor)) !== undefined,
    async find(visitor) {
      const subject = subjectOf(visitor);
      // A lookup that fails tells nothing: the visitor may still have the cookie.
      const isKnown = (await lookups.query(subject).catch(() => null)) !== null;
      if (isKnown) cached.set(subject, NEVER);
      return isKnown;
    },
    add(visitor) {
      const subject = subjectOf(visitor);
      if (performance.now() - (cached.get(subject) ?? NEVER) < WRITE_AGAIN_MS) return;
      const isWritten = writes < MOST_WRITES;
      cached.set(subject, isWritten ? performance.now() : NEVER);
      if (!isWritten) return;
      writes += 1;
      keepPasswordVisitor(pool, visitor.linkId, Buffer.from(subject, 'base64'))
        .catch((error) => {
          cached.set(subject, NEVER);
          log.warn({ err: error }, 'failed to keep the address that gave a password; its cookie remains');
        })
        .finally(() => {
          writes -= 1;
        });
    },
  };
}
