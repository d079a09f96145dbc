import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { bytesToUuid, uuidToBytes, uuidv7 } from '../../../core/ids.ts';
import { silentLogger } from '../../../core/tier/log.ts';
import { decodeFrames, OPERATIONS } from '../frames.ts';
import { encodeOther, idOf, recordName } from '../records.ts';
import { createDiskSink, type DiskSink } from './disk-sink.ts';
import { openLinksReader } from './links-file.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'hoplog-sink-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
});

const WORKSPACE = uuidv7();
const SYNC_POINT = { cursor: '5', at: 1_795_000_000_000, server: 'primary' };
/** A record of this kind with a slug. */
function record(kind: 'link' | 'program', slug: string, id = uuidv7()): Buffer {
  const bytes = encodeOther({
    id,
    workspace_id: WORKSPACE,
    domainNumber: 0,
    slug,
    kind: 'program',
    page: null,
    target: null,
  });
  if (kind === 'link') bytes[0] = 0;
  return bytes;
}
/** The changes to post: slugs that were put, ids that were removed, a load's beginning and end. */
function posted(sink: DiskSink): string[] {
  const changes: string[] = [];
  decodeFrames(sink.takeChanges(), (operation, payload) => {
    if (operation === OPERATIONS.put) changes.push(recordName(payload));
    if (operation === OPERATIONS.remove) changes.push(`-${bytesToUuid(payload)}`);
    if (operation === OPERATIONS.beginLoad) changes.push('begin');
    if (operation === OPERATIONS.endLoad) changes.push('end');
  });
  return changes;
}
async function load(sink: DiskSink, records: Buffer[]): Promise<void> {
  sink.beginLoad();
  for (const one of records) sink.put(one);
  await sink.endLoad();
  await sink.settle(SYNC_POINT);
}
/** @param givenUp gets an entry each time the file is given up: whether it was damaged */
const open = (leastFree = 0, givenUp: boolean[] = [], memoryHoldsAll = false) =>
  createDiskSink({
    dir,
    log: silentLogger(),
    memoryHoldsAll,
    leastFree,
    onGivenUp: (damaged) => givenUp.push(damaged),
  });
const slugsRead = () => {
  const reader = openLinksReader(dir);
  const slugs = [...(reader?.records() ?? [])].map(recordName);
  reader?.close();
  return slugs;
};
const openHoldingAll = (givenUp: boolean[] = []) => open(0, givenUp, true);

test('of a load it posts pages, programs, and the links that changed in the file', async () => {
  const [link, moved, page] = [record('link', 'link'), record('link', 'moved'), record('program', 'page')];
  const first = open();
  expect([first.whole(), first.syncPoint]).toEqual([false, null]);
  await load(first, [link, moved, page]);
  expect([first.whole(), posted(first)]).toEqual([true, ['page']]);
  first.close();

  const second = open();
  expect([second.whole(), second.syncPoint]).toEqual([true, SYNC_POINT]);
  const elsewhere = record('link', 'elsewhere', bytesToUuid(idOf(moved)));
  await load(second, [elsewhere, record('link', 'fresh'), page]);
  expect(posted(second)).toEqual(['elsewhere', `-${bytesToUuid(idOf(link))}`]);
  second.close();
});

test('of PostgreSQL’s changes it posts all: memory may hold links that the file never had', async () => {
  const sink = open();
  const link = record('link', 'link');
  await load(sink, [link]);
  posted(sink);
  sink.beginChanges();
  sink.put(link);
  const gone = uuidv7();
  sink.remove(uuidToBytes(gone));
  await sink.settle(SYNC_POINT);
  expect(posted(sink)).toEqual(['link', `-${gone}`]);
  sink.put(link);
  await sink.settle(SYNC_POINT);
  expect(posted(sink)).toEqual([]);
  sink.close();
});

test('on a volume that is nearly full it removes the file and still posts changes', async () => {
  const givenUp: boolean[] = [];
  const sink = open(Number.MAX_SAFE_INTEGER, givenUp);
  sink.beginLoad();
  sink.put(record('link', 'one'));
  await sink.settle(null);
  expect([givenUp, sink.whole(), readdirSync(dir)]).toEqual([[false], false, []]);
  sink.put(record('link', 'two'));
  await sink.endLoad();
  sink.beginChanges();
  sink.put(record('link', 'three'));
  await sink.settle(SYNC_POINT);
  expect(posted(sink)).toContain('three');
  expect([sink.whole(), readdirSync(dir)]).toEqual([false, []]);
  sink.close();
});

test('a file that can’t be written is removed, so that no visitor gets an outdated link', async () => {
  const sink = open();
  const link = record('link', 'link');
  await load(sink, [link]);
  const reader = openLinksReader(dir);
  expect(reader?.find('link')).not.toBeNull();
  reader?.close();
  // Every later write fails.
  sink.close();
  sink.beginChanges();
  sink.put(record('link', 'moved', bytesToUuid(idOf(link))));
  await sink.settle(SYNC_POINT);
  expect([sink.whole(), existsSync(join(dir, 'links.sqlite'))]).toEqual([false, false]);
  expect(posted(sink)).toEqual(['moved']);
});

test('changes are posted when the file can’t be created', async () => {
  mkdirSync(join(dir, 'links.sqlite.new', 'in the way'), { recursive: true });
  const givenUp: boolean[] = [];
  const sink = open(0, givenUp);
  await load(sink, [record('program', 'page')]);
  expect([sink.whole(), posted(sink)]).toEqual([false, ['page']]);
  expect(givenUp).toEqual([false]);
});

test.each([false, true])(
  'others read the file while it is written; memory holds all links: %s',
  async (all) => {
    const first = open(0, [], all);
    await load(first, [record('link', 'link')]);
    expect(slugsRead()).toEqual(['link']);
    first.close();
    const second = open(0, [], all);
    expect(slugsRead()).toEqual(['link']);
    second.beginChanges();
    second.put(record('link', 'fresh'));
    await second.settle(SYNC_POINT);
    expect(slugsRead()).toEqual(['link', 'fresh']);
    second.close();
  },
);

test('where memory holds all links it posts every record of a load, between its beginning and end', async () => {
  const [link, gone] = [record('link', 'link'), record('link', 'gone')];
  const first = openHoldingAll();
  await load(first, [link, gone]);
  expect([first.whole(), posted(first)]).toEqual([true, ['begin', 'link', 'gone', 'end']]);
  first.close();

  const second = openHoldingAll();
  expect([second.whole(), second.syncPoint]).toEqual([true, SYNC_POINT]);
  await load(second, [link]);
  expect(posted(second)).toEqual(['begin', 'link', 'end', `-${bytesToUuid(idOf(gone))}`]);
  second.close();
});

test('where memory holds all links a file that can’t be written stays for the next start', async () => {
  const givenUp: boolean[] = [];
  const sink = openHoldingAll(givenUp);
  const link = record('link', 'link');
  await load(sink, [link]);
  posted(sink);
  // Every later write fails.
  sink.close();
  sink.beginChanges();
  sink.put(record('link', 'moved', bytesToUuid(idOf(link))));
  await sink.settle({ ...SYNC_POINT, cursor: '6', at: SYNC_POINT.at + 1 });
  expect([givenUp, sink.whole(), posted(sink)]).toEqual([[false], false, ['moved']]);

  const next = openHoldingAll();
  expect([next.whole(), next.syncPoint]).toEqual([true, SYNC_POINT]);
  next.close();
});
