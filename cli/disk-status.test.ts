import { expect, test } from 'vitest';
import { describeVolume, diskStatus } from './disk-status.ts';

const whole = { bsize: 4_096, blocks: 10_000_000, bavail: 5_000_000, files: 1_000, ffree: 900 };

test.each([
  ['half of it free', {}, false],
  ['4 % of it free', { bavail: 400_000 }, true],
  ['less than 1 GiB free', { blocks: 1_000_000, bavail: 200_000 }, true],
  ['no inodes', { ffree: 0 }, true],
  ['a file system without inodes', { files: 0, ffree: 0 }, false],
])('a volume with %s', (_, change, isLow) => {
  expect(describeVolume({ ...whole, ...change }).isLow).toBe(isLow);
});

test('a directory that this machine lacks has no status', async () => {
  expect(await diskStatus('/no/such/directory')).toBeNull();
  expect((await diskStatus('/'))?.detail).toMatch(/GiB \(\d+ %\) and \d+ % of inodes free/);
});
