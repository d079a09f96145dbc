import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import {
  appendClicks,
  type Contents,
  openTestJournal,
  readJournal,
  TEST_STREAM,
  TEST_STREAM_NAME,
  temporaryDataDir,
} from '../../../test/support/journal.ts';
import { silentLogger } from '../../tier/log.ts';
import { type LogBatch, NOTHING_RECORDED, type StreamRecord } from '../port.ts';
import { EpochFile, MAX_EPOCH } from './epoch-file.ts';
import { frameAt } from './frame.ts';
import { JournalReader } from './reader.ts';
import { type Recovered, recover } from './recovery.ts';
import { prepareSegment } from './segment-file.ts';
import { listSegmentsNow, preparedPath, segmentPath, streamDirectory } from './segments.ts';

let dataDir: string;
let remove: () => void;
beforeEach(() => {
  ({ dataDir, remove } = temporaryDataDir());
});
afterEach(() => remove());

const directoryOf = (data: string) => streamDirectory(data, TEST_STREAM_NAME);

type Crashed = { batches: LogBatch[]; path: string; bytes: Buffer };

/**
 * The state after a killed process: batches of 1 to 4 clicks in one segment, nothing closed.
 *
 * @param budgetBytes eight times the size of that segment
 */
async function crashedJournal(turns: number, budgetBytes = 8 * 64 * 1024): Promise<Crashed> {
  const writer = await openTestJournal(dataDir, { budgetBytes });
  for (let turn = 0; turn < turns; turn++) {
    await appendClicks(
      writer,
      Array.from({ length: 1 + (turn % 4) }, (_, index) => `turn ${turn} click ${index}`),
    );
  }
  const [segment] = listSegmentsNow(directoryOf(dataDir));
  if (!segment) throw new Error('no segment');
  const bytes = readFileSync(segment.path);
  await writer.close();
  writeFileSync(segment.path, bytes);
  return { batches: intactBatches(bytes), path: segment.path, bytes };
}

function intactBatches(bytes: Buffer): LogBatch[] {
  const batches: LogBatch[] = [];
  for (let position = 0; ; ) {
    const found = frameAt(bytes, position, BigInt(position));
    if (found.kind !== 'frame') return batches;
    batches.push(found.batch);
    position = found.end;
  }
}

async function recoverNow(): Promise<Recovered> {
  const epochFile = new EpochFile(directoryOf(dataDir));
  try {
    return await recover(directoryOf(dataDir), epochFile, {
      now: () => 0,
      record: NOTHING_RECORDED,
      log: silentLogger(),
    });
  } finally {
    epochFile.close();
  }
}

/** Recovers and reads as the next start does, with a new segment behind. */
async function readRecovered(): Promise<Recovered & Contents> {
  const recovered = await recoverNow();
  const next = segmentPath(directoryOf(dataDir), recovered.start);
  writeFileSync(next, '');
  const contents = await readJournal(dataDir);
  rmSync(next);
  return { ...recovered, ...contents };
}

const sequencesOf = (batches: LogBatch[]) => batches.map(({ firstSequence }) => firstSequence);

describe('a tail torn at any byte of the last batch', () => {
  test.each([
    ['the file ends there', (bytes: Buffer, end: number) => bytes.subarray(0, end)],
    ['zeros follow', (bytes: Buffer, end: number) => Buffer.from(bytes).fill(0, end)],
    ['noise follows', (bytes: Buffer, end: number) => Buffer.from(bytes).fill(0xa5, end, end + 500)],
  ])('is cut, and everything before it is read, when %s', async (_, tear) => {
    // A small segment, and one click in the last batch: each of hundreds of starts reads all of it.
    const { batches, path, bytes } = await crashedJournal(5, 8 * 8 * 1024);
    const last = batches.at(-1);
    if (!last) throw new Error('no batch');
    const intact = sequencesOf(batches.slice(0, -1));
    // The frame's last two bytes are zero. Without them, the frame is intact in a file of zeros.
    for (let end = Number(last.offset); end < Number(last.nextOffset) - 2; end++) {
      writeFileSync(path, tear(bytes, end));
      const read = await readRecovered();
      expect(sequencesOf(read.batches)).toEqual(intact);
      expect(read.damage).toEqual([]);
      expect(readFileSync(path).length).toBe(Number(last.offset));
      expect(read.start).toBeGreaterThan(last.nextOffset);
    }
  });

  test('is copied aside, and its sequences are never reused', async () => {
    const { batches, path, bytes } = await crashedJournal(3);
    const last = batches.at(-1);
    if (!last) throw new Error('no batch');
    writeFileSync(path, Buffer.from(bytes).fill(0, Number(last.nextOffset) - 20));
    const writer = await openTestJournal(dataDir);
    const [click] = await appendClicks(writer, ['after the crash']);
    await writer.close();
    expect((click?.sequence ?? 0n) >> 40n).toBe((last.firstSequence >> 40n) + 1n);
    const [kept] = readdirSync(join(directoryOf(dataDir), 'damage'));
    expect(kept).toMatch(new RegExp(`^${last.offset}-\\d+\\.bin$`));
    const { damage, clicks } = await readJournal(dataDir);
    expect(damage).toEqual([]);
    expect(clicks.at(-1)?.userAgent).toBe('after the crash');
  });
});

