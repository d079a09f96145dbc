import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { bytesToUuid, uuidToBytes, uuidv7 } from '../../../core/ids.ts';
import { silentLogger } from '../../../core/tier/log.ts';
import { OPERATIONS, takeFrames } from '../frames.ts';
import { encodeOther, idOf, slugOf } from '../records.ts';
import { createDiskSink, type DiskSink } from './disk-sink.ts';
import { openLinksReader } from './links-file.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'hoplog-store-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
});

const WORKSPACE = uuidv7();
const SYNC_POINT = { cursor: '5', at: 1_795_000_000_000 };
/** A record of this kind; what else it says is not the store's subject. */
function record(kind: 'link' | 'program', slug: string, id = uuidv7()): Buffer {
  const bytes = encodeOther({ id, workspace_id: WORKSPACE, slug, kind: 'program', page: null });
  if (kind === 'link') bytes[0] = 0;
  return bytes;
}
/** What the redirects' thread hears: slugs that were put, ids that were removed. */
function told(store: DiskSink): string[] {
  const heard: string[] = [];
  const frames = store.changes();
  const { taken } = takeFrames(frames, (operation, payload) => {
    if (operation === OPERATIONS.put) heard.push(slugOf(payload));
    if (operation === OPERATIONS.remove) heard.push(`-${bytesToUuid(payload)}`);
  });
  expect(taken).toBe(frames.length);
  return heard;
}
async function loaded(store: DiskSink, records: Buffer[]): Promise<void> {
  store.beginLoad();
  for (const one of records) store.put(one);
  await store.endLoad();
  await store.settle(SYNC_POINT);
}
/** @param given what has been given up, and why, is added */
const opened = (leastFree = 0, given: boolean[] = []) =>
  createDiskSink({ dir, log: silentLogger(), leastFree, onGivenUp: (damaged) => given.push(damaged) });

test('of a load it tells pages and programmes, and the links that were another in the file', async () => {
  const [link, moved, page] = [record('link', 'link'), record('link', 'moved'), record('program', 'page')];
  const first = opened();
  expect([first.whole(), first.syncPoint]).toEqual([false, null]);
  await loaded(first, [link, moved, page]);
  expect([first.whole(), told(first)]).toEqual([true, ['page']]);
  first.close();

  const second = opened();
  expect([second.whole(), second.syncPoint]).toEqual([true, SYNC_POINT]);
  const elsewhere = record('link', 'elsewhere', bytesToUuid(idOf(moved)));
  await loaded(second, [elsewhere, record('link', 'fresh'), page]);
  expect(told(second)).toEqual(['elsewhere', `-${bytesToUuid(idOf(link))}`]);
  second.close();
});

test('of a round of changes it tells everything: memory may hold what the file never had', async () => {
  const store = opened();
  const link = record('link', 'link');
  await loaded(store, [link]);
  told(store);
  store.beginChanges();
  store.put(link);
  const gone = uuidv7();
  store.remove(uuidToBytes(gone));
  await store.settle(SYNC_POINT);
  expect(told(store)).toEqual(['link', `-${gone}`]);
  store.put(link);
  await store.settle(SYNC_POINT);
  expect(told(store)).toEqual([]);
  store.close();
});

test('a volume that is nearly full is left to the clicks, and changes are told all the same', async () => {
  const given: boolean[] = [];
  const store = opened(Number.MAX_SAFE_INTEGER, given);
  store.beginLoad();
  store.put(record('link', 'one'));
  await store.settle(null);
  expect([given, store.whole(), readdirSync(dir)]).toEqual([[false], false, []]);
  store.put(record('link', 'two'));
  await store.endLoad();
  store.beginChanges();
  store.put(record('link', 'three'));
  await store.settle(SYNC_POINT);
  expect(told(store)).toContain('three');
  expect([store.whole(), readdirSync(dir)]).toEqual([false, []]);
  store.close();
});

test('a file that can’t be written any more is removed: it must not answer with what is outdated', async () => {
  const store = opened();
  const link = record('link', 'link');
  await loaded(store, [link]);
  const reader = openLinksReader(dir);
  expect(reader?.find('link')).not.toBeNull();
  reader?.close();
  // The file is closed under it: whatever it tries now fails.
  store.close();
  store.beginChanges();
  store.put(record('link', 'moved', bytesToUuid(idOf(link))));
  await store.settle(SYNC_POINT);
  expect([store.whole(), existsSync(join(dir, 'links.sqlite'))]).toEqual([false, false]);
  expect(told(store)).toEqual(['moved']);
});

test('a directory in which no file can be made costs the file alone', async () => {
  mkdirSync(join(dir, 'links.sqlite.new', 'in the way'), { recursive: true });
  const given: boolean[] = [];
  const store = opened(0, given);
  await loaded(store, [record('program', 'page')]);
  expect([store.whole(), told(store)]).toEqual([false, ['page']]);
  expect(given).toEqual([false]);
});
