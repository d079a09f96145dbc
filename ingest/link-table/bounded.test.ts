import { randomBytes } from 'node:crypto';
import { open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import {
  ageLinksFile,
  isCurrent,
  makeLink,
  makeWorkspace,
  slugsHeld,
  startTestIngest,
  type TestIngest,
} from '../../test/support/ingest.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { visit } from '../../test/support/visitors.ts';
import { removeLinksFile } from './disk/paths.ts';

/** Links in memory and in PostgreSQL. */
const MOST = 8;
const COUNT = 40;
const PROGRAMS = 20;
let stores: TestStores;
let ingest: TestIngest;
let workspaceId: string;
let links: { id: string; slug: string; destinationId: string }[] = [];

const env = { INGEST_LINKS_IN_MEMORY: String(MOST) };
const start = (given: { dataDir?: string; databaseUrl?: string; env?: Record<string, string> } = {}) =>
  startTestIngest({ ...stores, env, ...given });

beforeAll(async () => {
  stores = await testStores();
  workspaceId = (await makeWorkspace(stores.pool)).id;
  for (let n = 0; n < COUNT; n++) {
    links.push(await makeLink(stores.pool, workspaceId, `https://example.com/${n}`));
  }
  ingest = await start();
});
afterAll(async () => {
  await ingest?.close();
  await ingest?.remove();
  await stores?.close();
});

const slugs = () => slugsHeld(ingest);
async function answer({ slug }: { slug: string }): Promise<string> {
  const { status, location } = await visit(`${ingest.url}/${slug}`);
  return status === 302 ? (location?.pathname ?? '') : String(status);
}
async function total(metric: string): Promise<number> {
  const { values } = (await ingest.registry.getSingleMetric(metric)?.get()) ?? { values: [] };
  return values.reduce((sum, { value }) => sum + value, 0);
}
/** Slugs looked up in PostgreSQL. */
const questions = () => total('hoplog_ingest_misses_total');
const diskReads = () => total('hoplog_ingest_link_table_disk_reads_total');
const current = () => isCurrent(ingest);
/** The expected response of every link, changed only by {@link moved}. */
const expected = new Map<string, string>();
const destinationOf = ({ id }: { id: string }, n: number) => expected.get(id) ?? `/${n}`;
async function requireAllAnswered(): Promise<void> {
  expect(await Promise.all(links.map(answer))).toEqual(links.map(destinationOf));
}

test('all links are served from disk, and as many as fit are in memory', async () => {
  await expect.poll(current).toBe(true);
  expect(await slugs()).toBe(0);
  for (let round = 0; round < 3; round++) {
    await requireAllAnswered();
    expect(await slugs()).toBe(MOST);
  }
  expect(await questions()).toBe(0);
  expect(await diskReads()).toBeGreaterThanOrEqual(COUNT);
});

test('links in use stay in memory whatever else is requested', async () => {
  const wanted = links.slice(0, MOST / 2);
  for (const link of wanted) await answer(link);
  const before = await diskReads();
  let others = 0;
  for (const link of links.slice(MOST)) {
    for (const one of wanted) expect(await answer(one)).not.toBe('503');
    await answer(link);
    others++;
  }
  // If they were evicted, each would be read again and again.
  expect(await diskReads()).toBeLessThanOrEqual(before + others + wanted.length);
});

test('changes arrive for links in memory and on disk', async () => {
  const moved = async (n: number, path: string) => {
    const link = links[n];
    if (link === undefined) throw new RangeError(`no link ${n}`);
    await stores.pool.query('UPDATE destinations SET destination_url = $2 WHERE id = $1', [
      link.destinationId,
      `https://example.com${path}`,
    ]);
    expected.set(link.id, path);
  };
  // Meanwhile visitors make the table load and evict links.
  let over = false;
  const visitors = (async () => {
    while (!over) await Promise.all(links.map(answer));
  })();
  for (let n = 0; n < COUNT; n++) await moved(n, `/moved-${n}`);
  over = true;
  await visitors;
  for (const [n, link] of links.entries()) {
    await expect.poll(() => answer(link)).toBe(destinationOf(link, n));
  }
  const [gone, renamed] = [links[3], links[30]];
  await stores.pool.query('UPDATE links SET deleted_at = now() WHERE id = $1', [gone?.id]);
  await stores.pool.query(`UPDATE links SET slug = 'renamed' WHERE id = $1`, [renamed?.id]);
  await expect.poll(() => answer({ slug: gone?.slug ?? '' })).toBe('404');
  await expect.poll(() => answer({ slug: renamed?.slug ?? '' })).toBe('404');
  expect(await answer({ slug: 'renamed' })).toBe('/moved-30');
  links = links.filter(({ id }) => id !== gone?.id && id !== renamed?.id);
});

test('pages and programs are always in memory and evict no link', async () => {
  const names = Array.from({ length: PROGRAMS }, (_, n) => `program-${n}`);
  const fill = () => Promise.all(links.map(answer));
  await expect.poll(() => fill().then(slugs)).toBe(MOST);
  for (const slug of names) {
    await stores.pool.query(
      `INSERT INTO slugs (slug, kind, target_id, workspace_id) VALUES ($1, 'program', $2, $3)`,
      [slug, uuidv7(), workspaceId],
    );
  }
  for (const slug of names) expect(await answer({ slug })).toBe('404');
  await expect.poll(slugs).toBe(MOST + PROGRAMS);
  await fill();
  expect(await slugs()).toBe(MOST + PROGRAMS);
});

test('a thousand visitors of unknown slugs do not affect visitors of links', async () => {
  const absent = Array.from({ length: 1_000 }, (_, n) => ({ slug: `nothing-${n}` }));
  const [nobody, answers] = await Promise.all([
    Promise.all(absent.map(answer)),
    Promise.all(links.map(answer)),
  ]);
  expect(answers).toEqual(links.map(destinationOf));
  // PostgreSQL may not respond to all within the second that a visitor waits.
  for (const status of new Set(nobody)) expect(['404', '503']).toContain(status);
  for (const one of absent.slice(0, 10)) await expect.poll(() => answer(one)).toBe('404');
});

test('a restart serves all links at once, without those deleted meanwhile', async () => {
  await ingest.close();
  const [gone] = links;
  await stores.pool.query('UPDATE links SET deleted_at = now() WHERE id = $1', [gone?.id]);
  ingest = await start({ dataDir: ingest.dataDir });
  await expect.poll(() => answer({ slug: gone?.slug ?? '' })).toBe('404');
  links.shift();
  const before = await questions();
  await requireAllAnswered();
  expect(await questions()).toBe(before);
});

test('a restart after hours, when the changes were deleted, does so too', async () => {
  await ingest.close();
  const [gone] = links;
  await stores.pool.query('UPDATE links SET deleted_at = now() WHERE id = $1', [gone?.id]);
  await stores.pool.query('DELETE FROM link_changes');
  ageLinksFile(ingest.dataDir);
  ingest = await start({ dataDir: ingest.dataDir });
  await expect.poll(() => answer({ slug: gone?.slug ?? '' })).toBe('404');
  links.shift();
  await requireAllAnswered();
});

test('with PostgreSQL down all links redirect, with less memory too', async () => {
  await ingest.close();
  const databaseUrl = 'postgres://nobody@127.0.0.1:1/none';
  const env = { INGEST_LINKS_IN_MEMORY: String(MOST / 2) };
  ingest = await start({ dataDir: ingest.dataDir, databaseUrl, env });
  for (let round = 0; round < 3; round++) await requireAllAnswered();
  expect(await slugs()).toBe(MOST / 2 + PROGRAMS);
  expect(await answer({ slug: 'nothing-like-it' })).toBe('503');
});

test('a damaged file is rebuilt while PostgreSQL serves lookups', async () => {
  await ingest.close();
  const dir = join(ingest.dataDir, 'ingest', 'ingest-0');
  for (const name of await readdir(dir)) {
    if (name.startsWith('links.sqlite-')) await rm(join(dir, name));
  }
  const file = join(dir, 'links.sqlite');
  const { size } = await stat(file);
  await writeFile(file, randomBytes(size));
  ingest = await start({ dataDir: ingest.dataDir });
  await expect.poll(slugs).toBeGreaterThanOrEqual(0);
  await requireAllAnswered();
  await expect.poll(current).toBe(true);
  const before = await questions();
  await requireAllAnswered();
  expect(await questions()).toBe(before);
});

test('damage found while reading costs no visitor a redirect, and the file is rebuilt', async () => {
  await ingest.close();
  const dir = join(ingest.dataDir, 'ingest', 'ingest-0');
  removeLinksFile(dir);
  ingest = await start({ dataDir: ingest.dataDir });
  await expect.poll(current).toBe(true);
  // After the first page, which identifies the file, and before the rest is read.
  const path = join(dir, 'links.sqlite');
  const spoilt = randomBytes((await stat(path)).size - 4_096);
  const file = await open(path, 'r+');
  await file.write(spoilt, 0, spoilt.length, 4_096);
  await file.close();
  const isSpoilt = async () => (await readFile(path).catch(() => spoilt)).includes(spoilt.subarray(0, 64));
  await requireAllAnswered();
  await expect.poll(isSpoilt).toBe(false);
  await expect.poll(current).toBe(true);
  await requireAllAnswered();
});

test('one file serves memory that holds all links and memory that holds some, in any order', async () => {
  for (const most of ['all', 'all', String(MOST), 'all']) {
    await ingest.close();
    ingest = await start({ dataDir: ingest.dataDir, env: { INGEST_LINKS_IN_MEMORY: most } });
    await expect.poll(current).toBe(true);
    const [misses, reads] = [await questions(), await diskReads()];
    await requireAllAnswered();
    expect(await questions()).toBe(misses);
    if (most === 'all') expect(await diskReads()).toBe(reads);
    else expect(await diskReads()).toBeGreaterThan(reads);
  }
  await ingest.close();
  const databaseUrl = 'postgres://nobody@127.0.0.1:1/none';
  ingest = await start({ dataDir: ingest.dataDir, databaseUrl, env: { INGEST_LINKS_IN_MEMORY: 'all' } });
  await requireAllAnswered();
  // One more: the renamed link.
  expect(await slugs()).toBe(links.length + 1 + PROGRAMS);
});
