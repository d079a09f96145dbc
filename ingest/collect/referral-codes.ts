import { createBoundedCache } from '../../core/caching/bounded-cache.ts';
import { bytesToUuid } from '../../core/ids.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { type CodeLink, linksOfCodes } from '../../sql/referrals/referral-codes.ts';
import { createCoalescedQueries } from '../link-table/coalesced-queries.ts';

/** Finds the links that codes in the addresses of pages name. */
export type ReferralCodes = {
  /**
   * Returns null for a code that names no referrer.
   *
   * @throws {LookupUnavailable} when PostgreSQL can't tell
   */
  linkOf(workspaceId: Uint8Array, parameter: string, code: string): Promise<CodeLink | null>;
};

/** A new referrer's code and a changed program take effect within this time. Milliseconds. */
const FRESH_MS = 10_000;
const CAPACITY = 20_000;
const LOOKUP_MS = 2_000;
const LIMITS = { concurrency: 2, waiting: 2_000, together: 100 };

/** @param given.lookupMs longest lookup, milliseconds */
export function createReferralCodes({
  pool,
  lookupMs: timeoutMs = LOOKUP_MS,
}: {
  pool: Pool;
  lookupMs?: number | undefined;
}): ReferralCodes {
  const known = createBoundedCache<string, { link: CodeLink | null; until: number }>(CAPACITY);
  const queries = createCoalescedQueries(read, { ...LIMITS, timeoutMs });

  /** Returns links by keys of {@link keyOf}. */
  async function read(keys: string[]): Promise<Map<string, CodeLink>> {
    const links = await linksOfCodes(pool, keys.map(codeOf));
    return new Map(
      links.flatMap((link, index) => (link === null ? [] : [[keys[index] as string, link] as const])),
    );
  }

  return {
    async linkOf(workspaceId, parameter, code) {
      const key = keyOf(bytesToUuid(workspaceId), parameter, code.toLowerCase());
      const cached = known.get(key);
      if (cached !== undefined && cached.until > Date.now()) return cached.link;
      const link = await queries.query(key);
      known.set(key, { link, until: Date.now() + FRESH_MS });
      return link;
    },
  };
}

const keyOf = (workspaceId: string, parameter: string, code: string) => `${workspaceId} ${parameter} ${code}`;

/** Splits at blanks: a parameter's name has none, because it is one of the workspace's names. */
function codeOf(key: string) {
  const [workspaceId = '', parameter = ''] = key.split(' ', 2);
  return { workspaceId, parameter, code: key.slice(workspaceId.length + parameter.length + 2) };
}