describe('damage inside a segment', () => {
  test('is reported with its bytes and skipped; the batches on both sides are read', async () => {
    const { batches, path, bytes } = await crashedJournal(6);
    // The batch is not a heartbeat's, which would be shorter than the damage.
    const hit = batches.slice(2).find(({ payload }) => Buffer.from(payload).includes('newsletter'));
    if (!hit) throw new Error('no batch');
    bytes.writeUInt8(bytes.readUInt8(Number(hit.offset) + 100) ^ 1, Number(hit.offset) + 100);
    writeFileSync(path, bytes);
    const read = await readRecovered();
    expect(sequencesOf(read.batches)).toEqual(sequencesOf(batches.filter((batch) => batch !== hit)));
    expect(read.damage).toMatchObject([{ offset: hit.offset, nextOffset: hit.nextOffset }]);
    expect(Buffer.from(read.damage[0]?.bytes ?? [])).toEqual(
      bytes.subarray(Number(hit.offset), Number(hit.nextOffset)),
    );
    expect(read.damagedBytes).toBe(Number(hit.nextOffset - hit.offset));
    const copy = join(directoryOf(dataDir), 'damage', `${hit.offset}-${hit.nextOffset}.bin`);
    expect(readFileSync(copy)).toEqual(Buffer.from(read.damage[0]?.bytes ?? []));
  });

  test('of any kind, anywhere, loses no batch that it did not touch, and nothing fails', async () => {
    const { batches, path, bytes } = await crashedJournal(100);
    const written = Number(batches.at(-1)?.nextOffset);
    const hit = fc.record({
      at: fc.nat(written - 1),
      // The longest exceed the first read of a search.
      length: fc.oneof(
        fc.constant(1),
        fc.integer({ min: 1, max: 3_000 }),
        fc.integer({ min: 17_000, max: 20_000 }),
      ),
      filling: fc.constantFrom('flip', 'zeros', 'ones', 'another batch'),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(hit, { minLength: 1, maxLength: 4 }),
        fc.nat(batches.length - 1),
        async (hits, source) => {
          const damaged = Buffer.from(bytes);
          for (const { at, length, filling } of hits) {
            const end = Math.min(at + length, written);
            const from = Number(batches[source]?.offset ?? 0n);
            if (filling === 'another batch') bytes.copy(damaged, at, from, from + end - at);
            else
              for (let i = at; i < end; i++)
                damaged[i] = filling === 'flip' ? ~(bytes[i] ?? 0) : filling === 'zeros' ? 0 : 0xff;
          }
          writeFileSync(path, damaged);
          const untouched = batches.filter(
            ({ offset, nextOffset }) =>
              bytes.compare(
                damaged,
                Number(offset),
                Number(nextOffset),
                Number(offset),
                Number(nextOffset),
              ) === 0,
          );
          const read = await readRecovered();
          expect(sequencesOf(read.batches)).toEqual(sequencesOf(untouched));
          expect(read.undecodable).toEqual([]);
        },
      ),
      { numRuns: 150 },
    );
  });

  test('that destroys a whole segment does not block the next one', async () => {
    const { path, bytes } = await crashedJournal(5);
    writeFileSync(path, Buffer.alloc(bytes.length, 0x5a));
    const writer = await openTestJournal(dataDir);
    await appendClicks(writer, ['still here']);
    await writer.close();
    const { clicks } = await readJournal(dataDir);
    expect(clicks.map(({ userAgent }) => userAgent)).toEqual(['still here']);
  });

  test('in the current segment is skipped by a reader that waits there', async () => {
    const writer = await openTestJournal(dataDir);
    await appendClicks(writer, ['one']);
    const { nextOffset } = await readJournal(dataDir);
    await appendClicks(writer, ['two']);
    await appendClicks(writer, ['three']);
    const [segment] = listSegmentsNow(directoryOf(dataDir));
    const { batches } = await readJournal(dataDir);
    const hit = batches.find(({ payload }) => Buffer.from(payload).includes('two'));
    if (!segment || !hit) throw new Error('no batch');
    const damaged = readFileSync(segment.path);
    damaged.fill(0, Number(hit.offset), Number(hit.nextOffset));
    writeFileSync(segment.path, damaged, { flag: 'r+' });
    const reader = new JournalReader(dataDir);
    let seen = '';
    let offset = nextOffset;
    const readOn = async () => {
      const read = await reader.read(TEST_STREAM_NAME, offset, { maxBytes: 1 << 20, waitMs: 5000 });
      for (const { payload } of read.batches) seen += Buffer.from(payload).toString('latin1');
      offset = read.nextOffset;
      return seen;
    };
    await expect.poll(readOn).toContain('three');
    expect(seen).not.toContain('two');
    await reader.close();
    await writer.close();
  });
});

