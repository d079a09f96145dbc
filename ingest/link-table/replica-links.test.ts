import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { migrate } from '../../sql/database/migrate.ts';
import { createPool, type Pool } from '../../sql/database/pool.ts';
import { FIRST_ID, linksAfter } from '../../sql/links/link-table.ts';
import { makeLink, makeWorkspace } from '../../test/support/ingest.ts';
import { quietTable } from '../../test/support/quiet-table.ts';
import { type ReplicatedPostgres, startReplicatedPostgres } from '../../test/support/replicated-postgres.ts';
import { encodeLink } from './records.ts';
import { fromReplica } from './replica-links.ts';

const PAGE = 5;
const LINKS = 30;

let directory: string;
let postgres: ReplicatedPostgres;
let primary: Pool;
let replica: Pool;
let workspaceId: string;
/** Links in order of id, as they are read. */
let links: { id: string; slug: string }[];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-replica-'));
  postgres = await startReplicatedPostgres(directory, { isSynchronous: false });
  primary = createPool(postgres.urlOf((url) => url));
  replica = createPool(postgres.standbyUrl);
  await migrate(primary);
  workspaceId = (await makeWorkspace(primary)).id;
  for (let n = 0; n < LINKS; n++) await makeLink(primary, workspaceId, `https://example.com/${n}`);
}, 120_000);

afterAll(async () => {
  await Promise.all([primary?.end(), replica?.end()]);
  await postgres?.stop();
  rmSync(directory, { recursive: true, force: true });
});

beforeEach(async () => {
  ({ links } = await linksAfter(primary, FIRST_ID, 1_000));
});

const pauseReplay = () => postgres.onStandby('SELECT pg_wal_replay_pause()');
const resumeReplay = () => postgres.onStandby('SELECT pg_wal_replay_resume()');

/** A table that reads links from the replica; `onPage` runs before a page of it is read, and may take a while. */
function tableOfReplica(onPage: (page: number) => unknown = () => {}, lagMs?: number) {
  const pages = { primary: 0, replica: 0 };
  const query = async (statement: string, values?: unknown[]) => {
    if (typeof statement === 'string' && statement.includes('FROM links WHERE id > $1')) pages.primary += 1;
    return primary.query(statement, values);
  };
  const queryReplica = async (statement: string, values?: unknown[]) => {
    await onPage(pages.replica);
    const result = await replica.query(statement, values);
    if (result.rows[0].has_marker) pages.replica += 1;
    return result;
  };
  const logged: string[] = [];
  const log = pino(
    { level: 'info' },
    {
      write(line: string) {
        const { msg, err } = JSON.parse(line) as { msg: string; err?: { message: string } };
        logged.push(err ? `${msg}: ${err.message}` : msg);
      },
    },
  );
  const asPool = (pool: Pool, given: unknown) => ({ ...pool, query: given }) as unknown as Pool;
  const counted = asPool(primary, query);
  const source = fromReplica({
    primary: counted,
    replica: asPool(replica, queryReplica),
    page: PAGE,
    ...(lagMs !== undefined && { lagMs }),
  });
  const { table, loader } = quietTable(counted, {}, { page: PAGE, pollMs: 20, elsewhere: [source], log });
  return { table, loader, pages, logged };
}

type Given = ReturnType<typeof tableOfReplica>;

/** Starts the loader, and expects its table to become the links of the primary. */
async function expectWhole({ table, loader }: Given): Promise<void> {
  loader.start();
  await expect.poll(loader.loaded).toBe(true);
  await expect
    .poll(async () => {
      const { links: present } = await linksAfter(primary, FIRST_ID, 1_000);
      const expected = present.map((row) => encodeLink(row).toString('base64')).toSorted();
      const found = [...table.records()].map((record) => Buffer.from(record).toString('base64')).toSorted();
      return found.join() === expected.join();
    })
    .toBe(true);
  const { rows } = await primary.query("SELECT FROM job_leases WHERE starts_with(job, 'linkMarker/')");
  expect(rows).toEqual([]);
}

