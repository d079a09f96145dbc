import { appendFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  appendClicks,
  openTestJournal,
  TEST_STREAM_NAME,
  temporaryDataDir,
} from '../../../test/support/journal.ts';
import { JournalReader } from './reader.ts';
import { listSegments, listSegmentsNow, streamDirectory } from './segments.ts';

let dataDir: string;
let remove: () => void;
let reader: JournalReader;
/** How often the reader listed the stream. */
let listings: number;
beforeEach(() => {
  ({ dataDir, remove } = temporaryDataDir());
  reader = new JournalReader(dataDir, 0, (directory) => {
    listings += 1;
    return listSegmentsNow(directory);
  });
  listings = 0;
});
afterEach(async () => {
  await reader.close();
  remove();
});

const read = (offset: bigint, waitMs: number) =>
  reader.read(TEST_STREAM_NAME, offset, { maxBytes: 1 << 20, waitMs, isQuiet: true });

/** Reads to the end of the log. */
async function endOfLog(): Promise<bigint> {
  for (let at = 0n; ; ) {
    const { batches, nextOffset } = await read(at, 0);
    if (batches.length === 0) return at;
    at = nextOffset;
  }
}

describe('a reader that expects nothing soon', () => {
  it('returns what is written while it waits', async () => {
    const writer = await openTestJournal(dataDir);
    await appendClicks(writer, ['before']);
    const waiting = read(await endOfLog(), 60_000);
    await appendClicks(writer, ['after']);
    expect((await waiting).batches).not.toEqual([]);
    await writer.close();
  });

  it('does not list the stream meanwhile', async () => {
    const writer = await openTestJournal(dataDir);
    await appendClicks(writer, ['a']);
    await writer.close();
    // A last segment that is still written to.
    const end = await endOfLog();
    const [last] = (await listSegments(streamDirectory(dataDir, TEST_STREAM_NAME))).slice(-1);
    appendFileSync(last?.path ?? '', Buffer.alloc(4_096));
    await read(end, 0);
    expect(listings).toBeGreaterThan(0);
    listings = 0;
    await read(end, 3_500);
    expect(listings).toBeLessThanOrEqual(1);
  });

  it('waits at the end of a file that was cut', async () => {
    const writer = await openTestJournal(dataDir);
    await appendClicks(writer, ['a']);
    await writer.close();
    const end = await endOfLog();
    listings = 0;
    expect(await read(end, 1_500)).toEqual({ batches: [], damage: [], nextOffset: end });
    expect(listings).toBeLessThan(100);
  });

  it('waits at damage that nothing follows', async () => {
    const writer = await openTestJournal(dataDir);
    await appendClicks(writer, ['a']);
    await writer.close();
    const end = await endOfLog();
    const [last] = (await listSegments(streamDirectory(dataDir, TEST_STREAM_NAME))).slice(-1);
    appendFileSync(last?.path ?? '', 'damage');
    listings = 0;
    expect((await read(end, 1_500)).batches).toEqual([]);
    expect(listings).toBeLessThan(200);
  });
});