describe('a power cut', () => {
  test('that loses the end of the journal never makes a reader’s offset mean something else', async () => {
    const writer = await openTestJournal(dataDir);
    await appendClicks(writer, ['synced']);
    cpSync(dataDir, `${dataDir}-before`, { recursive: true });
    await appendClicks(writer, ['never synced']);
    const { nextOffset } = await readJournal(dataDir); // a consumer has read on and saved its offset in PostgreSQL
    await writer.close();
    rmSync(dataDir, { recursive: true });
    cpSync(`${dataDir}-before`, dataDir, { recursive: true });
    rmSync(`${dataDir}-before`, { recursive: true });
    const again = await openTestJournal(dataDir);
    await appendClicks(again, ['after']);
    await again.close();
    const { clicks, damage } = await readJournal(dataDir, nextOffset);
    expect(damage).toEqual([]);
    expect(clicks.map(({ userAgent }) => userAgent)).toEqual(['after']);
  });

  test('that undoes a segment’s rename loses none of its batches', async () => {
    const { batches, path } = await crashedJournal(5);
    cpSync(path, path.replace('.seg', '.next'));
    rmSync(path);
    const writer = await openTestJournal(dataDir);
    await writer.close();
    const read = await readJournal(dataDir);
    expect(sequencesOf(read.batches).slice(0, batches.length)).toEqual(sequencesOf(batches));
  });
});

describe('a worker that truncates the log while it is recovered', () => {
  test('does not stop the start', async () => {
    const { path } = await crashedJournal(5);
    const recovering = recoverNow();
    rmSync(path);
    await expect(recovering).resolves.toMatchObject({ damagedBytes: 0 });
  });
});

describe('a segment in preparation', () => {
  test('never replaces one that the writer made meanwhile', async () => {
    const { batches, path, bytes } = await crashedJournal(5);
    writeFileSync(path.replace('.seg', '.next'), Buffer.alloc(bytes.length));
    const writer = await openTestJournal(dataDir);
    await writer.close();
    const read = await readJournal(dataDir);
    expect(sequencesOf(read.batches).slice(0, batches.length)).toEqual(sequencesOf(batches));
    expect(readdirSync(directoryOf(dataDir)).filter((name) => name.endsWith('.next'))).toEqual([]);
  });

  test('leaves nothing behind when it fails, wherever the writer is', async () => {
    mkdirSync(join(preparedPath(dataDir, 2n), 'in the way'), { recursive: true });
    let start = 0n;
    await expect(prepareSegment(dataDir, 4_096, () => ++start)).rejects.toThrow();
    expect(readdirSync(dataDir)).toEqual([basename(preparedPath(dataDir, 2n))]);
  });
});

