import { type BoundedCache, createBoundedCache } from '../../core/caching/bounded-cache.ts';
import type { Pool } from '../../sql/database/pool.ts';
import {
  linksWithNames,
  othersWithNames,
  type PublishableKeyRow,
  publishableKeysWithLookups,
} from '../../sql/links/link-table.ts';
import { createCoalescedQueries, LookupUnavailable } from './coalesced-queries.ts';
import type { DiskTable } from './disk/disk-table.ts';
import { type KnownKey, keyOf } from './known-key.ts';
import type { LinkCache } from './link-cache.ts';
import type { SyncStatus } from './loader.ts';
import { lowerNameOf, partsOf } from './names.ts';
import { decodeRecord, encodeLink, encodeOther, type SlugRecord } from './records.ts';
import type { LinkTable } from './table.ts';

/**
 * Resolves names and keys: from the table in memory, from the file on disk, and else from PostgreSQL. Concurrent
 * lookups are coalesced and their results cached, absence included.
 */
export type Resolver = {
  /** Returns what the name (see `names.ts`), in any case of letters, stands for if memory knows it. */
  known(name: string): SlugRecord | null;
  /**
   * Returns what the name, in any case of letters, stands for; null for nothing.
   *
   * @throws {LookupUnavailable} when only PostgreSQL could tell
   */
  resolve(name: string): Promise<SlugRecord | null>;
  /** Whether the name was known a moment ago to stand for nothing. */
  knownAbsent(name: string): boolean;
  /** @throws {LookupUnavailable} when only PostgreSQL could tell */
  key(lookup: string): Promise<KnownKey | null>;
  /** Lookups of slugs in PostgreSQL so far, by result. */
  misses(): Readonly<Record<MissResult, number>>;
};

export type MissResult = 'found' | 'absent' | 'unavailable';

const ABSENT_CAPACITY = 100_000;
/** A cached absence holds while the table follows PostgreSQL, which it does every half second. */
const FRESH_MS = 2_000;
/** Longest lookup that a visitor waits for. Milliseconds. */
const LOOKUP_MS = 1_000;
const LIMITS = { concurrency: 4, waiting: 5_000, together: 100 };
/** One thread reads; the second query waits in its queue. */
const DISK_LIMITS = { ...LIMITS, concurrency: 2 };

export function createResolver(given: {
  pool: Pool;
  table: LinkTable;
  cache: LinkCache;
  syncStatus: SyncStatus;
  /** Links that memory lacks. */
  disk: Pick<DiskTable, 'find' | 'hasMore' | 'version'> | null;
  /** Longest lookup, milliseconds. */
  lookupMs?: number | undefined;
}): Resolver {
  const { pool, table, cache, syncStatus, disk, lookupMs: timeoutMs = LOOKUP_MS } = given;
  /** Names in lower case. Keys start with `:`, which no name of a link has. */
  const absent: BoundedCache<string, true> = createBoundedCache(ABSENT_CAPACITY);
  const slugQueries = createCoalescedQueries(readSlugs, { ...LIMITS, timeoutMs });
  const diskQueries =
    disk && createCoalescedQueries((slugs) => readDisk(disk, slugs), { ...DISK_LIMITS, timeoutMs });
  const misses: Record<MissResult, number> = { found: 0, absent: 0, unavailable: 0 };
  const keyQueries = createCoalescedQueries(readKeys, { ...LIMITS, timeoutMs });

  table.listen({
    slugChanged: (slug) => absent.delete(slug.toLowerCase()),
    keyChanged: (lookup) => absent.delete(`:${lookup}`),
  });

  function isAbsent(name: string): boolean {
    return absent.get(name.toLowerCase()) === true && syncStatus.age() < FRESH_MS;
  }

  /** Not after newer changes: one of them may have created what was looked up. */
  function cacheAbsent(name: string, revision: number): void {
    if (revision === syncStatus.revision()) absent.set(name.toLowerCase(), true);
  }

  /** Returns records by the spelling that was looked up. */
  async function readSlugs(names: string[]): Promise<Map<string, SlugRecord>> {
    const revision = syncStatus.revision();
    const found = new Map<string, SlugRecord>();
    /** @param record of what `name` stands for in one of its spellings */
    const cacheFound = (name: string, record: Buffer) => {
      // A response from before a change must not replace the changed record: it serves these visitors only.
      if (revision === syncStatus.revision()) cache.put(record);
      found.set(name, decodeRecord(record));
    };
    const links = await linksWithNames(pool, names.map(partsOf));
    const linksByName = new Map(links.map((row) => [lowerNameOf(row.domain_number, row.slug), row]));
    const rest = names.filter((name) => {
      const link = linksByName.get(name.toLowerCase());
      if (link !== undefined) cacheFound(name, encodeLink(link));
      return link === undefined;
    });
    if (rest.length === 0) return found;
    const rows = await othersWithNames(pool, rest.map(partsOf));
    const others = new Map(rows.map((row) => [lowerNameOf(row.domainNumber, row.slug), row]));
    for (const name of rest) {
      const other = others.get(name.toLowerCase());
      if (other === undefined) cacheAbsent(name, revision);
      else cacheFound(name, encodeOther(other));
    }
    return found;
  }

  async function readKeys(lookups: string[]): Promise<Map<string, PublishableKeyRow>> {
    const revision = syncStatus.revision();
    const rows = await publishableKeysWithLookups(pool, lookups);
    const found = new Map(rows.map((row) => [row.lookup, row]));
    for (const lookup of lookups) if (!found.has(lookup)) cacheAbsent(`:${lookup}`, revision);
    if (revision === syncStatus.revision()) for (const row of rows) cache.putKey(row);
    return found;
  }

  async function readDisk(from: Pick<DiskTable, 'find' | 'version'>, slugs: string[]) {
    const version = from.version();
    const found = new Map<string, SlugRecord>();
    for (const [slug, record] of await from.find(slugs)) {
      if (version === from.version()) cache.put(record);
      found.set(slug, decodeRecord(record));
    }
    return found;
  }

  async function findOnDisk(name: string): Promise<SlugRecord | null> {
    if (diskQueries === null || !disk?.hasMore()) return null;
    try {
      return await diskQueries.query(name);
    } catch (error) {
      if (!(error instanceof LookupUnavailable)) throw error;
      return null; // PostgreSQL may know
    }
  }

  async function findInPostgres(name: string): Promise<SlugRecord | null> {
    let result: MissResult = 'unavailable';
    try {
      const record = await slugQueries.query(name);
      result = record === null ? 'absent' : 'found';
      return record;
    } finally {
      misses[result]++;
    }
  }

  return {
    known: (name) => table.find(name),
    knownAbsent: isAbsent,
    resolve: async (name) => (await findOnDisk(name)) ?? (await findInPostgres(name)),
    async key(lookup) {
      const known = table.key(lookup);
      if (known !== null) return known;
      if (isAbsent(`:${lookup}`)) return null;
      const row = await keyQueries.query(lookup);
      return row && keyOf(row);
    },
    misses: () => misses,
  };
}
