import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
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
import { isUuid } from '../ids.ts';
import { readConfig } from '../settings/config.ts';
import { silentLogger } from '../tier/log.ts';
import {
  openEventLogReader,
  openEventLogWriter,
  ownBatches,
  readStreamIdentity,
  type WriterDependencies,
} from './open.ts';
import { type LogBatch, NOTHING_RECORDED, type StreamRecord, storedUpTo } from './port.ts';

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
const dependencies = (register: WriterDependencies['register'] = async () => TEST_STREAM) => ({
  streamName: TEST_STREAM_NAME,
  register,
  needs: async () => storedUpTo(-1n),
  giveUp: async () => {},
  sealer: testSealer,
  log: silentLogger(),
  registry: new Registry(),
});

describe('opening the event log', () => {
  test('returns a writer and a reader of the same log', async () => {
    const writer = await openEventLogWriter(config(), dependencies());
    const [click] = await appendClicks(writer, ['x']);
    const reader = await openEventLogReader(config());
    expect(await reader.partitions()).toEqual([TEST_STREAM_NAME]);
    const { batches } = await reader.read(TEST_STREAM_NAME, 0n, { maxBytes: 1, waitMs: 1000 });
    expect(batches[0]).toMatchObject({ streamId: TEST_STREAM.streamId, firstSequence: click?.sequence });
    await reader.close();
    await writer.close();
  });

  test('needs no PostgreSQL after the first start', async () => {
    expect(readStreamIdentity(dataDir, TEST_STREAM_NAME)).toBeNull();
    await (await openEventLogWriter(config(), dependencies())).close();
    expect(readStreamIdentity(dataDir, TEST_STREAM_NAME)).toEqual(TEST_STREAM);
    const down = async () => {
      throw new Error('Postgres is down');
    };
    await (await openEventLogWriter(config(), dependencies(down))).close();
  });

  test('registers the same stream again when the outcome of its registration is unknown', async () => {
    const asked: string[] = [];
    const losingAnAnswer = async (streamId = 'none was chosen') => {
      if (asked.push(streamId) === 1) throw new Error('the answer is lost');
      return { streamId, ordinal: 3 };
    };
    await expect(openEventLogWriter(config(), dependencies(losingAnAnswer))).rejects.toThrow('is lost');
    expect(readStreamIdentity(dataDir, TEST_STREAM_NAME)).toBeNull();
    const writer = await openEventLogWriter(config(), dependencies(losingAnAnswer));
    await writer.close();
    expect(asked).toEqual([writer.stream.streamId, writer.stream.streamId]);
    expect(isUuid(writer.stream.streamId)).toBe(true);
  });

  test('registers nothing while the disk rejects the identity', async () => {
    mkdirSync(join(dataDir, 'journal', TEST_STREAM_NAME, 'stream.json.making'), { recursive: true });
    let registered = 0;
    const register = async () => {
      registered += 1;
      return TEST_STREAM;
    };
    await expect(openEventLogWriter(config(), dependencies(register))).rejects.toThrow('EISDIR');
    expect(registered).toBe(0);
  });

  test('gives a retired stream a new identity without a missed event, and keeps its journal', async () => {
    const first = await openEventLogWriter(config(), dependencies());
    const [before] = await appendClicks(first, ['before']);
    await first.close();
    const notBefore = (before?.ts ?? 0) + 3_600_000_000;
    const register = async (streamId = '') => ({ streamId, ordinal: 9, notBefore });
    const asked: string[] = [];
    const start = async (stateOf: (streamId: string) => Promise<StreamRecord['state']>) => {
      const writer = await openEventLogWriter(config(), {
        ...dependencies(register),
        recorded: async (id) => ({ ...NOTHING_RECORDED, state: await stateOf(id) }),
      });
      const [click] = await appendClicks(writer, ['after']);
      await writer.close();
      return { ...writer.stream, ts: click?.ts ?? 0 };
    };
    const unanswered = await start(() => Promise.reject(new Error('Postgres is down')));
    expect(unanswered).toMatchObject(TEST_STREAM);
    const again = await start(async (streamId) => (asked.push(streamId) > 0 ? 'retired' : null));
    expect(asked).toEqual([TEST_STREAM.streamId]);
    expect(again).toMatchObject({ ordinal: 9 });
    expect(again.streamId).not.toBe(TEST_STREAM.streamId);
    expect(again.ts).toBeGreaterThan(notBefore);
    expect(await start(async () => 'active')).toMatchObject({ streamId: again.streamId, ordinal: 9 });
    const { batches, clicks, damage } = await readJournal(dataDir);
    expect(clicks.map(({ userAgent }) => userAgent)).toEqual(['before', 'after', 'after', 'after']);
    expect(damage).toEqual([]);
    expect([...new Set(batches.map(({ streamId }) => streamId))]).toEqual([
      TEST_STREAM.streamId,
      again.streamId,
    ]);
  });

  test('registers a stream that PostgreSQL has lost, under its identity', async () => {
    const first = await openEventLogWriter(config(), dependencies());
    const [before] = await appendClicks(first, ['before']);
    await first.close();
    const asked: unknown[] = [];
    const register = async (streamId = '', former: number | null = null) => {
      asked.push([streamId, former]);
      return { streamId, ordinal: 9, notBefore: 0 };
    };
    const start = async (state: StreamRecord['state']) => {
      const writer = await openEventLogWriter(config(), {
        ...dependencies(register),
        recorded: async () => ({ ...NOTHING_RECORDED, state }),
      });
      const [click] = await appendClicks(writer, ['after']);
      await writer.close();
      return { ...writer.stream, sequence: click?.sequence ?? 0n };
    };
    const again = await start('unregistered');
    expect(asked).toEqual([[TEST_STREAM.streamId, TEST_STREAM.ordinal]]);
    expect(again).toMatchObject({ streamId: TEST_STREAM.streamId, ordinal: 9 });
    expect(again.sequence).toBeGreaterThan(before?.sequence ?? 0n);
    expect(await start('active')).toMatchObject({ streamId: TEST_STREAM.streamId, ordinal: 9 });
    expect(asked).toHaveLength(1);
  });

  test('releases the lock when a first start fails', async () => {
    const down = async () => {
      throw new Error('Postgres is down');
    };
    await expect(openEventLogWriter(config(), dependencies(down))).rejects.toThrow('Postgres is down');
    await (await openEventLogWriter(config(), dependencies())).close();
  });

  test('accepts events while no broker responds, and keeps them in the journal', async () => {
    const unreachable = { ...config(), kafkaBrokers: ['127.0.0.1:9'] };
    const writer = await openEventLogWriter(unreachable, dependencies());
    // The shipper's thread loads without a broker.
    expect(writer.ready()).toBe(false);
    await expect.poll(() => writer.ready()).toBe(true);
    const [click] = await appendClicks(writer, ['x']);
    await writer.close();
    const { clicks } = await readJournal(dataDir); // heartbeats may precede it
    expect(clicks.map(({ sequence }) => sequence)).toEqual([click?.sequence]);
  });
});

describe('a stream’s own batches', () => {
  const collect = async (after: bigint): Promise<LogBatch[]> => {
    const batches: LogBatch[] = [];
    for await (const batch of ownBatches(dataDir, TEST_STREAM_NAME, after)) batches.push(batch);
    return batches;
  };

  test('are all batches with anything beyond a sequence, over segments and starts', async () => {
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

  test('of an unknown stream are none', async () => {
    expect(await collect(-1n)).toEqual([]);
  });
});