const moved = (id: string, to: string) =>
  primary.query(
    `UPDATE destinations SET destination_url = $2 WHERE id = (SELECT destination_id FROM links WHERE id = $1)`,
    [id, to],
  );

test('links come from the replica, and no page of them from the primary', async () => {
  const given = tableOfReplica();
  await expectWhole(given);
  expect(given.pages).toEqual({ primary: 0, replica: Math.ceil((LINKS + 1) / PAGE) });
  expect(given.logged).toEqual(['link table: links were read from elsewhere']);
});

test('changes of links that a replica does not have yet are not undone by its pages', async () => {
  const later = links.slice(3 * PAGE);
  const [renamed, deleted, ofCampaign] = later;
  if (!(renamed && deleted && ofCampaign)) throw new Error('too few links');
  const fresh = { id: '' };
  const given = tableOfReplica(async (page) => {
    if (page !== 2 || fresh.id !== '') return;
    await pauseReplay();
    await primary.query(`UPDATE links SET slug = 'renamed-later' WHERE id = $1`, [renamed.id]);
    await primary.query('UPDATE links SET deleted_at = now() WHERE id = $1', [deleted.id]);
    await moved(ofCampaign.id, 'https://example.com/moved');
    fresh.id = (await makeLink(primary, workspaceId, 'https://example.com/fresh')).id;
    await expect.poll(() => given.table.find('renamed-later')).not.toBeNull();
  });
  onTestFinished(async () => {
    await resumeReplay();
  });
  await expectWhole(given);
  expect(given.table.find(deleted.slug)).toBeNull();
  expect(given.logged).toEqual(['link table: links were read from elsewhere']);
  expect(given.pages.primary).toBe(0);
});

test('a replica that is behind is waited for', async () => {
  await pauseReplay();
  const [first] = links;
  await moved(first?.id ?? '', 'https://example.com/behind');
  let asked = 0;
  const given = tableOfReplica(async () => {
    asked += 1;
    if (asked === 3) await resumeReplay();
  });
  await expectWhole(given);
  expect(asked).toBeGreaterThan(3);
  expect(given.pages.primary).toBe(0);
});

test('a replica that stays behind is left, with one line of the log, and the primary has every link', async () => {
  await pauseReplay();
  onTestFinished(async () => {
    await resumeReplay();
  });
  const [first, second] = links;
  await moved(first?.id ?? '', 'https://example.com/lag');
  await primary.query('UPDATE links SET deleted_at = now() WHERE id = $1', [second?.id]);
  const given = tableOfReplica(undefined, 300);
  await expectWhole(given);
  expect(given.pages.replica).toBe(0);
  expect(given.logged).toEqual([
    'link table: failed to read links from elsewhere; reading them from the primary: the replica is more than 0.3 s behind',
  ]);
});

test('a replica that goes away between two pages is left, and a change meanwhile is in the table', async () => {
  const last = links.at(-1);
  onTestFinished(postgres.startStandby);
  let isGone = false;
  const given = tableOfReplica(async (page) => {
    if (page !== 2 || isGone) return;
    isGone = true;
    postgres.killStandby();
    await moved(last?.id ?? '', 'https://example.com/gone');
  });
  await expectWhole(given);
  expect(given.logged).toHaveLength(1);
  expect(given.pages.replica).toBe(2);
  expect(given.pages.primary).toBeGreaterThan(0);
});

test('a replica that goes back between two pages is left, and the primary has the rest', async () => {
  await postgres.copyStandby();
  const [, , changed] = links.slice(2 * PAGE);
  await moved(changed?.id ?? '', 'https://example.com/after-the-copy');
  let isBack = false;
  const given = tableOfReplica(async (page) => {
    if (page !== 2 || isBack) return;
    isBack = true;
    await postgres.restoreStandby();
    // Connections to the killed server fail once.
    await expect.poll(() => replica.query('SELECT 1').catch(() => null)).not.toBeNull();
  });
  await expectWhole(given);
  expect(isBack).toBe(true);
  expect(given.pages.primary).toBeGreaterThan(0);
  expect(given.logged).toEqual([
    'link table: failed to read links from elsewhere; reading them from the primary: the replica has gone back, or is another server than before',
  ]);
});
