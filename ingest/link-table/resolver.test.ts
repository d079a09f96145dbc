import { expect, test } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import { createPool } from '../../sql/database/pool.ts';
import { LookupUnavailable } from './coalesced-queries.ts';
import { createLinkCache } from './link-cache.ts';
import { encodeOther } from './records.ts';
import { createResolver } from './resolver.ts';
import { createLinkTable } from './table.ts';

const PROGRAMME = encodeOther({
  id: uuidv7(),
  workspace_id: uuidv7(),
  slug: 'programme',
  kind: 'program',
  page: null,
});

/** A resolver without PostgreSQL, whose disk has one programme. */
function resolverOf(disk: { whole?: boolean; reading?: () => void; fails?: boolean }) {
  let version = 1;
  const pool = createPool('postgres://nobody@127.0.0.1:1/none', { connectTimeoutMs: 200 });
  const table = createLinkTable();
  const resolver = createResolver({
    pool,
    table,
    cache: createLinkCache(table, 10),
    syncStatus: {
      loaded: () => true,
      age: () => 0,
      silence: () => 0,
      revision: () => version,
    },
    disk: {
      version: () => version,
      whole: () => disk.whole ?? true,
      async find(slugs) {
        disk.reading?.();
        if (disk.fails) throw new Error('unreadable');
        return new Map(slugs.filter((slug) => slug === 'programme').map((slug) => [slug, PROGRAMME]));
      },
    },
  });
  return { resolver, table, change: () => version++ };
}

test('what the disk has is answered without PostgreSQL, and stays in memory', async () => {
  const { resolver, table } = resolverOf({});
  expect(resolver.known('programme')).toBeNull();
  expect((await resolver.resolve('programme'))?.slug).toBe('programme');
  expect(table.find('programme')?.slug).toBe('programme');
  expect(resolver.misses()).toEqual({ found: 0, absent: 0, unavailable: 0 });
});

test('what was read before a change was told serves its visitor, and does not stay', async () => {
  const changing = resolverOf({ reading: () => changing.change() });
  expect((await changing.resolver.resolve('programme'))?.slug).toBe('programme');
  expect(changing.table.find('programme')).toBeNull();
});

test.each([
  ['is still being made', { whole: false }],
  ['can’t be read', { fails: true }],
])('a file that %s leaves the question to PostgreSQL', async (_, disk) => {
  const { resolver } = resolverOf(disk);
  await expect(resolver.resolve('programme')).rejects.toThrow(LookupUnavailable);
  expect(resolver.misses()).toEqual({ found: 0, absent: 0, unavailable: 1 });
});
