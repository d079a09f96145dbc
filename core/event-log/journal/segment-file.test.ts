import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { prepareSegment, type SegmentFile, sparseSegment, writeFrame } from './segment-file.ts';
import { preparedPath, segmentPath } from './segments.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-segment-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function write(file: SegmentFile, bytes: Uint8Array): void {
  writeFrame(file, bytes);
  file.position += bytes.length;
}

/** Returns the bytes that this process has read from disks. */
function readFromDisk(): number {
  return Number(/^read_bytes: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
}

test.each([
  ['prepared', 40_000],
  ['prepared', 40_960],
  ['sparse', 40_000],
])('a %s segment of %d bytes holds its frames, one behind the other, and zeros', async (kind, capacity) => {
  const frames = fc.array(fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 13_000 })), {
    minLength: 1,
    maxLength: 40,
  });
  await fc.assert(
    fc.asyncProperty(frames, async (lengths) => {
      const file =
        kind === 'prepared'
          ? await prepareSegment(directory, capacity, () => 0n)
          : sparseSegment(directory, 0n, capacity);
      const path = kind === 'prepared' ? preparedPath(directory, 0n) : segmentPath(directory, 0n);
      const expected = Buffer.alloc(capacity);
      for (const [n, length] of lengths.entries()) {
        if (file.position + length > capacity) break;
        const frame = Buffer.alloc(length, 1 + (n % 255));
        expected.set(frame, file.position);
        write(file, frame);
      }
      expect(readFileSync(path).equals(expected)).toBe(true);
      closeSync(file.fd);
      rmSync(path);
    }),
    { numRuns: 50 },
  );
});

test('a file has all of its blocks, filled with rests, without, or with both', async () => {
  const bytes = fc.integer({ min: 1, max: 3 * 1024 * 1024 });
  const rests = fc.array(fc.integer({ min: 0, max: 1 }), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(bytes, rests, async (capacity, pattern) => {
      const filled: number[] = [];
      const rest = (share: number) => pattern[filled.push(share) % pattern.length] ?? 0;
      const file = await prepareSegment(directory, capacity, () => 0n, rest);
      const path = preparedPath(directory, 0n);
      expect(readFileSync(path).equals(Buffer.alloc(capacity))).toBe(true);
      expect(statSync(path).blocks * 512).toBeGreaterThanOrEqual(capacity);
      expect([filled.at(0), filled.at(-1)]).toEqual([0, 1]);
      expect(filled).toEqual(filled.toSorted((a, b) => a - b));
      closeSync(file.fd);
      rmSync(path);
    }),
    { numRuns: 20 },
  );
});

test('a frame that failed in part is overwritten by the next one', () => {
  const file = sparseSegment(directory, 0n, 20_000);
  write(file, Buffer.alloc(5_000, 1));
  writeFrame(file, Buffer.alloc(9_000, 2)); // as if it failed: the position is unchanged
  write(file, Buffer.alloc(100, 3));
  write(file, Buffer.alloc(5_000, 4));
  const bytes = readFileSync(segmentPath(directory, 0n));
  expect([bytes[4_999], bytes[5_000], bytes[5_099], bytes[5_100], bytes[10_099]]).toEqual([1, 3, 3, 4, 4]);
  closeSync(file.fd);
});

test('a write does not read a segment that the page cache has dropped', async () => {
  const onDisk = mkdtempSync('/var/tmp/hoplog-segment-');
  onTestFinished(() => rmSync(onDisk, { recursive: true }));
  const readByWrites = async () => {
    const file = await prepareSegment(onDisk, 4 * 1024 * 1024, () => 0n);
    const path = preparedPath(onDisk, 0n);
    // Drops the page cache of the file (posix_fadvise, POSIX_FADV_DONTNEED).
    execFileSync('dd', [`of=${path}`, 'oflag=nocache', 'conv=notrunc', 'count=0'], { stdio: 'ignore' });
    const before = readFromDisk();
    const frame = Buffer.alloc(300, 7);
    for (let n = 0; n < 5_000; n++) write(file, frame);
    const read = readFromDisk() - before;
    closeSync(file.fd);
    rmSync(path);
    return read;
  };
  // Each of the 367 blocks would be read, each time; what else this process reads meanwhile is code.
  await expect.poll(readByWrites).toBeLessThan(300_000);
});
