import fs, { readdirSync, readFileSync, statSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import {
  appendClicks,
  openTestJournal,
  readJournal,
  TEST_STREAM,
  TEST_STREAM_NAME,
  temporaryDataDir,
  testClick,
  testSealer,
} from '../../../test/support/journal.ts';
import { decodeEvents } from '../../events/codec.ts';
import type { AppendOutcome } from '../port.ts';
import { EpochFile } from './epoch-file.ts';
import { JournalReader } from './reader.ts';
import { streamDirectory } from './segments.ts';
import type { JournalWriter } from './writer.ts';

let dataDir: string;
let remove: () => void;
beforeEach(() => {
  ({ dataDir, remove } = temporaryDataDir());
});
afterEach(() => remove());

function names(count: number, prefix = 'click'): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix} ${index}`);
}

function steps(sequences: bigint[]): Set<bigint> {
  return new Set(sequences.slice(1).map((sequence, index) => sequence - (sequences[index] ?? 0n)));
}

async function metric(registry: Registry, name: string): Promise<number> {
  const values = (await registry.getSingleMetric(name)?.get())?.values ?? [];
  return values.reduce((sum, { value }) => sum + value, 0);
}

describe.each([
  ['synced within 5 ms', 5],
  ['synced before the answer', 0],
])('a journal %s', (_, syncMs) => {
  test('holds every written event once, in order, with contiguous sequences and growing times', async () => {
    const writer = await openTestJournal(dataDir, { syncMs, budgetBytes: 32 << 20 });
    const settled = [];
    for (let turn = 0; turn < 200; turn++) {
      settled.push(...(await appendClicks(writer, names(1 + (turn % 60), `turn ${turn}`))));
    }
    await writer.close();
    expect(new Set(settled.map(({ outcome }) => outcome))).toEqual(new Set(['written']));
    const { clicks, sequences, times, damage, undecodable } = await readJournal(dataDir);
    expect(damage).toEqual([]);
    expect(undecodable).toEqual([]);
    expect(clicks.map(({ sequence, ts }) => ({ sequence, ts }))).toEqual(
      settled.map(({ sequence, ts }) => ({ sequence, ts })),
    );
    expect(steps(sequences)).toEqual(new Set([1n]));
    expect(times.every((ts, index) => index === 0 || ts > (times[index - 1] ?? 0))).toBe(true);
  });

  test('settles appends in their order, after append has returned', async () => {
    const writer = await openTestJournal(dataDir, { syncMs });
    const order: number[] = [];
    await new Promise<void>((resolve) => {
      let turn = 0;
      const next = () => {
        for (let i = 0; i < 10; i++) {
          const index = turn * 10 + i;
          writer.append(testClick(`${index}`), () => {
            order.push(index);
            if (order.length === 500) resolve();
          });
          expect(order).not.toContain(index);
        }
        turn += 1;
        if (turn < 50) setImmediate(next);
      };
      next();
    });
    await writer.close();
    expect(order).toEqual(Array.from({ length: 500 }, (__, index) => index));
  });
});

describe('the events of one turn', () => {
  test('become one batch, also when the caller ends the turn', async () => {
    const writer = await openTestJournal(dataDir);
    await appendClicks(writer, names(40));
    const outcomes: AppendOutcome[] = [];
    for (const name of names(3)) writer.append(testClick(name), (outcome) => outcomes.push(outcome));
    writer.flush();
    expect(outcomes).toEqual(['written', 'written', 'written']);
    await writer.close();
    const { batches, clicks } = await readJournal(dataDir);
    // A heartbeat may have joined one of them, or be a batch of its own.
    const withClicks = batches.filter(({ payload }) => Buffer.from(payload).includes('newsletter'));
    expect(withClicks).toHaveLength(2);
    expect(clicks).toHaveLength(43);
  });

  test('become several batches when they exceed one, and settle at the turn’s end', async () => {
    const writer = await openTestJournal(dataDir, { budgetBytes: 64 << 20 });
    const userAgents = names(600, 'x'.repeat(10_000));
    const settled = await appendClicks(writer, userAgents);
    await writer.close();
    expect(settled.every(({ outcome }) => outcome === 'written')).toBe(true);
    const { clicks, batches, sequences } = await readJournal(dataDir);
    expect(clicks.map(({ userAgent }) => userAgent)).toEqual(userAgents);
    expect(batches.length).toBeGreaterThan(7);
    expect(Math.max(...batches.map(({ payload }) => payload.length))).toBeLessThan(900_000);
    expect(steps(sequences)).toEqual(new Set([1n]));
  });

  test('may append further events while they settle', async () => {
    const writer = await openTestJournal(dataDir);
    await new Promise<void>((resolve) => {
      writer.append(testClick('first'), () => {
        writer.append(testClick('second'), () => resolve());
        throw new Error('a visitor who went away');
      });
    });
    await writer.close();
    expect((await readJournal(dataDir)).clicks.map(({ userAgent }) => userAgent)).toEqual([
      'first',
      'second',
    ]);
  });
});

describe('an event that cannot be written', () => {
  test('settles as lost, is counted by cause, and delays no other event', async () => {
    const registry = new Registry();
    const writer = await openTestJournal(dataDir, { registry });
    const broken = { ...testClick('broken'), linkId: Buffer.alloc(3) };
    const outcomes = await Promise.all(
      [testClick('a'), broken, testClick('y'.repeat(200_000)), testClick('b')].map(
        (event) => new Promise<AppendOutcome>((resolve) => writer.append(event, resolve)),
      ),
    );
    await writer.close();
    const afterClose = await new Promise<AppendOutcome>((resolve) => writer.append(testClick('c'), resolve));
    expect([...outcomes, afterClose]).toEqual(['written', 'lost', 'lost', 'written', 'lost']);
    const { clicks, sequences } = await readJournal(dataDir);
    expect(clicks.map(({ userAgent }) => userAgent)).toEqual(['a', 'b']);
    expect(steps(sequences)).toEqual(new Set([1n]));
    const lost = (await registry.getSingleMetric('hoplog_journal_lost_total')?.get())?.values;
    expect(lost?.filter(({ value }) => value > 0)).toMatchObject([
      { labels: { cause: 'too_large' }, value: 1 },
      { labels: { cause: 'invalid' }, value: 1 },
      { labels: { cause: 'closed' }, value: 1 },
    ]);
  });
});

/** Makes the disk reject every sync until the test ends or the returned function is called. */
function refuseSyncs(): () => void {
  const { fdatasync, fdatasyncSync } = fs;
  const refusal = Object.assign(new Error('input/output error'), { code: 'EIO' });
  const restore = () => {
    Object.assign(fs, { fdatasync, fdatasyncSync });
    syncBuiltinESMExports();
  };
  Object.assign(fs, {
    fdatasync: (_: number, done: (error: Error) => void) => setImmediate(done, refusal),
    fdatasyncSync: () => {
      throw refusal;
    },
  });
  syncBuiltinESMExports();
  onTestFinished(restore);
  return restore;
}

describe('an event whose sync failed', () => {
  test('settles as lost, is counted, and may be read all the same; later events are written', async () => {
    const registry = new Registry();
    const writer = await openTestJournal(dataDir, { registry, syncMs: 0 });
    const outcomes: AppendOutcome[] = [];
    const append = async (name: string) =>
      outcomes.push(...(await appendClicks(writer, [name])).map(({ outcome }) => outcome));
    await append('before');
    const restore = refuseSyncs();
    await append('refused');
    restore();
    await append('after');
    await writer.close();
    expect(outcomes).toEqual(['written', 'lost', 'written']);
    const lost = (await registry.getSingleMetric('hoplog_journal_lost_total')?.get())?.values;
    expect(lost?.filter(({ value }) => value > 0)).toMatchObject([{ labels: { cause: 'sync' }, value: 1 }]);
    const { clicks, sequences } = await readJournal(dataDir);
    expect(clicks.map(({ userAgent }) => userAgent)).toEqual(['before', 'refused', 'after']);
    expect(steps(sequences)).toEqual(new Set([1n]));
  });
});

describe('the clock of a stream', () => {
  test('never steps back when the wall clock does, nor over a restart', async () => {
    const hour = 3_600_000_000;
    const start = 1_790_000_000_000_000;
    let now = start;
    const clock = { now: () => now };
    const times: number[] = [];
    const first = await openTestJournal(dataDir, { clock });
    for (now of [start, start + 5, start - hour, start + 3]) {
      for (const { ts } of await appendClicks(first, names(5))) times.push(ts);
    }
    await first.close();
    now = start - 2 * hour;
    const second = await openTestJournal(dataDir, { clock });
    for (const { ts } of await appendClicks(second, names(20))) times.push(ts);
    await second.close();
    expect(times.every((ts, index) => index === 0 || ts > (times[index - 1] ?? 0))).toBe(true);
    // Each heartbeat takes a microsecond too.
    expect(times[0]).toBeGreaterThanOrEqual(start);
    expect(times.at(-1)).toBeLessThan(start + hour);
  });
});

describe('a correction that an earlier process owes', () => {
  test('is the first event of the next one, before any whose time it makes right', async () => {
    await (await openTestJournal(dataDir)).close();
    const epochFile = new EpochFile(streamDirectory(dataDir, TEST_STREAM_NAME));
    const { epoch, floor, lastTs } = epochFile.record ?? { epoch: 0, floor: 0n, lastTs: 0 };
    const shift = 5_000_000;
    const owed = { first: 0n, before: 1n << 60n, fromTs: lastTs + 1, toTs: lastTs + shift, shift };
    epochFile.write({ epoch, floor, lastTs, jump: null, owed });
    epochFile.close();
    const writer = await openTestJournal(dataDir);
    await appendClicks(writer, ['next']);
    await writer.close();
    const { batches } = await readJournal(dataDir);
    const events = batches.flatMap((batch) => decodeEvents(batch, testSealer).events);
    const kinds = events
      .filter(({ sequence }) => Number(sequence >> 40n) > epoch)
      .map(({ event }) => event.kind);
    expect(kinds.slice(0, 2)).toEqual(['clock', 'click']);
  });
});

test('a segment with an event is closed at its age, and can then be removed without a later event', async () => {
  const writer = await openTestJournal(dataDir, { segmentAgeMs: 1 });
  const directory = streamDirectory(dataDir, TEST_STREAM_NAME);
  const segments = () => readdirSync(directory).filter((name) => name.endsWith('.seg'));
  const holds = (text: string) =>
    segments().some((name) => readFileSync(join(directory, name)).includes(text));
  await appendClicks(writer, ['ann@example.com']);
  expect(holds('ann@example.com')).toBe(true);
  await expect.poll(() => segments().length).toBe(2);
  const reader = new JournalReader(dataDir);
  onTestFinished(() => reader.close());
  await reader.truncate(TEST_STREAM_NAME, await reader.end(TEST_STREAM_NAME));
  expect(holds('ann@example.com')).toBe(false);
  // Heartbeats alone close no segment.
  const [kept] = segments();
  const end = await reader.end(TEST_STREAM_NAME);
  await expect.poll(() => reader.end(TEST_STREAM_NAME)).toBeGreaterThan(end);
  expect(segments()).toEqual([kept]);
  await writer.close();
});

describe('heartbeats', () => {
  test('are appended to an idle stream, and as its last event at close', async () => {
    const writer = await openTestJournal(dataDir);
    const beats = async () => (await readJournal(dataDir)).sequences.length;
    await expect.poll(beats).toBeGreaterThanOrEqual(3);
    await appendClicks(writer, ['last click']);
    await writer.close();
    const { clicks, times } = await readJournal(dataDir);
    expect(clicks).toHaveLength(1);
    expect(times.at(-1)).toBeGreaterThan(clicks[0]?.ts ?? 0);
  });
});

describe('the directory of a stream', () => {
  test('has one identity, and epochs that only rise', async () => {
    let registered = 0;
    const register = async () => {
      registered += 1;
      return TEST_STREAM;
    };
    const epochs: bigint[] = [];
    for (let start = 0; start < 4; start++) {
      const writer = await openTestJournal(dataDir, { register });
      expect(writer.stream).toEqual(TEST_STREAM);
      const [click] = await appendClicks(writer, ['x']);
      epochs.push((click?.sequence ?? 0n) >> 40n);
      await writer.close();
    }
    expect(registered).toBe(1);
    const [first = 0n] = epochs;
    expect(epochs).toEqual([first, first + 1n, first + 2n, first + 3n]);
  });

  test('can be read only by its owner, and has no address in clear', async () => {
    const address = Buffer.from('00000000000000000000ffffc0000217', 'hex');
    const writer: JournalWriter = await openTestJournal(dataDir);
    await new Promise((resolve) => writer.append(testClick('sealed', { address }), resolve));
    const directory = streamDirectory(dataDir, TEST_STREAM_NAME);
    // A prepared segment gets its name in another thread.
    await expect.poll(() => readdirSync(directory)).not.toContain('preparing');
    const look = () => {
      for (const name of readdirSync(directory)) {
        const path = join(directory, name);
        expect([name, statSync(path).mode & 0o077]).toEqual([name, 0]);
        expect(readFileSync(path).includes(address)).toBe(false);
        expect(readFileSync(path).includes(address.subarray(12))).toBe(false);
      }
    };
    look();
    await writer.close();
    look();
    expect(statSync(directory).mode & 0o077).toBe(0);
    expect(statSync(join(dataDir, 'journal')).mode & 0o077).toBe(0);
    const { clicks } = await readJournal(dataDir);
    expect(Buffer.from(clicks[0]?.event.address ?? [])).toEqual(address);
  });
});

describe('the metrics of a journal', () => {
  test('count what was written and how long it took', async () => {
    const registry = new Registry();
    const writer = await openTestJournal(dataDir, { registry, syncMs: 0 });
    await appendClicks(writer, names(10));
    expect(await metric(registry, 'hoplog_journal_events_total')).toBe(10);
    expect(await metric(registry, 'hoplog_journal_batches_total')).toBeGreaterThanOrEqual(1);
    expect(await metric(registry, 'hoplog_journal_bytes_total')).toBeGreaterThan(10 * 100);
    expect(await metric(registry, 'hoplog_journal_fill_ratio')).toBeGreaterThan(0);
    const text = await registry.metrics();
    expect(text).toMatch(/hoplog_journal_write_seconds_count [1-9]/);
    expect(text).toMatch(/hoplog_journal_sync_seconds_count [1-9]/);
    await writer.close();
  });
});
