import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '../../tier/log.ts';
import { SegmentSupply } from './segment-supply.ts';

const SEGMENT_BYTES = 4 * 2 ** 20;

test('a prepared segment that came too late is dropped when it exceeds the budget', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'hoplog-supply-'));
  const supply = await SegmentSupply.open(
    {
      directory,
      segmentBytes: SEGMENT_BYTES,
      budgetBytes: 2 * SEGMENT_BYTES,
      syncMs: 5,
      log: silentLogger(),
    },
    0n,
  );
  onTestFinished(async () => {
    await supply.close();
    rmSync(directory, { recursive: true, force: true });
  });
  supply.prepare();
  // The preparation rests between its pieces, so the file is unfinished for a while; on a slow machine it may be ready.
  await expect.poll(() => readdirSync(directory).length, { interval: 1 }).toBe(2);
  supply.current.position = SEGMENT_BYTES;
  expect(supply.roll()).not.toBe('budget');
  await expect.poll(() => readdirSync(directory)).toHaveLength(2);
  supply.current.position = SEGMENT_BYTES;
  expect(supply.roll()).toBe('budget');
});
