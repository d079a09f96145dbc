import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { JournalReader } from '../../core/event-log/journal/reader.ts';
import type { JournalWriter } from '../../core/event-log/journal/writer.ts';
import { hasOnlyHeartbeats } from '../../core/events/codec.ts';
import {
  openTestJournal,
  TEST_STREAM_NAME,
  temporaryDataDir,
  testClick,
} from '../../test/support/journal.ts';
import { createIdleLanes, type IdleLanes } from './idle-lanes.ts';
import { pollBatch } from './poll-batch.ts';

let writer: JournalWriter;
let reader: JournalReader;
let closing: (() => unknown)[];
beforeEach(async () => {
  const { dataDir, remove } = temporaryDataDir();
  writer = await openTestJournal(dataDir);
  reader = new JournalReader(dataDir);
  closing = [() => writer.close(), () => reader.close(), remove];
});
afterEach(async () => {
  for (const close of closing) await close();
});

function poll(quiet: IdleLanes, signal = new AbortController().signal) {
  const options = {
    maxEvents: 1_000,
    waitMs: 60_000,
    lingerMs: () => 0,
    settled: Promise.resolve(),
    quiet,
    signal,
  };
  return pollBatch(reader, TEST_STREAM_NAME, 0n, options);
}

describe('a batch that is polled while it is quiet', () => {
  it('has the heartbeats until progress is stored', async () => {
    const until = performance.now() + 1_500;
    const quiet = {
      isQuiet: () => true,
      end: () => undefined,
      untilStoreMs: () => until - performance.now(),
    };
    const range = await poll(quiet);
    expect(performance.now()).toBeGreaterThanOrEqual(until);
    expect(range?.batches.every(hasOnlyHeartbeats)).toBe(true);
  });

  it('ends with the first other event, and the quiet with it', async () => {
    let isQuiet = true;
    const quiet = {
      isQuiet: () => isQuiet,
      end: () => {
        isQuiet = false;
      },
      untilStoreMs: () => 3_600_000,
    };
    const polled = poll(quiet);
    writer.append(testClick('first'), () => undefined);
    const range = await polled;
    expect(range?.batches.every(hasOnlyHeartbeats)).toBe(false);
    expect(isQuiet).toBe(false);
  });

  it('ends when another lane has an event', async () => {
    let asked = 0;
    const isQuiet = () => ++asked <= 3;
    const range = await poll({ isQuiet, end: () => undefined, untilStoreMs: () => 3_600_000 });
    expect(range?.batches.length).toBeGreaterThanOrEqual(3);
    expect(range?.batches.every(hasOnlyHeartbeats)).toBe(true);
  });

  it('is given up when the lane ends', async () => {
    const ending = new AbortController();
    let asked = 0;
    const quiet = {
      isQuiet() {
        asked += 1;
        if (asked === 2) ending.abort(new Error('the lane ends'));
        return true;
      },
      end: () => undefined,
      untilStoreMs: () => 3_600_000,
    };
    await expect(poll(quiet, ending.signal)).rejects.toThrow('the lane ends');
  });
});

it('it is quiet after some seconds without an event, and lanes store their progress together', () => {
  let now = 4_500;
  const quiet = createIdleLanes(
    () => now,
    () => now,
  );
  expect(quiet.isQuiet()).toBe(false);
  expect(quiet.untilStoreMs()).toBe(6_000);
  now += 60_000;
  expect(quiet.isQuiet()).toBe(true);
  quiet.end();
  expect(quiet.isQuiet()).toBe(false);
});
