import { expect, test } from 'vitest';
import type { StreamNeeds } from '../port.ts';
import { allStored, type Sent, type Told } from './all-stored.ts';

const PARTITION = 'events/0';
const SENT: Sent = { sequence: 100n, partition: PARTITION, end: 10n };
const PATIENCE_MS = 300;

function needs(stored: bigint, reached: bigint, missing: StreamNeeds['missing'] = []): StreamNeeds {
  return { stored, missing, reached: new Map([[PARTITION, reached]]) };
}

const wait = (told: () => Told, signal = new AbortController().signal) =>
  allStored(SENT, told, signal, PATIENCE_MS);

test('all is stored once workers have the newest event and their lane is at the end of the partition', async () => {
  expect(await wait(() => ({ needs: needs(100n, 10n), fill: 0 }))).toBe(true);
  expect(await wait(() => ({ needs: needs(99n, 10n), fill: 0 }))).toBe(false);
  // The end holds what a process sent before it was killed, and this one does not know of.
  expect(await wait(() => ({ needs: needs(200n, 9n), fill: 0 }))).toBe(false);
  expect(await wait(() => ({ needs: { ...needs(200n, 0n), reached: new Map() }, fill: 0 }))).toBe(false);
});

test('workers that are far behind are waited for as long as they store', async () => {
  const began = performance.now();
  const steps = () => BigInt(Math.floor((performance.now() - began) / (PATIENCE_MS / 3)));
  expect(await wait(() => ({ needs: needs(200n, steps()), fill: 0 }))).toBe(true);
  expect(performance.now() - began).toBeGreaterThan(3 * PATIENCE_MS);
});

test('a stream whose newest events the log has lost does not wait while other streams store', async () => {
  let reached = 10n;
  const others = () => ({ needs: needs(99n, reached++), fill: 0 });
  expect(await wait(others)).toBe(false);
  expect(reached).toBe(12n);
});

test('a stream continues where it was when its journal fills, events are missing, or it stops', async () => {
  const behind = needs(0n, 0n);
  expect(await wait(() => ({ needs: behind, fill: 0.5 }))).toBe(false);
  const missing = needs(200n, 10n, [{ from: 1n, to: 2n }]);
  expect(await wait(() => ({ needs: missing, fill: 0 }))).toBe(false);
  expect(await wait(() => ({ needs: behind, fill: 0 }), AbortSignal.abort())).toBe(false);
});
