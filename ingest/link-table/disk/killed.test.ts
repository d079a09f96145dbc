import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isCurrent, makeLink, makeWorkspace } from '../../../test/support/ingest.ts';
import { type IngestProcess, startIngestProcess } from '../../../test/support/ingest-process.ts';
import { NIGHTLY } from '../../../test/support/nightly.ts';
import { type TestStores, testStores } from '../../../test/support/stores.ts';
import { untilSynced } from '../../../test/support/synced-links.ts';
import { visit } from '../../../test/support/visitors.ts';

const LINKS = 120;
const MOST = 10;
const KILLS = NIGHTLY ? 6 : 3;
let stores: TestStores;
let dataDir: string;
let ingest: IngestProcess | null = null;
const links: { slug: string; destinationId: string; path: string }[] = [];

beforeAll(async () => {
  stores = await testStores();
  dataDir = await mkdtemp(join(tmpdir(), 'hoplog-ingest-'));
  const { id } = await makeWorkspace(stores.pool);
  for (let n = 0; n < LINKS; n++) {
    const path = `/${n}`;
    links.push({ ...(await makeLink(stores.pool, id, `https://example.com${path}`)), path });
  }
});
afterAll(async () => {
  await ingest?.kill();
  await rm(dataDir, { recursive: true, force: true });
  await stores?.close();
});

async function start(databaseUrl: string): Promise<IngestProcess> {
  ingest = await startIngestProcess({
    DATABASE_URL: databaseUrl,
    DATA_DIR: dataDir,
    INGEST_LINKS_IN_MEMORY: String(MOST),
  });
  return ingest;
}
async function pathOf(slug: string): Promise<string | number | undefined> {
  const { status, location } = await visit(`${ingest?.url}/${slug}`);
  return status === 302 ? location?.pathname : status;
}
const current = () => ingest !== null && isCurrent(ingest);

test('after many kill -9 during changes it serves every link, without PostgreSQL too', async () => {
  for (let kill = 0; kill < KILLS; kill++) {
    await start(stores.databaseUrl);
    // The first is killed while it builds the file, the others while they write changes.
    if (kill > 0) await expect.poll(current).toBe(true);
    let over = false;
    const visitors = (async () => {
      while (!over) await Promise.all(links.map(({ slug }) => pathOf(slug).catch(() => null)));
    })();
    for (const [n, link] of links.entries()) {
      if (n % KILLS !== kill) continue;
      const path = `/${n}/moved-${kill}`;
      await stores.pool.query('UPDATE destinations SET destination_url = $2 WHERE id = $1', [
        link.destinationId,
        `https://example.com${path}`,
      ]);
      link.path = path;
    }
    await delay(kill * 20);
    await ingest?.kill();
    over = true;
    await visitors;
  }
  const whole = await start(stores.databaseUrl);
  await untilSynced(whole);
  const allServed = () =>
    Promise.all(links.map(({ slug, path }) => expect.poll(() => pathOf(slug)).toBe(path)));
  await allServed();
  await ingest?.kill();

  await start('postgres://nobody@127.0.0.1:1/none');
  // A busy disk may not respond within the second that a visitor waits.
  await allServed();
});
