import { expect, test } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import { createPool } from '../../sql/database/pool.ts';
import { LookupUnavailable } from './coalesced-queries.ts';
import { createLinkCache } from './link-cache.ts';
import { encodeOther } from './records.ts';
import { createResolver } from './resolver.ts';
import { createLinkTable } from './table.ts';

const PROGRAM = encodeOther({
  id: uuidv7(),
  workspace_id: uuidv7(),
  domainNumber: 0,
  slug: 'program',
  kind: 'program',
  page: null,
  target: null,
});

/** A resolver without PostgreSQL, with one program on disk. */
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
      hasMore: () => disk.whole ?? true,
      async find(slugs) {
        disk.reading?.();
        if (disk.fails) throw new Error('unreadable');
        return new Map(slugs.filter((slug) => slug === 'program').map((slug) => [slug, PROGRAM]));
      },
    },
  });
  return { resolver, table, change: () => version++ };
}

test('a record on disk is returned without PostgreSQL, and stays in memory', async () => {
  const { resolver, table } = resolverOf({});
  expect(resolver.known('program')).toBeNull();
  expect((await resolver.resolve('program'))?.name).toBe('program');
  expect(table.find('program')?.name).toBe('program');
  expect(resolver.misses()).toEqual({ found: 0, absent: 0, unavailable: 0 });
});

test('a record read before a change is returned, and does not stay in memory', async () => {
  const changing = resolverOf({ reading: () => changing.change() });
  expect((await changing.resolver.resolve('program'))?.name).toBe('program');
  expect(changing.table.find('program')).toBeNull();
});

test.each([
  ['is still being made', { whole: false }],
  ['can’t be read', { fails: true }],
])('with a file that %s the lookup goes to PostgreSQL', async (_, disk) => {
  const { resolver } = resolverOf(disk);
  await expect(resolver.resolve('program')).rejects.toThrow(LookupUnavailable);
  expect(resolver.misses()).toEqual({ found: 0, absent: 0, unavailable: 1 });
});
