import { mkdtempSync, openSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { silentLogger } from '../../log.ts';
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
  registry = new Registry();
  sync = new GroupSync({
    intervalMs: 5,
    metrics: createJournalMetrics(registry, () => 0),
    log: silentLogger(),
    settle: (appends, outcome) => {
      for (const append of appends) append(outcome);
    },
    onFailure: (file) => failed.push(file),
  });
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function segment(name: string): SegmentFile {
  const file = { fd: openSync(join(directory, name), 'w+'), start: 0n, capacity: 1000, position: 0 };
  writeFrame(file, Buffer.alloc(1000));
  file.position = 10;
  return file;
}

/** A descriptor that no file has: the system refuses to sync it. */
const broken: SegmentFile = { fd: 1_000_000, start: 0n, capacity: 1000, position: 0 };

describe('group sync', () => {
  test('settles appends after their sync, in order, those of a later group last', async () => {
    const file = segment('a');
    for (const name of ['1', '2', '3']) {
      sync.writtenFor(file, [
        (outcome) => settled.push(`${name}a ${outcome}`),
        () => settled.push(`${name}b`),
      ]);
    }
    expect(settled).toEqual([]);
    await sync.drain();
    expect(settled).toEqual(['1a written', '1b', '2a written', '2b', '3a written', '3b']);
  });

  test('settles as lost what the disk did not sync, names the segment, and goes on', async () => {
    sync.writtenFor(broken, [(outcome) => settled.push(`first ${outcome}`)]);
    await sync.drain();
    sync.writtenFor(segment('b'), [(outcome) => settled.push(`second ${outcome}`)]);
    await sync.drain();
    expect(settled).toEqual(['first lost', 'second written']);
    expect(failed).toEqual([broken]);
    expect(await registry.metrics()).toContain('hoplog_journal_sync_failures_total 1');
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
