import { existsSync, mkdirSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  appendClicks,
  openTestJournal,
  readJournal,
  TEST_STREAM_NAME,
  temporaryDataDir,
} from '../../../test/support/journal.ts';
import { retainedByReads, STRAY_OBJECTS } from '../../../test/support/retained-objects.ts';
import { JournalReader } from './reader.ts';
import { listSegments, streamDirectory } from './segments.ts';

let dataDir: string;
let remove: () => void;
let reader: JournalReader;
beforeEach(() => {
  ({ dataDir, remove } = temporaryDataDir());
  reader = new JournalReader(dataDir);
});
afterEach(async () => {
  await reader.close();
  remove();
});

const NOTHING = { maxBytes: 1 << 20, waitMs: 0 };
const segmentsThere = () => listSegments(streamDirectory(dataDir, TEST_STREAM_NAME));

async function fillSegments(): Promise<void> {
  const writer = await openTestJournal(dataDir);
  for (let turn = 0; turn < 12; turn++) {
    await appendClicks(
      writer,
      Array.from({ length: 20 }, (_, index) => `${turn}-${index}-${'x'.repeat(900)}`),
    );
  }
  await writer.close();
}

describe('reading a journal', () => {
  test('retains no memory of 20,000 reads with one signal', async () => {
    await fillSegments();
    expect(await retainedByReads('journal', dataDir, TEST_STREAM_NAME)).toBeLessThan(STRAY_OBJECTS);
  });

  test('that does not exist yet returns nothing, and no partitions', async () => {
    expect(await reader.partitions()).toEqual([]);
    expect(await reader.read('ingest-9', 0n, NOTHING)).toEqual({ batches: [], damage: [], nextOffset: 0n });
    expect(await reader.start('ingest-9')).toBe(0n);
    expect(await reader.end('ingest-9')).toBe(0n);
    await reader.truncate('ingest-9', 100n);
  });

  test('lists one partition for each stream', async () => {
    mkdirSync(join(dataDir, 'journal', 'ingest-1'), { recursive: true });
    mkdirSync(join(dataDir, 'journal', 'api-0'));
    expect(await reader.partitions()).toEqual(['api-0', 'ingest-1']);
  });

  test('into one reused memory returns the same batches, each valid until the next read', async () => {
    await fillSegments();
    const whole = (await readJournal(dataDir)).batches.map(({ payload }) => Buffer.from(payload));
    for (const arenaBytes of [1, 20_000, 1 << 20]) {
      const again = new JournalReader(dataDir, arenaBytes);
      const payloads: Buffer[] = [];
      const memory = new Set<ArrayBufferLike>();
      for (let at = 0n; ; ) {
        const { batches, nextOffset } = await again.read(TEST_STREAM_NAME, at, {
          maxBytes: 5_000,
          waitMs: 0,
        });
        if (nextOffset === at) break;
        payloads.push(...batches.map(({ payload }) => Buffer.from(payload)));
        for (const { payload } of batches) memory.add(payload.buffer);
        at = nextOffset;
      }
      await again.close();
      expect(Buffer.concat(payloads).equals(Buffer.concat(whole)), String(arenaBytes)).toBe(true);
      // A batch that exceeds the arena has memory of its own.
      expect(memory.size === 1, String(arenaBytes)).toBe(arenaBytes === 1 << 20);
    }
  });

  test('in steps of any size returns the same batches', async () => {
    await fillSegments();
    const whole = (await readJournal(dataDir)).batches;
    for (const maxBytes of [1, 5000, 50_000, 10 << 20]) {
      const batches = [];
      let offset = 0n;
      for (;;) {
        const read = await reader.read(TEST_STREAM_NAME, offset, { maxBytes, waitMs: 0 });
        if (read.batches.length === 0) break;
        if (maxBytes === 1) expect(read.batches).toHaveLength(1);
        batches.push(...read.batches);
        offset = read.nextOffset;
      }
      expect(batches).toEqual(whole);
    }
  });

  test('starts at any batch’s offset or the offset after it', async () => {
    await fillSegments();
    const whole = (await readJournal(dataDir)).batches;
    for (const [index, { offset, nextOffset }] of whole.entries()) {
      expect((await readJournal(dataDir, offset)).batches).toEqual(whole.slice(index));
      expect((await readJournal(dataDir, nextOffset)).batches).toEqual(whole.slice(index + 1));
    }
  });

  test('waits for new batches, and stops waiting when its signal aborts', async () => {
    const writer = await openTestJournal(dataDir);
    const { nextOffset } = await readJournal(dataDir);
    const coming = reader.read(TEST_STREAM_NAME, nextOffset, { maxBytes: 1 << 20, waitMs: 30_000 });
    await appendClicks(writer, ['now']);
    expect((await coming).batches).not.toEqual([]);
    await writer.close();
    const { nextOffset: end } = await readJournal(dataDir);
    const abort = new AbortController();
    const waiting = reader.read(TEST_STREAM_NAME, end, {
      maxBytes: 1 << 20,
      waitMs: 3_600_000,
      signal: abort.signal,
    });
    abort.abort();
    expect(await waiting).toEqual({ batches: [], damage: [], nextOffset: end });
    const closing = reader.read(TEST_STREAM_NAME, end, { maxBytes: 1 << 20, waitMs: 3_600_000 });
    await reader.close();
    expect(await closing).toEqual({ batches: [], damage: [], nextOffset: end });
  });
});

