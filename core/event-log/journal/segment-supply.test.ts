import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '../../tier/log.ts';
import { SegmentSupply } from './segment-supply.ts';

const SEGMENT_BYTES = 4 * 2 ** 20;

test('a segment that clicks did not wait for is not kept beyond the budget', async () => {
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
  // It rests between its pieces, so it is there for a while.
  while (!existsSync(join(directory, 'preparing'))) await delay(1);
  supply.current.position = SEGMENT_BYTES;
  expect(supply.roll()).not.toBe('budget');
  await expect.poll(() => readdirSync(directory), { timeout: 15_000 }).toHaveLength(2);
  supply.current.position = SEGMENT_BYTES;
  expect(supply.roll()).toBe('budget');
});