describe('the state of a stream', () => {
  test('survives a torn write of the epoch file, and epochs continue from the journal', async () => {
    await crashedJournal(2);
    const path = join(directoryOf(dataDir), 'epoch');
    const bytes = readFileSync(path);
    for (const slot of [0, 512]) {
      writeFileSync(path, Buffer.from(bytes).fill(0xff, slot, slot + 20));
      expect((await recoverNow()).epoch).toBeGreaterThan(1);
    }
  });

  test('is a new identity when the epoch file is gone, so no sequence is reused', async () => {
    await crashedJournal(2);
    rmSync(join(directoryOf(dataDir), 'epoch'));
    const other = { ...TEST_STREAM, streamId: '01900000-0000-7000-8000-0000000000bb', ordinal: 8 };
    const writer = await openTestJournal(dataDir, { register: async () => other });
    expect(writer.stream).toEqual(other);
    await writer.close();
    const again = await openTestJournal(dataDir);
    expect(again.stream).toEqual(other);
    await again.close();
  });

  test('reuses no sequence after a restore from an older copy', async () => {
    const minute = 60_000_000;
    let now = Date.now() * 1000;
    const clock = { now: () => now, check: () => undefined };
    const writeOne = async () => {
      const writer = await openTestJournal(dataDir, { clock });
      const [click] = await appendClicks(writer, ['x']);
      await writer.close();
      return click?.sequence ?? 0n;
    };
    const sequences = [await writeOne()];
    const copy = temporaryDataDir();
    onTestFinished(copy.remove);
    cpSync(dataDir, copy.dataDir, { recursive: true });
    for (let start = 0; start < 5; start++) sequences.push(await writeOne());
    rmSync(dataDir, { recursive: true });
    cpSync(copy.dataDir, dataDir, { recursive: true });
    now += 10 * minute;
    sequences.push(await writeOne());
    expect(sequences).toEqual(sequences.toSorted((a, b) => Number(a - b)));
    expect(new Set(sequences).size).toBe(7);
  });

  test('reuses nothing that others have seen, whatever the directory knows', async () => {
    await crashedJournal(2);
    const epochFile = new EpochFile(directoryOf(dataDir));
    onTestFinished(() => epochFile.close());
    const record = { ...NOTHING_RECORDED, stored: (9_000_000n << 40n) + 3n, readUpTo: 10n ** 12n };
    const { epoch, start } = await recover(directoryOf(dataDir), epochFile, {
      now: () => 0,
      record,
      log: silentLogger(),
    });
    expect(epoch).toBe(9_000_001);
    expect(start).toBeGreaterThan(record.readUpTo);
  });

  test('begins beyond what others saw of a restored copy that can ask nobody', async () => {
    await crashedJournal(2);
    const startOf = async (micros: number, record: StreamRecord) => {
      const epochFile = new EpochFile(directoryOf(dataDir));
      const { start } = await recover(directoryOf(dataDir), epochFile, {
        now: () => micros,
        record,
        log: silentLogger(),
      });
      epochFile.close();
      return start;
    };
    const copy = temporaryDataDir();
    onTestFinished(copy.remove);
    cpSync(dataDir, copy.dataDir, { recursive: true });
    const now = Date.UTC(2026, 5, 1) * 1000;
    const answered: StreamRecord = { ...NOTHING_RECORDED, state: 'active' };
    const seen = [await startOf(now, answered), await startOf(now, NOTHING_RECORDED)];
    rmSync(dataDir, { recursive: true });
    cpSync(copy.dataDir, dataDir, { recursive: true });
    const minute = 60_000_000;
    seen.push(await startOf(now + minute, NOTHING_RECORDED));
    expect(seen).toEqual(seen.toSorted((a, b) => (a < b ? -1 : 1)));
    expect(new Set(seen).size).toBe(3);
  });

  test('starts after every time that others have seen, when it lost its end and the clock is behind', async () => {
    const clock = { now: () => 1_000_000 };
    const writer = await openTestJournal(dataDir, { clock });
    const [click] = await appendClicks(writer, ['kept']);
    await writer.close();
    const stored = click?.sequence ?? 0n;
    const seen = { state: 'active', stored: stored + 9n, readUpTo: 0n, visibleBefore: 7_000_000 } as const;
    const startOf = async (record: StreamRecord) => {
      const again = await openTestJournal(dataDir, { clock, recorded: async () => record });
      const [first] = await appendClicks(again, ['first']);
      await again.close();
      return first?.ts ?? 0;
    };
    expect(await startOf({ ...seen, stored }), 'nothing was lost').toBeLessThan(2_000_000);
    expect(await startOf({ ...seen, stored: seen.stored + (1n << 60n) })).toBeGreaterThanOrEqual(7_000_000);
  });

  test('has epochs left when the clock is wrong by centuries, or behind', async () => {
    await crashedJournal(2);
    const epochFile = new EpochFile(directoryOf(dataDir));
    onTestFinished(() => epochFile.close());
    const startAt = async (time: number) =>
      (
        await recover(directoryOf(dataDir), epochFile, {
          now: () => time * 1000,
          record: NOTHING_RECORDED,
          log: silentLogger(),
        })
      ).epoch;
    expect(await startAt(Date.UTC(2040, 0))).toBe((Date.UTC(2040, 0) - Date.UTC(2026, 0)) / 60_000);
    expect(await startAt(Date.UTC(2400, 0))).toBe(MAX_EPOCH >> 1);
    expect(await startAt(Date.UTC(1970, 0))).toBe((MAX_EPOCH >> 1) + 1);
    expect(await startAt(Date.UTC(2500, 0))).toBe((MAX_EPOCH >> 1) + 2);
  });

  test('of a recreated journal is read from its start by a reader that was further', async () => {
    const { batches } = await crashedJournal(20);
    rmSync(dataDir, { recursive: true });
    const writer = await openTestJournal(dataDir);
    await appendClicks(writer, ['new']);
    const { clicks } = await readJournal(dataDir, (batches.at(-1)?.nextOffset ?? 0n) + 10n ** 9n);
    expect(clicks.map(({ userAgent }) => userAgent)).toEqual(['new']);
    await writer.close();
  });
});
