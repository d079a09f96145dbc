import { randomBytes } from 'node:crypto';
import { open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import {
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

/** Links in memory, and in PostgreSQL. */
const MOST = 8;
const COUNT = 40;
const PROGRAMMES = 20;
const soon = { timeout: 10_000 };

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
/** Slugs asked of PostgreSQL. */
const questions = () => total('hoplog_ingest_misses_total');
const diskReads = () => total('hoplog_ingest_link_table_disk_reads_total');
const current = () => isCurrent(ingest);
/** What every link should answer, as long as only {@link moved} changes them. */
const expected = new Map<string, string>();
const destinationOf = ({ id }: { id: string }, n: number) => expected.get(id) ?? `/${n}`;
async function requireAllAnswered(): Promise<void> {
  expect(await Promise.all(links.map(answer))).toEqual(links.map(destinationOf));
}

test('all links are answered from disk, and as many as fit are in memory', async () => {
  await expect.poll(current, soon).toBe(true);
  expect(await slugs()).toBe(0);
  for (let round = 0; round < 3; round++) {
    await requireAllAnswered();
    expect(await slugs()).toBe(MOST);
  }
  expect(await questions()).toBe(0);
  expect(await diskReads()).toBeGreaterThanOrEqual(COUNT);
});

test('links that visitors want stay, whatever else is asked for between', async () => {
  const wanted = links.slice(0, MOST / 2);
  for (const link of wanted) await answer(link);
  const before = await diskReads();
  let others = 0;
  for (const link of links.slice(MOST)) {
    for (const one of wanted) expect(await answer(one)).not.toBe('503');
    await answer(link);
    others++;
  }
  // Had they been driven out, each would have been read again and again.
  expect(await diskReads()).toBeLessThanOrEqual(before + others + wanted.length);
});

test('changes arrive, whether the link is in memory or not', async () => {
  const moved = async (n: number, path: string) => {
    const link = links[n];
    if (link === undefined) throw new RangeError(`no link ${n}`);
    await stores.pool.query('UPDATE destinations SET destination_url = $2 WHERE id = $1', [
      link.destinationId,
      `https://example.com${path}`,
    ]);
    expected.set(link.id, path);
  };
  // All of them, under visitors who make the table take in and drop links meanwhile.
  let over = false;
  const visitors = (async () => {
    while (!over) await Promise.all(links.map(answer));
  })();
  for (let n = 0; n < COUNT; n++) await moved(n, `/moved-${n}`);
  over = true;
  await visitors;
  for (const [n, link] of links.entries()) {
    await expect.poll(() => answer(link), soon).toBe(destinationOf(link, n));
  }
  const [gone, renamed] = [links[3], links[30]];
  await stores.pool.query('UPDATE links SET deleted_at = now() WHERE id = $1', [gone?.id]);
  await stores.pool.query(`UPDATE links SET slug = 'renamed' WHERE id = $1`, [renamed?.id]);
  await expect.poll(() => answer({ slug: gone?.slug ?? '' }), soon).toBe('404');
  await expect.poll(() => answer({ slug: renamed?.slug ?? '' }), soon).toBe('404');
  expect(await answer({ slug: 'renamed' })).toBe('/moved-30');
  links = links.filter(({ id }) => id !== gone?.id && id !== renamed?.id);
});

test('pages and programmes are always in memory and take no link’s place', async () => {
  const names = Array.from({ length: PROGRAMMES }, (_, n) => `programme-${n}`);
  for (const slug of names) {
    await stores.pool.query(
      `INSERT INTO slugs (slug, kind, target_id, workspace_id) VALUES ($1, 'program', $2, $3)`,
      [slug, uuidv7(), workspaceId],
    );
  }
  for (const slug of names) expect(await answer({ slug })).toBe('404');
  expect(await slugs()).toBe(MOST + PROGRAMMES);
  await Promise.all(links.map(answer));
  expect(await slugs()).toBe(MOST + PROGRAMMES);
});

test('a thousand visitors of slugs that nothing has take no answer from those who want a link', async () => {
  const absent = Array.from({ length: 1_000 }, (_, n) => ({ slug: `nothing-${n}` }));
  const [nobody, answers] = await Promise.all([
    Promise.all(absent.map(answer)),
    Promise.all(links.map(answer)),
  ]);
  expect(answers).toEqual(links.map(destinationOf));
  // PostgreSQL may not get to all of them within the second that a visitor waits at most.
  for (const status of new Set(nobody)) expect(['404', '503']).toContain(status);
  for (const one of absent.slice(0, 10)) await expect.poll(() => answer(one), soon).toBe('404');
});

test('a restart answers for all of them at once, without what was deleted meanwhile', async () => {
  await ingest.close();
  const [gone] = links;
  await stores.pool.query('UPDATE links SET deleted_at = now() WHERE id = $1', [gone?.id]);
  ingest = await start({ dataDir: ingest.dataDir });
  await expect.poll(() => answer({ slug: gone?.slug ?? '' }), soon).toBe('404');
  links.shift();
  const before = await questions();
  await requireAllAnswered();
  expect(await questions()).toBe(before);
});

test('so does one for which the changes have been forgotten', async () => {
  await ingest.close();
  const [gone] = links;
  await stores.pool.query('UPDATE links SET deleted_at = now() WHERE id = $1', [gone?.id]);
  await stores.pool.query('DELETE FROM link_changes');
  ingest = await start({ dataDir: ingest.dataDir });
  await expect.poll(() => answer({ slug: gone?.slug ?? '' }), soon).toBe('404');
  links.shift();
  await requireAllAnswered();
});

test('with PostgreSQL away all of them redirect, also in a smaller memory', async () => {
  await ingest.close();
  const databaseUrl = 'postgres://nobody@127.0.0.1:1/none';
  const env = { INGEST_LINKS_IN_MEMORY: String(MOST / 2) };
  ingest = await start({ dataDir: ingest.dataDir, databaseUrl, env });
  for (let round = 0; round < 3; round++) await requireAllAnswered();
  expect(await slugs()).toBe(MOST / 2 + PROGRAMMES);
  expect(await answer({ slug: 'nothing-like-it' })).toBe('503');
});

test('a file that is damaged is made anew, and meanwhile PostgreSQL answers', async () => {
  await ingest.close();
  const dir = join(ingest.dataDir, 'ingest', 'ingest-0');
  for (const name of await readdir(dir)) {
    if (name.startsWith('links.sqlite-')) await rm(join(dir, name));
  }
  const file = join(dir, 'links.sqlite');
  const { size } = await stat(file);
  await writeFile(file, randomBytes(size));
  ingest = await start({ dataDir: ingest.dataDir });
  await expect.poll(slugs, soon).toBeGreaterThanOrEqual(0);
  await requireAllAnswered();
  await expect.poll(current, soon).toBe(true);
  const before = await questions();
  await requireAllAnswered();
  expect(await questions()).toBe(before);
});

test('damage that shows while it is read costs no visitor an answer, and the file is made anew', async () => {
  await ingest.close();
  const dir = join(ingest.dataDir, 'ingest', 'ingest-0');
  removeLinksFile(dir);
  ingest = await start({ dataDir: ingest.dataDir });
  await expect.poll(current, soon).toBe(true);
  // Behind the first page, which says what the file is, and before anybody has read the rest.
  const path = join(dir, 'links.sqlite');
  const spoilt = randomBytes((await stat(path)).size - 4_096);
  const file = await open(path, 'r+');
  await file.write(spoilt, 0, spoilt.length, 4_096);
  await file.close();
  const isSpoilt = async () => (await readFile(path).catch(() => spoilt)).includes(spoilt.subarray(0, 64));
  await requireAllAnswered();
  await expect.poll(isSpoilt, soon).toBe(false);
  await expect.poll(current, soon).toBe(true);
  await requireAllAnswered();
});

test('a table that is held whole again takes the file’s place, and the other way round', async () => {
  await ingest.close();
  const dir = join(ingest.dataDir, 'ingest', 'ingest-0');
  const kept = async (pattern: RegExp) => (await readdir(dir)).filter((name) => pattern.test(name)).length;
  for (const [most, own, other] of [
    ['all', /^table-/, /^links\./],
    [String(MOST), /^links\./, /^table-/],
  ] as const) {
    for (const _ of ['made', 'kept']) {
      ingest = await start({ dataDir: ingest.dataDir, env: { INGEST_LINKS_IN_MEMORY: most } });
      await expect.poll(current, soon).toBe(true);
      await requireAllAnswered();
      await ingest.close();
    }
    expect(await kept(own)).toBeGreaterThan(0);
    expect(await kept(other)).toBe(0);
  }
  ingest = await start({ dataDir: ingest.dataDir });
});
