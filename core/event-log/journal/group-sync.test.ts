import { mkdtempSync, openSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { silentLogger } from '../../tier/log.ts';
import { GroupSync } from './group-sync.ts';
import { createJournalMetrics } from './metrics.ts';
import { type SegmentFile, writeFrame } from './segment-file.ts';

let directory: string;
let settled: string[];
let failed: SegmentFile[];
let registry: Registry;
let sync: GroupSync;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-sync-'));
  settled = [];
  failed = [];
  sync = groupSync(0);
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** @param quickMs infinite: every disk is quick after its first sync; 0: none is */
function groupSync(quickMs: number): GroupSync {
  registry = new Registry();
  return new GroupSync({
    intervalMs: 5,
    quickMs,
    metrics: createJournalMetrics(
      registry,
      () => 0,
      () => 0,
    ),
    log: silentLogger(),
    settle: (appends, outcome) => {
      for (const append of appends) append(outcome);
    },
    onFailure: (file) => failed.push(file),
  });
}

function segment(name: string): SegmentFile {
  const fd = openSync(join(directory, name), 'w+');
  const file = { fd, start: 0n, capacity: 1000, position: 0, blocksEnd: 0 };
  writeFrame(file, Buffer.alloc(1000));
  file.position = 10;
  return file;
}

/** A descriptor without a file: the system rejects its sync. */
const broken: SegmentFile = { fd: 1_000_000, start: 0n, capacity: 1000, position: 0, blocksEnd: 0 };

describe('group sync', () => {
  test('a lazy write waits for the next group, and is not synced by itself soon', async () => {
    const file = segment('a');
    const syncs = async () =>
      Number(/^hoplog_journal_sync_seconds_count (\d+)/m.exec(await registry.metrics())?.[1]);
    sync.writtenLazily(file);
    sync.writtenFor(file, [() => settled.push('click')], false);
    await expect.poll(() => settled).toEqual(['click']);
    expect(await syncs()).toBe(1);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    sync.writtenLazily(file);
    vi.advanceTimersByTime(1_000);
    sync.written(file);
    vi.advanceTimersByTime(5);
    vi.useRealTimers();
    // One sync covers both writes: the lazy one caused none during that second.
    await expect.poll(syncs).toBe(2);
    sync.writtenLazily(file);
    await sync.drain();
    expect(await syncs()).toBe(3);
  });

  test('settles appends after their sync, in order, those of a later group last', async () => {
    const file = segment('a');
    for (const name of ['1', '2', '3']) {
      const appends = [
        (outcome: string) => settled.push(`${name}a ${outcome}`),
        () => settled.push(`${name}b`),
      ];
      sync.writtenFor(file, appends, true);
    }
    expect(settled).toEqual([]);
    await sync.drain();
    expect(settled).toEqual(['1a written', '1b', '2a written', '2b', '3a written', '3b']);
  });

  test('settles as lost what the disk failed to sync, names the segment, and continues', async () => {
    sync.writtenFor(broken, [(outcome) => settled.push(`first ${outcome}`)], true);
    await sync.drain();
    sync.writtenFor(segment('b'), [(outcome) => settled.push(`second ${outcome}`)], true);
    await sync.drain();
    expect(settled).toEqual(['first lost', 'second written']);
    expect(failed).toEqual([broken]);
    expect(await registry.metrics()).toContain('hoplog_journal_sync_failures_total 1');
  });

  test('settles as lost what was written to a segment before its sync failed, though a later sync succeeds', async () => {
    const { fd: whole } = segment('e');
    const file = { ...broken };
    const note = (name: string) => [(outcome: string) => settled.push(`${name} ${outcome}`)];
    sync.writtenFor(file, note('first'), true);
    sync.writtenFor(file, note('meanwhile'), true);
    sync.writtenFor(segment('f'), note('elsewhere'), true);
    await expect.poll(() => failed).toEqual([file]);
    file.fd = whole;
    await sync.drain();
    expect(settled).toEqual(['first lost', 'meanwhile lost', 'elsewhere written']);
  });

  test('settles at once on a quick disk where that is allowed, behind appends that wait already', async () => {
    const quick = groupSync(Number.POSITIVE_INFINITY);
    const file = segment('quick');
    const note = (name: string) => [(outcome: string) => settled.push(`${name} ${outcome}`)];
    quick.writtenFor(file, note('not known yet'), true);
    expect(settled).toEqual([]);
    await quick.drain();
    quick.writtenFor(file, note('at once'), true);
    expect(settled).toEqual(['not known yet written', 'at once written']);
    quick.writtenFor(file, note('while adding'), false);
    quick.writtenFor(file, note('while one runs'), true);
    expect(settled).toHaveLength(2);
    await quick.drain();
    expect(settled.slice(2)).toEqual(['while adding written', 'while one runs written']);
    expect(await registry.metrics()).toContain('hoplog_journal_sync_seconds_count 4');
  });

  test('settles as lost what the disk failed to sync at once', async () => {
    const quick = groupSync(Number.POSITIVE_INFINITY);
    quick.writtenFor(segment('good'), [], true);
    await quick.drain();
    quick.writtenFor(broken, [(outcome) => settled.push(outcome)], true);
    expect(settled).toEqual(['lost']);
    expect(failed).toEqual([broken]);
  });

  test('cuts a finished segment to what was written, once it is synced', async () => {
    sync.written(segment('c'));
    sync.finished(segment('d'));
    await sync.drain();
    expect(statSync(join(directory, 'd')).size).toBe(10);
    expect(statSync(join(directory, 'c')).size).toBe(1000);
  });

  test('does nothing when nothing was written', async () => {
    await sync.drain();
    expect(await registry.metrics()).toContain('hoplog_journal_sync_seconds_count 0');
  });
});
