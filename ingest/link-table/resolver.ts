import { type BoundedCache, createBoundedCache } from '../../core/caching/bounded-cache.ts';
import type { Pool } from '../../sql/database/pool.ts';
import {
  linksWithSlugs,
  othersWithSlugs,
  type PublishableKeyRow,
  publishableKeysWithLookups,
} from '../../sql/links/link-table.ts';
import { createCoalescedQueries, LookupUnavailable } from './coalesced-queries.ts';
import type { DiskTable } from './disk/disk-table.ts';
import { type KnownKey, keyOf } from './known-key.ts';
import type { LinkCache } from './link-cache.ts';
import type { SyncStatus } from './loader.ts';
import { decodeRecord, encodeLink, encodeOther, type SlugRecord } from './records.ts';
import type { LinkTable } from './table.ts';

/**
 * What a slug or a key is: from the table in memory, from the one on disk where there is one, and when neither has it
 * from PostgreSQL: asked once, its answer kept, also when there is none.
 */
export type Resolver = {
  /** What the slug names, as far as memory knows. */
  known(slug: string): SlugRecord | null;
  /**
   * What the slug names, null when nothing does.
   *
   * @throws {LookupUnavailable} when only PostgreSQL could tell
   */
  resolve(slug: string): Promise<SlugRecord | null>;
  /** Whether the slug is known, as of a moment ago, to name nothing. */
  knownAbsent(slug: string): boolean;
  /** @throws {LookupUnavailable} when only PostgreSQL could tell */
  key(lookup: string): Promise<KnownKey | null>;
  /** Visitors' slugs asked of PostgreSQL so far, by what came of it. */
  misses(): Readonly<Record<MissResult, number>>;
};

export type MissResult = 'found' | 'absent' | 'unavailable';

const ABSENT_CAPACITY = 100_000;
/** An absence is believed while the table follows PostgreSQL, which it does every half second. */
const FRESH_MS = 2_000;
const LIMITS = { timeoutMs: 1_000, concurrency: 4, waiting: 5_000, together: 100 };
/** One thread reads: while it does, the next question is there already. */
const DISK_LIMITS = { ...LIMITS, concurrency: 2 };

export function createResolver(given: {
  pool: Pool;
  table: LinkTable;
  cache: LinkCache;
  syncStatus: SyncStatus;
  /** Links that memory does not hold; null: it holds all. */
  disk: Pick<DiskTable, 'find' | 'whole' | 'version'> | null;
}): Resolver {
  const { pool, table, cache, syncStatus, disk } = given;
  /** By slug in lower case, the spelling that was asked for; keys behind a `:`, which no slug has. */
  const absent: BoundedCache<string, string> = createBoundedCache(ABSENT_CAPACITY);
  const slugQueries = createCoalescedQueries(readSlugs, LIMITS);
  const diskQueries = disk && createCoalescedQueries((slugs) => readDisk(disk, slugs), DISK_LIMITS);
  const misses: Record<MissResult, number> = { found: 0, absent: 0, unavailable: 0 };
  const keyQueries = createCoalescedQueries(readKeys, LIMITS);

  table.listen({
    slugChanged: (slug) => absent.delete(slug.toLowerCase()),
    keyChanged: (lookup) => absent.delete(`:${lookup}`),
  });

  function isAbsent(name: string): boolean {
    return absent.get(name.toLowerCase()) === name && syncStatus.age() < FRESH_MS;
  }

  /** Not after a round of changes: one of them may have made what was asked for. */
  function noteAbsent(name: string, revision: number): void {
    if (revision === syncStatus.revision()) absent.set(name.toLowerCase(), name);
  }

  /** By the spelling that was asked for. */
  async function readSlugs(slugs: string[]): Promise<Map<string, SlugRecord>> {
    const revision = syncStatus.revision();
    const found = new Map<string, SlugRecord>();
    const note = (slug: string, record: Buffer) => {
      // An answer from before a change must not replace what that change has put: it serves these visitors only.
      if (revision === syncStatus.revision()) cache.put(record);
      found.set(slug, decodeRecord(record));
    };
    for (const link of await linksWithSlugs(pool, slugs)) note(link.slug, encodeLink(link));
    const rest = slugs.filter((slug) => !found.has(slug));
    if (rest.length === 0) return found;
    const others = new Map((await othersWithSlugs(pool, rest)).map((row) => [row.slug, row]));
    for (const slug of rest) {
      const other = others.get(slug.toLowerCase());
      if (other === undefined) noteAbsent(slug, revision);
      else note(slug, encodeOther(other));
    }
    return found;
  }

  async function readKeys(lookups: string[]): Promise<Map<string, PublishableKeyRow>> {
    const revision = syncStatus.revision();
    const rows = await publishableKeysWithLookups(pool, lookups);
    const found = new Map(rows.map((row) => [row.lookup, row]));
    for (const lookup of lookups) if (!found.has(lookup)) noteAbsent(`:${lookup}`, revision);
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

  async function findOnDisk(slug: string): Promise<SlugRecord | null> {
    if (diskQueries === null || !disk?.whole()) return null;
    try {
      return spelledSo(await diskQueries.query(slug), slug);
    } catch (error) {
      if (!(error instanceof LookupUnavailable)) throw error;
      return null; // PostgreSQL may tell
    }
  }

  async function findInPostgres(slug: string): Promise<SlugRecord | null> {
    let result: MissResult = 'unavailable';
    try {
      const record = await slugQueries.query(slug);
      result = record === null ? 'absent' : 'found';
      return record;
    } finally {
      misses[result]++;
    }
  }

  /** A link answers its exact spelling only; pages and programmes answer any. */
  function spelledSo(record: SlugRecord | null, slug: string): SlugRecord | null {
    return record !== null && (record.kind !== 'link' || record.slug === slug) ? record : null;
  }

  return {
    known: (slug) => spelledSo(table.find(slug), slug),
    knownAbsent: isAbsent,
    resolve: async (slug) => (await findOnDisk(slug)) ?? (await findInPostgres(slug)),
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
