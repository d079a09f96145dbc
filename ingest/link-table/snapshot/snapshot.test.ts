import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { folderTarget } from '../../../core/file-targets/folder-target.ts';
import { openFileTarget } from '../../../core/file-targets/open.ts';
import type { FileTarget } from '../../../core/file-targets/target.ts';
import { readConfig } from '../../../core/settings/config.ts';
import { silentLogger } from '../../../core/tier/log.ts';
import { FIRST_ID, linksAfter } from '../../../sql/links/link-table.ts';
import { isCurrent, makeLink, makeWorkspace } from '../../../test/support/ingest.ts';
import { startIngestProcess } from '../../../test/support/ingest-process.ts';
import { quietTable } from '../../../test/support/quiet-table.ts';
import { startS3 } from '../../../test/support/s3-server.ts';
import { type TestStores, testStores } from '../../../test/support/stores.ts';
import { visit } from '../../../test/support/visitors.ts';
import { createDiskSink } from '../disk/disk-sink.ts';
import { encodeLink } from '../records.ts';
import { type Manifest, readManifest, snapshotKeys, writeManifest } from './manifest.ts';
import { fromSnapshot } from './snapshot-links.ts';
import { writeSnapshotIfDue } from './snapshot-writer.ts';

const LINKS = 40;
const keys = snapshotKeys(Buffer.alloc(32, 1));

let stores: TestStores;
let workspaceId: string;
let directory: string;
let target: FileTarget;
let links: { id: string; slug: string }[];

beforeAll(async () => {
  stores = await testStores();
  workspaceId = (await makeWorkspace(stores.pool)).id;
  for (let n = 0; n < LINKS; n++) await makeLink(stores.pool, workspaceId, `https://example.com/${n}`);
});
afterAll(() => stores?.close());

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-snapshot-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  target = folderTarget(join(directory, 'shared'));
  ({ links } = await linksAfter(stores.pool, FIRST_ID, 1_000));
});

/** Makes the file with all links, as the writer thread of an ingest process does. */
async function fileOfLinks(): Promise<string> {
  const dir = mkdtempSync(join(directory, 'disk-'));
  const sink = createDiskSink({
    dir,
    log: silentLogger(),
    memoryHoldsAll: true,
    onGivenUp: () => {},
  });
  const { loader } = quietTable(stores.pool, sink);
  loader.start();
  await expect.poll(loader.loaded).toBe(true);
  await loader.stop();
  sink.close();
  return dir;
}

const given = (dir: string, changes: { target?: FileTarget } = {}) => ({
  dir,
  target,
  keys,
  pool: stores.pool,
  log: silentLogger(),
  isWhole: () => true,
  partBytes: 800,
  ...changes,
});

/** Keys of the target, without the manifest. */
const parts = async () =>
  (await target.list(`${keys.folder}/`)).map(({ key }) => key).filter((key) => !key.endsWith('.json'));
const manifest = async (): Promise<Manifest> => {
  const found = await readManifest(target, keys);
  if (found === null) throw new Error('no snapshot was written');
  return found;
};

