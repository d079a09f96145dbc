import { afterAll, beforeAll, expect, test } from 'vitest';
import { ownBatches } from '../../core/event-log/journal/own-batches.ts';
import type { JournalWriter } from '../../core/event-log/journal/writer.ts';
import { decodeEvents } from '../../core/events/codec.ts';
import { type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';
import { openTestJournal, temporaryDataDir, testSealer } from '../../test/support/journal.ts';

const disk = temporaryDataDir();
const STREAM = 'api-7';

let api: TestApi;
let shop: TestWorkspace;
let journal: JournalWriter;

beforeAll(async () => {
  journal = await openTestJournal(disk.dataDir, { streamName: STREAM, budgetBytes: 3 * 64 * 1024 });
  api = await testApi(() => ({ eventLog: journal }));
  shop = await api.addWorkspace();
});
afterAll(async () => {
  await api.close();
  await journal.close();
  disk.remove();
});

/** Returns the order ids in the journal's files. */
async function ordersOnDisk(): Promise<string[]> {
  const orders: string[] = [];
  for await (const batch of ownBatches(disk.dataDir, STREAM, -1n)) {
    for (const { event } of decodeEvents(batch, testSealer).events) {
      if (event.kind === 'order') orders.push(event.orderId);
    }
  }
  return orders;
}

test('every acknowledged order is on disk, and a full journal is a 503', async () => {
  const answered: string[] = [];
  let refused = 0;
  for (let n = 0; n < 5_000 && refused < 3; n++) {
    const order = { order_id: `order-${n}-${'x'.repeat(150)}`, amount: 1, external_user_id: 'u'.repeat(200) };
    const answer = await shop.post('/track/order', order);
    if (answer.status === 202) answered.push(order.order_id);
    else refused += 1;
    if (n === 0) expect(await ordersOnDisk()).toEqual(answered);
    if (answer.status !== 202) {
      expect([answer.status, answer.body.error.code]).toEqual([503, 'unavailable']);
      expect(answer.headers['retry-after']).toBeDefined();
    }
  }
  expect(refused).toBe(3);
  expect(answered.length).toBeGreaterThan(50);
  expect(await ordersOnDisk()).toEqual(answered);
});
