import { type BoundedCache, createBoundedCache } from '../../core/bounded-cache.ts';
import {
  linksWithSlugs,
  othersWithSlugs,
  type PublishableKeyRow,
  publishableKeysWithLookups,
} from '../../sql/link-table.ts';
import type { Pool } from '../../sql/pool.ts';
import type { TableLoader } from './loader.ts';
import { decodeRecord, encodeLink, encodeOther, type SlugRecord } from './records.ts';
import { createStoreQuestions } from './store-questions.ts';
import type { KnownKey, LinkTable } from './table.ts';
import type { TableWriter } from './table-writer.ts';

/**
 * What a slug or a key is, from the table or, when the table does not have it, from PostgreSQL: asked once, its
 * answer kept, also when there is none.
 */
export type Resolver = {
  /** What the slug names, as far as the table knows. */
  known(slug: string): SlugRecord | null;
  /**
   * What the slug names, null when nothing does.
   *
   * @throws {StoreUnavailable} when only PostgreSQL could tell
   */
  ask(slug: string): Promise<SlugRecord | null>;
  /** Whether the slug is known, as of a moment ago, to name nothing. */
  knownAbsent(slug: string): boolean;
  /** @throws {StoreUnavailable} when only PostgreSQL could tell */
  key(lookup: string): Promise<KnownKey | null>;
};

const ABSENT_CAPACITY = 100_000;
/** An absence is believed while the table follows PostgreSQL, which it does every half second. */
const FRESH_MS = 2_000;
const LIMITS = { timeoutMs: 1_000, concurrency: 4, waiting: 5_000, together: 100 };

export function createResolver(given: {
  pool: Pool;
  table: LinkTable;
  writer: TableWriter;
  loader: TableLoader;
}): Resolver {
  const { pool, table, writer, loader } = given;
  /** By slug in lower case, the spelling that was asked for; keys behind a `:`, which no slug has. */
  const absent: BoundedCache<string, string> = createBoundedCache(ABSENT_CAPACITY);
  const slugQuestions = createStoreQuestions(readSlugs, LIMITS);
  const keyQuestions = createStoreQuestions(readKeys, LIMITS);

  table.listen({
    slugChanged: (slug) => absent.delete(slug.toLowerCase()),
    keyChanged: (lookup) => absent.delete(`:${lookup}`),
  });

  function isAbsent(name: string): boolean {
    return absent.get(name.toLowerCase()) === name && loader.age() < FRESH_MS;
  }

  /** Not after a round of changes: one of them may have made what was asked for. */
  function noteAbsent(name: string, rounds: number): void {
    if (rounds === loader.rounds()) absent.set(name.toLowerCase(), name);
  }

  /** By the spelling that was asked for. */
  async function readSlugs(slugs: string[]): Promise<Map<string, SlugRecord>> {
    const rounds = loader.rounds();
    const found = new Map<string, SlugRecord>();
    const note = (slug: string, record: Buffer) => {
      // An answer from before a change must not replace what that change has put: it serves these visitors only.
      if (rounds === loader.rounds()) writer.put(record);
      found.set(slug, decodeRecord(record));
    };
    for (const link of await linksWithSlugs(pool, slugs)) note(link.slug, encodeLink(link));
    const rest = slugs.filter((slug) => !found.has(slug));
    if (rest.length === 0) return found;
    const others = new Map((await othersWithSlugs(pool, rest)).map((row) => [row.slug, row]));
    for (const slug of rest) {
      const other = others.get(slug.toLowerCase());
      if (other === undefined) noteAbsent(slug, rounds);
      else note(slug, encodeOther(other));
    }
    return found;
  }

  async function readKeys(lookups: string[]): Promise<Map<string, PublishableKeyRow>> {
    const rounds = loader.rounds();
    const rows = await publishableKeysWithLookups(pool, lookups);
    const found = new Map(rows.map((row) => [row.lookup, row]));
    for (const lookup of lookups) if (!found.has(lookup)) noteAbsent(`:${lookup}`, rounds);
    if (rounds === loader.rounds()) for (const row of rows) writer.putKey(row);
    return found;
  }

  return {
    known(slug) {
      const record = table.find(slug);
      // A link answers its exact spelling only; pages and programmes answer any.
      return record !== null && (record.kind !== 'link' || record.slug === slug) ? record : null;
    },
    knownAbsent: isAbsent,
    ask: (slug) => slugQuestions.ask(slug),
    async key(lookup) {
      const known = table.key(lookup);
      if (known !== null) return known;
      if (isAbsent(`:${lookup}`)) return null;
      const row = await keyQuestions.ask(lookup);
      return row && { id: row.id, lookup: row.lookup, hash: row.hash, workspaceId: row.workspace_id };
    },
  };
}
