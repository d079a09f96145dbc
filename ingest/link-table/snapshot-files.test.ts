import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { silentLogger } from '../../core/tier/log.ts';
import { linkRow } from '../../test/support/link-row.ts';
import { createMemorySink } from './memory-sink.ts';
import { encodeLink } from './records.ts';
import { createSnapshotFiles } from './snapshot-files.ts';
import { createLinkTable } from './table.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'hoplog-table-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const unfinished = () => readdirSync(dir).filter((name) => name.endsWith('.new'));

test('a snapshot that fails leaves nothing behind: the volume is the journal’s too', async () => {
  const files = createSnapshotFiles({ dir, table: createLinkTable(), log: silentLogger() });
  await files.load();
  mkdirSync(join(dir, 'table-2.snapshot', 'in the way'), { recursive: true });
  await files.completed();
  expect(files.failures()).toBe(1);
  expect(unfinished()).toEqual([]);
  await files.close();
});

test('what a process that was killed has left of a snapshot is removed', async () => {
  writeFileSync(join(dir, 'table-7.snapshot.new'), 'half');
  const files = createSnapshotFiles({ dir, table: createLinkTable(), log: silentLogger() });
  expect(await files.load()).toBe(false);
  expect(unfinished()).toEqual([]);
  await files.close();
});

const encode = (slug: string) => encodeLink(linkRow(slug));
const pause = () => delay(80);

/** A table's files, and what puts rows into both. */
async function kept(given: { leastChanges?: number; snapshotAgainMs?: number } = {}) {
  const table = createLinkTable();
  const files = createSnapshotFiles({ dir, table, log: silentLogger(), ...given });
  const store = createMemorySink(table, files, await files.load());
  onTestFinished(() => files.close().catch(() => {}));
  return { files, store };
}

/** What a start without PostgreSQL finds. */
async function afterRestart() {
  const table = createLinkTable();
  const files = createSnapshotFiles({ dir, table, log: silentLogger() });
  const whole = await files.load();
  await files.close();
  return { whole, slugs: table.size(), ...(files.syncPoint() && { syncPoint: files.syncPoint() }) };
}

/** Appends write half of their bytes and fail, as on a full volume, until the test lets them. */
async function fullDisk() {
  const file = await open(join(dir, 'any'), 'w');
  const prototype = Object.getPrototypeOf(file) as FileHandle;
  await file.close();
  const real = prototype.appendFile;
  const noRoom = () => Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  const append = vi.spyOn(prototype, 'appendFile').mockImplementation(async function (
    this: FileHandle,
    data,
  ) {
    await real.call(this, (data as Buffer).subarray(0, (data as Buffer).length / 2));
    throw noRoom();
  });
  const truncate = vi.spyOn(prototype, 'truncate');
  onTestFinished(() => {
    append.mockRestore();
    truncate.mockRestore();
  });
  return {
    /** Nor can what was written be taken away. */
    refuseTruncate: () => truncate.mockRejectedValue(noRoom()),
    hasRoom: () => append.mockRestore(),
  };
}

test.each(['taken away', 'left where it is'])(
  'changes that a full disk has torn, half a frame %s, stand in the files once there is room',
  async (half) => {
    const { files, store } = await kept();
    store.put(encode('first'));
    await files.completed();
    const disk = await fullDisk();
    if (half === 'left where it is') disk.refuseTruncate();
    store.put(encode('torn'));
    await expect.poll(files.failures).toBe(1);
    store.put(encode('while-full'));
    disk.hasRoom();
    await delay(1_000);
    for (let n = 0; n < 100; n++) store.put(encode(`later-${n}`));
    await pause();
    await files.close();
    expect(await afterRestart()).toEqual({ whole: true, slugs: 103 });
  },
);

test('changes that a full disk has refused are written as the process ends', async () => {
  const { files, store } = await kept();
  await files.completed();
  const disk = await fullDisk();
  store.put(encode('torn'));
  await expect.poll(files.failures).toBe(1);
  disk.hasRoom();
  await files.close();
  expect(await afterRestart()).toEqual({ whole: true, slugs: 1 });
});

test('a disk that refuses changes for long gets a snapshot instead of them, and none in between', async () => {
  const { files, store } = await kept({ snapshotAgainMs: 0 });
  store.put(encode('first'));
  await files.completed();
  const disk = await fullDisk();
  store.put(encode('torn'));
  await expect.poll(files.failures).toBe(1);
  const destination_url = `https://example.com/${'x'.repeat(10_000)}`;
  for (let n = 0; n < 1_000; n++) store.put(encodeLink(linkRow(`many-${n}`, { destination_url })));
  disk.hasRoom();
  await delay(1_000);
  store.put(encode('behind-the-gap'));
  await pause();
  expect(await afterRestart()).toEqual({ whole: true, slugs: 1 });
  await files.compact();
  store.put(encode('last'));
  await pause();
  await files.close();
  expect(await afterRestart()).toEqual({ whole: true, slugs: 1_004 });
});

test('a snapshot that the disk refuses stops nobody, and is tried again, but rarely', async () => {
  const { files, store } = await kept({ leastChanges: 10, snapshotAgainMs: 200 });
  await files.completed();
  store.put(encode('kept'));
  await pause();
  const disk = await fullDisk();
  for (let n = 0; n < 5; n++) await files.compact();
  expect(files.failures()).toBe(1);
  disk.hasRoom();
  store.put(encode('meanwhile'));
  await pause();
  expect(await afterRestart()).toEqual({ whole: true, slugs: 2 });
  await delay(200);
  await files.compact();
  expect(readdirSync(dir).filter((name) => name.endsWith('.changes'))).toHaveLength(1);
  await files.close();
  expect(await afterRestart()).toEqual({ whole: true, slugs: 2 });
});

test('a table that lacks rows gets no snapshot: the next start would take it for whole', async () => {
  const { files, store } = await kept({ leastChanges: 10, snapshotAgainMs: 0 });
  const disk = await fullDisk();
  store.put(encode('asked for'));
  await expect.poll(files.failures).toBe(1);
  disk.hasRoom();
  await files.compact();
  expect((await afterRestart()).whole).toBe(false);
});

test('where the table stands is kept with its changes, behind a snapshot too', async () => {
  const { files, store } = await kept({ leastChanges: 200 });
  const settle = (cursor: string) => store.settle({ cursor, at: Date.now() });
  const snapshots = () => readdirSync(dir).filter((name) => name.endsWith('.snapshot'));
  await files.completed();
  const first = snapshots();
  await settle('100');
  await pause();
  expect(await afterRestart()).toMatchObject({ whole: true, syncPoint: { cursor: '100' } });
  await settle('101'); // nothing has changed: it is told again later
  for (let n = 0; n < 5; n++) store.put(encode(`changed-${n}`));
  await pause();
  expect(await afterRestart()).toMatchObject({ slugs: 5, syncPoint: { cursor: '100' } });
  await settle('102'); // behind the snapshot that so many changes call for
  await pause();
  expect(snapshots()).not.toEqual(first);
  expect(await afterRestart()).toMatchObject({ slugs: 5, syncPoint: { cursor: '102' } });
});

test('a table that is not whole stands nowhere', async () => {
  const { store } = await kept();
  await store.settle({ cursor: '100', at: Date.now() });
  await pause();
  expect(await afterRestart()).toEqual({ whole: false, slugs: 0 });
});
