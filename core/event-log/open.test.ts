import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  appendClicks,
  readJournal,
  TEST_STREAM,
  TEST_STREAM_NAME,
  temporaryDataDir,
  testSealer,
} from '../../test/support/journal.ts';
import { readConfig } from '../config.ts';
import { silentLogger } from '../log.ts';
import { openEventLogReader, openEventLogWriter, ownBatches, readStreamIdentity } from './open.ts';
import type { LogBatch } from './port.ts';

let dataDir: string;
let remove: () => void;
beforeEach(() => {
  ({ dataDir, remove } = temporaryDataDir());
});
afterEach(() => remove());

const config = () => ({
  dataDir,
  journalSyncMs: 5,
  journalBudgetBytes: 1 << 20,
  kafkaBrokers: [] as string[],
  kafka: readConfig({}).kafka,
});
const dependencies = (register = async () => TEST_STREAM) => ({
  streamName: TEST_STREAM_NAME,
  register,
  stored: async () => -1n,
  sealer: testSealer,
  log: silentLogger(),
  registry: new Registry(),
});

describe('opening the event log', () => {
  test('gives a writer and a reader of the same log', async () => {
    const writer = await openEventLogWriter(config(), dependencies());
    const [click] = await appendClicks(writer, ['x']);
    const reader = openEventLogReader(config());
    expect(await reader.partitions()).toEqual([TEST_STREAM_NAME]);
    const { batches } = await reader.read(TEST_STREAM_NAME, 0n, { maxBytes: 1, waitMs: 1000 });
    expect(batches[0]).toMatchObject({ streamId: TEST_STREAM.streamId, firstSequence: click?.sequence });
    await reader.close();
    await writer.close();
  });

  test('needs no Postgres after the first start', async () => {
    expect(readStreamIdentity(dataDir, TEST_STREAM_NAME)).toBeNull();
    await (await openEventLogWriter(config(), dependencies())).close();
    expect(readStreamIdentity(dataDir, TEST_STREAM_NAME)).toEqual(TEST_STREAM);
    const down = async () => {
      throw new Error('Postgres is down');
    };
    await (await openEventLogWriter(config(), dependencies(down))).close();
  });

  test('leaves nothing locked when a first start fails', async () => {
    const down = async () => {
      throw new Error('Postgres is down');
    };
    await expect(openEventLogWriter(config(), dependencies(down))).rejects.toThrow('Postgres is down');
    await (await openEventLogWriter(config(), dependencies())).close();
  });

  test('takes events while no broker answers, and keeps them in the journal', async () => {
    const unreachable = { ...config(), kafkaBrokers: ['127.0.0.1:9'] };
    const writer = await openEventLogWriter(unreachable, dependencies());
    const [click] = await appendClicks(writer, ['x']);
    await writer.close();
    const { batches } = await readJournal(dataDir);
    expect(batches[0]).toMatchObject({ firstSequence: click?.sequence });
  });
});

describe('a stream’s own batches', () => {
  const collect = async (after: bigint): Promise<LogBatch[]> => {
    const batches: LogBatch[] = [];
    for await (const batch of ownBatches(dataDir, TEST_STREAM_NAME, after)) batches.push(batch);
    return batches;
  };

  test('are all that hold anything beyond a sequence, over segments and starts', async () => {
    const writer = await openEventLogWriter(config(), dependencies());
    for (let turn = 0; turn < 30; turn++) {
      await appendClicks(
        writer,
        Array.from({ length: 20 }, (_, index) => `${turn}-${index}-${'x'.repeat(500)}`),
      );
    }
    await writer.close();
    const again = await openEventLogWriter(config(), dependencies());
    await appendClicks(again, ['after a restart']);
    await again.close(); // no heartbeat between the two looks
    const { batches: all } = await readJournal(dataDir);
    expect(new Set(all.map(({ firstSequence }) => firstSequence >> 40n)).size).toBe(2);
    const last = ({ firstSequence, count }: LogBatch) => firstSequence + BigInt(count) - 1n;
    const firsts = (batches: LogBatch[]) => batches.map(({ firstSequence }) => firstSequence);
    expect(firsts(await collect(-1n))).toEqual(firsts(all));
    for (const { firstSequence, count } of all) {
      for (const after of [firstSequence - 1n, firstSequence, firstSequence + BigInt(count) - 1n]) {
        expect(firsts(await collect(after))).toEqual(firsts(all.filter((batch) => last(batch) > after)));
      }
    }
  });

  test('of a stream that never was are none', async () => {
    expect(await collect(-1n)).toEqual([]);
  });
});
