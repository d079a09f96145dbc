import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  appendClicks,
  openTestJournal,
  TEST_STREAM,
  TEST_STREAM_NAME,
} from '../../../test/support/journal.ts';
import { silentLogger } from '../../tier/log.ts';
import type { LogBatch, MissingRange, StreamNeeds } from '../port.ts';
import { createSendAgain } from './send-again.ts';

const TO = { topic: 'events', partition: 0 };

let dataDir: string;
let unsendable: bigint[];
let offset: bigint;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'hoplog-send-again-'));
  unsendable = [];
  offset = 99n;
});

afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

/** Returns a function that makes the step look once, and returns the sequences that it sent. */
async function sender(clicks: number) {
  const journal = await openTestJournal(dataDir);
  const names = Array.from({ length: clicks }, (_, at) => String(at));
  const sequences: bigint[] = [];
  // A batch for each two clicks.
  for (let at = 0; at < clicks; at += 2) {
    for (const { sequence } of await appendClicks(journal, names.slice(at, at + 2))) sequences.push(sequence);
  }
  await journal.close();
  const sendAgain = createSendAgain({
    dataDir,
    streamName: TEST_STREAM_NAME,
    stream: TEST_STREAM,
    log: silentLogger(),
    onUnsendable: (sequence) => unsendable.push(sequence),
    isStopping: () => false,
    maxBytes: 1,
  });
  const look = async (missing: MissingRange[], reached = 0n) => {
    const sent: number[] = [];
    const needs: StreamNeeds = { stored: 1n << 50n, missing, reached: new Map([['events/0', reached]]) };
    const send = async (batches: readonly LogBatch[]) => {
      for (const { firstSequence, count } of batches) {
        for (let at = 0; at < count; at += 1) sent.push(sequences.indexOf(firstSequence + BigInt(at)));
      }
      offset += 1n;
      return offset;
    };
    await sendAgain(needs, TO, send);
    return sent;
  };
  const range = (from: number, to: number): MissingRange => ({
    from: sequences[from] ?? -1n,
    to: sequences[to] ?? -1n,
  });
  return { look, range };
}

test('what is missing is sent once, and again only when workers are past it and lack it still', async () => {
  const { look, range } = await sender(10);
  expect(await look([])).toEqual([]);
  expect(await look([range(2, 5)])).toEqual([2, 3, 4, 5]);
  expect(await look([range(2, 5)], 101n)).toEqual([]);
  expect(await look([range(4, 5)], 102n)).toEqual([4, 5]);
  expect(unsendable).toEqual([]);
});

test('what the journal does not hold is given up, and the next range is sent', async () => {
  const { look, range } = await sender(6);
  const gone = { from: 1n << 45n, to: 1n << 46n };
  expect(await look([gone])).toEqual([]);
  expect(unsendable).toEqual([gone.to]);
  expect(await look([gone])).toEqual([]);
  expect(unsendable).toHaveLength(1);
  expect(await look([{ from: gone.to + 1n, to: gone.to + 2n }])).toEqual([]);
  expect(unsendable).toHaveLength(2);
  expect(range(0, 1).from).toBeGreaterThanOrEqual(0n);
});
