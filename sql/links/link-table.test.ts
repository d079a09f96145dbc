import { afterAll, beforeAll, expect, test } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import type { Queryable } from '../database/pool.ts';
import { createWorkspace } from '../workspaces/workspaces.ts';
import { changesAfter, oldestRunningTransaction } from './link-changes.ts';
import { FIRST_ID, linksAfter, linksWithNames, otherSlugsAfter, othersWithNames } from './link-table.ts';
import { OWN_DOMAIN } from './slugs.ts';

let stores: TestStores;
const LINKS = 20_000;
const NAMES = ['many-1', 'many-2'].map((slug) => ({ domainNumber: OWN_DOMAIN, slug }));

beforeAll(async () => {
  stores = await testStores();
  const { id } = await createWorkspace(stores.pool, { name: 'Many', plan: 'unlimited' });
  await stores.pool.query(
    `WITH campaign AS (INSERT INTO destinations (id, workspace_id, name, destination_url)
       VALUES (gen_random_uuid(), $1, 'Many', 'https://example.com/') RETURNING id),
     named AS (INSERT INTO slugs (slug, kind, target_id, workspace_id)
       SELECT 'many-' || n, 'link', gen_random_uuid(), $1 FROM generate_series(1, $2::int) AS n)
     INSERT INTO links (id, workspace_id, destination_id, slug, created_at, updated_at)
     SELECT gen_random_uuid(), $1, campaign.id, 'many-' || n, now() + n * interval '1 microsecond', now()
     FROM campaign, generate_series(1, $2::int) AS n`,
    [id, LINKS],
  );
  await stores.admin.query('ANALYZE');
});
afterAll(() => stores?.close());

/** Returns PostgreSQL's plan for the statement that `query` runs. */
async function planOf(query: (db: Queryable) => Promise<unknown>): Promise<string> {
  let plan = '';
  const explaining: Queryable = {
    query: async (statement: string | { text: string }, values?: unknown[]) => {
      // A prepared statement is planned without its values.
      const { rows } = await (typeof statement === 'string'
        ? stores.pool.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${statement}`, values)
        : stores.pool.query<{ 'QUERY PLAN': string }>(`EXPLAIN (GENERIC_PLAN) ${statement.text}`));
      plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      return { rows: [] };
    },
  } as unknown as Queryable;
  await query(explaining);
  return plan;
}

test('pages and programs are found without scanning links, of which there may be millions', async () => {
  const plan = await planOf((db) => otherSlugsAfter(db, { domainNumber: OWN_DOMAIN, slug: '' }, 2_000));
  expect(plan).toMatch(/Index (Only )?Scan using slugs_of_others/);
  expect(plan).not.toMatch(/Seq Scan on slugs/);
});

test('requested slugs are looked up one by one', async () => {
  const links = await planOf((db) => linksWithNames(db, NAMES));
  expect(links).toMatch(/Index (Only )?Scan using slugs_pkey /);
  expect(links).toMatch(/Index Scan using links_pkey /);
  const others = await planOf((db) => othersWithNames(db, NAMES));
  expect(others).toMatch(/Index (Only )?Scan using slugs_of_others/);
});

test('a page of links is read by the primary key, and all pages have all links', async () => {
  const plan = await planOf((db) => linksAfter(db, FIRST_ID, 2_000));
  expect(plan).toMatch(/Index Scan using links_pkey/);
  const walked: string[] = [];
  for (let from: string | null = FIRST_ID; from !== null; ) {
    const { links, next } = await linksAfter(stores.pool, from, 6_000);
    walked.push(...links.map(({ id }) => id));
    from = next;
  }
  expect(new Set(walked).size).toBe(LINKS);
  expect(walked).toEqual(walked.toSorted());
});

test('changes that came with a backup of another server are left out', async () => {
  const [foreign, own] = [uuidv7(), uuidv7()];
  const { xmin: xid } = await oldestRunningTransaction(stores.pool);
  await stores.pool.query(
    `INSERT INTO link_changes (xid, kind, target_id)
     VALUES ((pg_current_xact_id()::text::bigint + 1000000)::text::xid8, 'link', $1)`,
    [foreign],
  );
  await stores.pool.query(`INSERT INTO link_changes (kind, target_id) VALUES ('link', $1)`, [own]);
  const { changes } = await changesAfter(stores.pool, { xid, id: '-1' }, 1_000);
  expect(changes.map(({ target_id }) => target_id)).toEqual([own]);
});
