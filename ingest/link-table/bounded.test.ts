import { afterAll, beforeAll, expect, test } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import {
  makeLink,
  makeWorkspace,
  slugsHeld,
  startTestIngest,
  type TestIngest,
} from '../../test/support/ingest.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { visit } from '../../test/support/visitors.ts';

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
async function questions(): Promise<number> {
  const { values } = (await ingest.registry.getSingleMetric('hoplog_ingest_misses_total')?.get()) ?? {
    values: [],
  };
  return values.reduce((sum, { value }) => sum + value, 0);
}
/** What every link should answer, as long as only {@link moved} changes them. */
const expected = new Map<string, string>();
const destinationOf = ({ id }: { id: string }, n: number) => expected.get(id) ?? `/${n}`;

test('it begins with the newest links, as many as fit, and answers for all of them', async () => {
  await expect.poll(slugs, soon).toBe(MOST);
  const newest = links.slice(-MOST);
  await Promise.all(newest.map(answer));
  expect(await questions()).toBe(0);
  for (let round = 0; round < 3; round++) {
    for (const [n, link] of links.entries()) expect(await answer(link)).toBe(`/${n}`);
    expect(await slugs()).toBe(MOST);
  }
  expect(await questions()).toBeGreaterThanOrEqual(COUNT - MOST);
});

test('links that visitors want stay, whatever else is asked for between', async () => {
  const wanted = links.slice(0, MOST / 2);
  for (const link of wanted) await answer(link);
  const before = await questions();
  let others = 0;
  for (const link of links.slice(MOST)) {
    for (const one of wanted) expect(await answer(one)).not.toBe('503');
    await answer(link);
    others++;
  }
  // Had they been driven out, each would have been asked for again and again.
  expect(await questions()).toBeLessThanOrEqual(before + others + wanted.length);
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
  expect(new Set(nobody)).toEqual(new Set(['404']));
  expect(answers).toEqual(links.map(destinationOf));
});

test('a restart keeps what visitors wanted, without what was deleted meanwhile', async () => {
  const wanted = links.slice(0, 3);
  for (const link of [...wanted, ...wanted, ...wanted]) await answer(link);
  await ingest.close();
  await stores.pool.query('UPDATE links SET deleted_at = now() WHERE id = $1', [wanted[0]?.id]);
  await stores.pool.query('DELETE FROM link_changes');
  ingest = await start({ dataDir: ingest.dataDir });
  await expect.poll(() => answer({ slug: wanted[0]?.slug ?? '' }), soon).toBe('404');
  await expect.poll(slugs, soon).toBe(MOST + PROGRAMMES);
  const before = await questions();
  for (const link of wanted.slice(1)) expect(await answer(link)).toMatch(/^\/moved-/);
  expect(await questions()).toBe(before);
  links = links.filter((link) => link !== wanted[0]);
});

test('with PostgreSQL away those in memory redirect, also in a smaller one, and the others ask to come again', async () => {
  await ingest.close();
  const databaseUrl = 'postgres://nobody@127.0.0.1:1/none';
  ingest = await start({
    dataDir: ingest.dataDir,
    databaseUrl,
    env: { INGEST_LINKS_IN_MEMORY: String(MOST / 2) },
  });
  expect(await slugs()).toBe(MOST / 2 + PROGRAMMES);
  const answers = await Promise.all(links.map(answer));
  expect(answers.filter((one) => one === '503')).toHaveLength(links.length - MOST / 2);
  expect(answers.filter((one) => one.startsWith('/moved-'))).toHaveLength(MOST / 2);
});
