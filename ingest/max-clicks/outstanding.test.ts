import { afterAll, beforeAll, expect, test } from 'vitest';
import { ownBatches } from '../../core/event-log/open.ts';
import { type LogBatch, NOTHING_RECORDED, type StreamRecord } from '../../core/event-log/port.ts';
import { CLICK_FLAGS } from '../../core/events/types.ts';
import { uuidToBytes } from '../../core/ids.ts';
import { advanceStreams, registerStream } from '../../sql/event-log/streams.ts';
import { addUsedPermits, leasePermits } from '../../sql/links/leases.ts';
import { makeLink, makeWorkspace } from '../../test/support/ingest.ts';
import {
  openTestJournal,
  TEST_STREAM_NAME,
  temporaryDataDir,
  testClick,
  testSealer,
} from '../../test/support/journal.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { type Outstanding, readOutstanding } from './outstanding.ts';

let stores: TestStores;
let linkId: string;
beforeAll(async () => {
  stores = await testStores();
  const workspace = await makeWorkspace(stores.pool);
  ({ id: linkId } = await makeLink(stores.pool, workspace.id, 'https://example.com/', { max_clicks: 100 }));
});
afterAll(() => stores.close());

/** A stream with ten granted permits, some of them spent. */
async function streamWithClicks(
  dataDir: string,
  clicks: number,
  state: StreamRecord['state'] = null,
): Promise<string> {
  const journal = await openTestJournal(dataDir, {
    register: (id) => registerStream(stores.pool, TEST_STREAM_NAME, id),
    recorded: async () => ({ ...NOTHING_RECORDED, state }),
  });
  const { streamId } = journal.stream;
  await leasePermits(stores.pool, { linkId, streamId, needed: 10 });
  const click = testClick('a', { linkId: uuidToBytes(linkId), flags: CLICK_FLAGS.counted });
  for (let made = 0; made < clicks; made++) {
    await new Promise((resolve) => journal.append(click, resolve));
  }
  await journal.close();
  return streamId;
}

function outstanding(
  streamId: string,
  batchesAfter: (sequence: bigint) => AsyncIterable<LogBatch>,
  truncatedAhead = () => -1n,
): Promise<Outstanding> {
  return readOutstanding({ pool: stores.pool, streamId, batchesAfter, truncatedAhead, sealer: testSealer });
}

test('a journal that is truncated while it is read must be stored by workers first', async () => {
  const { dataDir, remove } = temporaryDataDir();
  const streamId = await streamWithClicks(dataDir, 4);
  let freed = -1n;
  async function* freeing(): AsyncGenerator<LogBatch> {
    freed = 3n; // the journal drops the clicks for lack of space, after it listed them
    yield* [];
  }
  await expect(outstanding(streamId, freeing, () => freed)).rejects.toThrow(/workers have stored only up to/);
  await addUsedPermits(stores.pool, [{ linkId, streamId, clicks: 4 }]);
  await advanceStreams(stores.pool, [{ streamId, ordinal: 0, highWater: 3n, visibleBefore: 1 }]);
  expect(await outstanding(streamId, freeing, () => freed)).toEqual([{ linkId, spent: 4 }]);
  remove();
});

test('an earlier stream’s clicks in the journal use no permits of its successor', async () => {
  const { dataDir, remove } = temporaryDataDir();
  const before = await streamWithClicks(dataDir, 7);
  const streamId = await streamWithClicks(dataDir, 2, 'retired');
  expect(streamId).not.toBe(before);
  const batches = (sequence: bigint) => ownBatches(dataDir, TEST_STREAM_NAME, sequence);
  expect(await outstanding(streamId, batches)).toEqual([{ linkId, spent: 2 }]);
  remove();
});