describe('reading a journal that is being written', () => {
  test('follows it from segment to segment, and keeps no truncated one open', async () => {
    const writer = await openTestJournal(dataDir);
    const read: bigint[] = [];
    let offset = 0n;
    const follow = async () => {
      const { batches, nextOffset } = await reader.read(TEST_STREAM_NAME, offset, {
        maxBytes: 1 << 20,
        waitMs: 500,
      });
      for (const { firstSequence, count } of batches) {
        for (let n = 0; n < count; n++) read.push(firstSequence + BigInt(n));
      }
      offset = nextOffset;
      await reader.truncate(TEST_STREAM_NAME, offset);
    };
    for (let turn = 0; turn < 40; turn++) {
      const clicks = Array.from({ length: 20 }, (_, index) => `${turn}-${index}-${'x'.repeat(900)}`);
      await Promise.all([appendClicks(writer, clicks), follow()]);
    }
    await writer.close();
    const end = await reader.end(TEST_STREAM_NAME);
    for (let reads = 0; offset < end && reads < 100; reads++) await follow();
    expect(offset).toBe(end);
    const [first = 0n] = read;
    expect(read.length).toBeGreaterThanOrEqual(800);
    expect(read).toEqual(read.map((_, n) => first + BigInt(n)));
    expect(await segmentsThere()).toHaveLength(1);
    await expect.poll(() => openFiles().filter((path) => path.includes('(deleted)'))).toEqual([]);
  });

  test('that was removed and recreated under its name, reads it from its start', async () => {
    const first = await openTestJournal(dataDir);
    await appendClicks(first, ['before'.repeat(100)]);
    await first.close();
    const { nextOffset } = await reader.read(TEST_STREAM_NAME, 0n, NOTHING);
    rmSync(streamDirectory(dataDir, TEST_STREAM_NAME), { recursive: true });
    const second = await openTestJournal(dataDir);
    await appendClicks(second, ['after', 'after']);
    await second.close();
    const { batches } = await reader.read(TEST_STREAM_NAME, nextOffset, { maxBytes: 1 << 20, waitMs: 5_000 });
    const whole = (await readJournal(dataDir)).batches;
    expect(whole.length).toBeGreaterThan(0);
    expect(batches).toEqual(whole);
  });

  test('closes its last segment when reads stop', async () => {
    await fillSegments();
    await reader.end(TEST_STREAM_NAME);
    await expect.poll(openFiles).toHaveLength(1);
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 60_000);
    await reader.partitions();
    clock.mockRestore();
    await expect.poll(openFiles).toEqual([]);
  });

  test('leaves nothing open when it is closed in the middle of a read', async () => {
    await fillSegments();
    const reading = reader.end(TEST_STREAM_NAME);
    await reader.close();
    await reading;
    await expect.poll(openFiles).toEqual([]);
  });
});

function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`);
      return path.startsWith(dataDir) ? [path] : [];
    } catch {
      return []; // closed meanwhile
    }
  });
}

describe('truncating a journal', () => {
  test('removes whole segments below the offset and nothing else', async () => {
    await fillSegments();
    const segments = await segmentsThere();
    expect(segments.length).toBeGreaterThan(3);
    const [first, second, third] = segments;
    if (!first || !second || !third) throw new Error('too few segments');
    await reader.truncate(TEST_STREAM_NAME, second.start - 1n);
    expect(await segmentsThere()).toEqual(segments);
    await reader.truncate(TEST_STREAM_NAME, third.start + 1n);
    expect(await segmentsThere()).toEqual(segments.slice(2));
    expect(await reader.start(TEST_STREAM_NAME)).toBe(third.start);
    const { batches } = await readJournal(dataDir, 0n);
    expect(batches[0]?.offset).toBe(third.start);
  });

  test('never removes the newest segment', async () => {
    await fillSegments();
    await reader.truncate(TEST_STREAM_NAME, 10n ** 18n);
    const [last, ...others] = await segmentsThere();
    expect(others).toEqual([]);
    expect(existsSync(last?.path ?? '')).toBe(true);
  });
});

describe('the end of a journal', () => {
  test('is where the last batch ends, while it grows and after', async () => {
    const writer = await openTestJournal(dataDir);
    for (let turn = 0; turn < 20; turn++) {
      await appendClicks(writer, [`click ${turn}`]);
      const end = await reader.end(TEST_STREAM_NAME);
      const { batches } = await readJournal(dataDir);
      expect(batches.map(({ nextOffset }) => nextOffset)).toContain(end);
      expect(end).toBeGreaterThan(0n);
    }
    await writer.close();
    expect(await reader.end(TEST_STREAM_NAME)).toBe((await readJournal(dataDir)).nextOffset);
  });
});
