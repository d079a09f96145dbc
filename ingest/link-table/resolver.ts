import { type BoundedCache, createBoundedCache } from '../../core/bounded-cache.ts';
import {
  linkWithSlug,
  otherWithSlug,
  type PublishableKeyRow,
  publishableKeyWithLookup,
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
const LIMITS = { timeoutMs: 1_000, concurrency: 4, waiting: 500 };

export function createResolver(given: {
  pool: Pool;
  table: LinkTable;
  writer: TableWriter;
  loader: TableLoader;
}): Resolver {
  const { pool, table, writer, loader } = given;
  /** By slug in lower case, the spelling that was asked for; keys behind a `:`, which no slug has. */
  const absent: BoundedCache<string, string> = createBoundedCache(ABSENT_CAPACITY);
  const slugQuestions = createStoreQuestions<SlugRecord | null>(LIMITS);
  const keyQuestions = createStoreQuestions<PublishableKeyRow | null>(LIMITS);

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

  async function readSlug(slug: string): Promise<SlugRecord | null> {
    const rounds = loader.rounds();
    const link = await linkWithSlug(pool, slug);
    const other = link === null ? await otherWithSlug(pool, slug) : null;
    // An answer from before a change must not replace what that change has put: it serves this visitor only.
    const kept = rounds === loader.rounds();
    if (link !== null) {
      if (kept) writer.putLink(link);
      return decodeRecord(encodeLink(link));
    }
    if (other !== null) {
      if (kept) writer.putOther(other);
      return decodeRecord(encodeOther(other));
    }
    noteAbsent(slug, rounds);
    return null;
  }

  async function readKey(lookup: string): Promise<PublishableKeyRow | null> {
    const rounds = loader.rounds();
    const row = await publishableKeyWithLookup(pool, lookup);
    if (row === null) noteAbsent(`:${lookup}`, rounds);
    else if (rounds === loader.rounds()) writer.putKey(row);
    return row;
  }

  return {
    known(slug) {
      const record = table.find(slug);
      // A link answers its exact spelling only; pages and programmes answer any.
      return record !== null && (record.kind !== 'link' || record.slug === slug) ? record : null;
    },
    knownAbsent: isAbsent,
    ask: (slug) => slugQuestions.ask(slug, () => readSlug(slug)),
    async key(lookup) {
      const known = table.key(lookup);
      if (known !== null) return known;
      if (isAbsent(`:${lookup}`)) return null;
      const row = await keyQuestions.ask(lookup, () => readKey(lookup));
      return row && { id: row.id, lookup: row.lookup, hash: row.hash, workspaceId: row.workspace_id };
    },
  };
}