/** Fills a table from the newest snapshot, and returns what was logged and how many pages the primary was asked for. */
async function fill(onPart: () => unknown = () => {}) {
  let asked = 0;
  const query = async (statement: string, values?: unknown[]) => {
    if (typeof statement === 'string' && statement.includes('FROM links WHERE id > $1')) asked += 1;
    return stores.pool.query(statement, values);
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
  const observed: FileTarget = {
    ...target,
    async get(key) {
      if (!key.endsWith('.json')) await onPart();
      return target.get(key);
    },
  };
  const { table, loader } = quietTable(
    { ...stores.pool, query } as never,
    {},
    { log, page: 5, pollMs: 20, elsewhere: [fromSnapshot({ target: observed, keys, page: 5 })] },
  );
  loader.start();
  await expect.poll(loader.loaded).toBe(true);
  const present = (await linksAfter(stores.pool, FIRST_ID, 1_000)).links;
  await expect
    .poll(() => [...table.records()].map((record) => Buffer.from(record).toString('base64')).toSorted())
    .toEqual(present.map((row) => encodeLink(row).toString('base64')).toSorted());
  return { asked, logged };
}

const READ = ['link table: links were read from elsewhere'];
const failed = (reason: string) => [
  `link table: failed to read links from elsewhere; reading them from the primary: ${reason}`,
];

test('a table is filled from a snapshot, and the primary is asked for changes alone', async () => {
  await writeSnapshotIfDue(given(await fileOfLinks()));
  expect(await manifest()).toMatchObject({ links: links.length });
  expect((await parts()).length).toBeGreaterThan(3);
  expect(await fill()).toEqual({ asked: 0, logged: READ });
});

test('links that changed since the snapshot, or while it is read, are as they are now', async () => {
  await writeSnapshotIfDue(given(await fileOfLinks()));
  const [renamed, deleted, moved, late] = links;
  await stores.pool.query(`UPDATE links SET slug = 'renamed-since' WHERE id = $1`, [renamed?.id]);
  await stores.pool.query('UPDATE links SET deleted_at = now() WHERE id = $1', [deleted?.id]);
  const move = (id: string | undefined, to: string) =>
    stores.pool.query(
      'UPDATE destinations SET destination_url = $2 WHERE id = (SELECT destination_id FROM links WHERE id = $1)',
      [id, to],
    );
  await move(moved?.id, 'https://example.com/moved-since');
  await makeLink(stores.pool, workspaceId, 'https://example.com/made-since');
  let reads = 0;
  const filled = await fill(async () => {
    reads += 1;
    if (reads === 3) await move(late?.id, 'https://example.com/moved-meanwhile');
  });
  expect(reads).toBeGreaterThan(3);
  expect(filled).toEqual({ asked: 0, logged: READ });
});

test('a writer that is killed leaves no snapshot; the next one writes it and removes what is left', async () => {
  const dir = await fileOfLinks();
  let puts = 0;
  const reached = Promise.withResolvers<void>();
  const dying: FileTarget = {
    ...target,
    put(key, bytes) {
      puts += 1;
      if (puts <= 3) return target.put(key, bytes);
      reached.resolve();
      return new Promise(() => {}); // its process does nothing more
    },
  };
  void writeSnapshotIfDue(given(dir, { target: dying }));
  await reached.promise;
  const left = await parts();
  expect(left).toHaveLength(3);
  expect((await fill()).logged).toEqual([]);

  // Its lease has ended.
  await stores.pool.query("DELETE FROM job_leases WHERE job = 'linksSnapshot'");
  await writeSnapshotIfDue(given(dir));
  expect(await fill()).toEqual({ asked: 0, logged: READ });
  expect(await parts()).not.toEqual(expect.arrayContaining(left));
});

test('a snapshot is written each hour, by one process at a time, and the one before stays for its readers', async () => {
  const dir = await fileOfLinks();
  let puts = 0;
  const counting: FileTarget = {
    ...target,
    put(key, bytes) {
      if (key.endsWith('.json')) puts += 1;
      return target.put(key, bytes);
    },
  };
  await Promise.all([1, 2, 3].map(() => writeSnapshotIfDue(given(dir, { target: counting }))));
  expect(puts).toBe(1);
  const first = await manifest();
  await writeSnapshotIfDue(given(dir, { target: counting }));
  expect(puts).toBe(1);

  const aged = { ...first, syncPoint: { ...first.syncPoint, at: first.syncPoint.at - 3_600_000 } };
  await writeManifest(target, keys, aged);
  const before = await parts();
  await writeSnapshotIfDue(given(dir));
  const second = await manifest();
  expect(second).toMatchObject({ formerSet: first.set });
  expect(await parts()).toEqual(expect.arrayContaining(before));

  await writeManifest(target, keys, {
    ...second,
    syncPoint: { ...second.syncPoint, at: second.syncPoint.at - 3_600_000 },
  });
  await writeSnapshotIfDue(given(dir));
  expect((await parts()).filter((key) => key.includes(first.set))).toEqual([]);
});

const path = (key: string) => join(directory, 'shared', key);

test.each<[string, RegExp, (found: Manifest, keys: string[]) => unknown]>([
  ['a truncated part', /00002 is damaged$/, (_, [, , third = '']) => truncateSync(path(third), 300)],
  [
    'a changed byte',
    /00002 is damaged$/,
    (_, [, , third = '']) => {
      const bytes = readFileSync(path(third));
      bytes[300] = (bytes[300] ?? 0) ^ 1;
      writeFileSync(path(third), bytes);
    },
  ],
  ['a missing part', /00002 is missing$/, (_, [, , third = '']) => rmSync(path(third))],
  [
    'a truncated manifest',
    /manifest\.json is damaged, or of another deployment$/,
    () => truncateSync(path(`${keys.folder}/manifest.json`), 200),
  ],
  [
    'a manifest of another deployment',
    /manifest\.json is damaged, or of another deployment$/,
    async (found) => {
      const others = snapshotKeys(Buffer.alloc(32, 2));
      await writeManifest(target, { ...others, folder: keys.folder }, found);
    },
  ],
  [
    'records of another version',
    /its records are of version 3, not \d+$/,
    (found) => writeManifest(target, keys, { ...found, version: 3 }),
  ],
  [
    'another start of PostgreSQL',
    /PostgreSQL has started again since$/,
    (found) =>
      writeManifest(target, keys, { ...found, syncPoint: { ...found.syncPoint, server: 'the former' } }),
  ],
  [
    'an age of six hours',
    /it is too old$/,
    (found) =>
      writeManifest(target, keys, {
        ...found,
        syncPoint: { ...found.syncPoint, at: found.syncPoint.at - 6 * 3_600_000 },
      }),
  ],
  [
    'a cursor of the future',
    /is of a later state of PostgreSQL$/,
    (found) =>
      writeManifest(target, keys, { ...found, syncPoint: { ...found.syncPoint, cursor: '9'.repeat(15) } }),
  ],
])('%s: the primary has every link, and one line of the log says why', async (_, reason, damage) => {
  await writeSnapshotIfDue(given(await fileOfLinks()));
  await damage(await manifest(), (await parts()).toSorted());
  const { asked, logged } = await fill();
  expect(asked).toBeGreaterThan(0);
  expect(logged).toEqual([expect.stringMatching(reason)]);
  expect(logged[0]).toContain(failed('')[0]);
});

test.for([
  { where: 'a folder', isBucket: false },
  { where: 'a bucket of S3', isBucket: true },
])(
  'a process with a new volume reads links from what a killed one has written to $where',
  async ({ isBucket }) => {
    const [one] = links;
    const s3 = isBucket ? await startS3() : null;
    onTestFinished(() => s3?.close());
    const start = (name: string) =>
      startIngestProcess({
        DATABASE_URL: stores.databaseUrl,
        DATA_DIR: join(directory, name),
        STREAM_NAME: name,
        LINKS_SNAPSHOT_TO: s3?.target ?? join(directory, 'shared'),
        LOG_LEVEL: 'info',
        ...s3?.env,
      });
    const first = await start('first');
    await expect.poll(first.log).toContain('wrote a snapshot');
    await first.kill();
    if (s3) {
      const bucket = openFileTarget(s3.target, readConfig(s3.env).s3);
      expect((await bucket.list('links/')).length).toBeGreaterThan(1);
    }
    const second = await start('second');
    try {
      await expect.poll(second.log).toContain('links were read from elsewhere');
      await expect.poll(() => isCurrent(second)).toBe(true);
      expect((await visit(`${second.url}/${one?.slug}`)).status).toBe(302);
      expect(second.log()).not.toContain('failed to read links');
    } finally {
      await second.kill();
    }
  },
);

test('files are readable by their user only', async () => {
  await writeSnapshotIfDue(given(await fileOfLinks()));
  for (const { key } of await target.list(`${keys.folder}/`))
    expect(statSync(path(key)).mode & 0o077).toBe(0);
});
