import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Receiver, startReceiver } from '../../test/support/receiver.ts';
import { until } from '../../test/support/until.ts';
import { createWebhookBench, type WebhookBench } from '../../test/support/webhook-bench.ts';

let bench: WebhookBench;
let receiver: Receiver;
beforeEach(async () => {
  bench = await createWebhookBench();
  receiver = await startReceiver();
});
afterEach(async () => {
  await bench.close();
  await receiver.close();
});

/** Returns the offset of the webhooks' lane. */
async function place(): Promise<bigint> {
  const { rows } = await bench.api.stores.pool.query<{ next_offset: string }>(
    `SELECT next_offset FROM log_lanes WHERE consumer = 'webhooks'`,
  );
  return BigInt(rows[0]?.next_offset ?? -1);
}

describe('a lane of the webhooks whose offset is past the end of the log', () => {
  it('is reset once: its clicks are delivered, and at the next starts only new ones', async () => {
    await bench.api.stores.pool.query(
      `INSERT INTO log_lanes (consumer, partition, epoch, next_offset)
       VALUES ('webhooks', 'ingest-0', 3, 10000000000), ('store', 'ingest-0', 3, 10000000000)`,
    );
    const shop = await bench.api.addWorkspace();
    await bench.hook(shop, receiver.url, ['click.created']);
    bench.clicks(shop, 30);
    for (let start = 1; start <= 3; start++) {
      bench.work();
      if (start > 1) bench.clicks(shop);
      await receiver.until(29 + start);
      await until('the lane at the end of the log', place, (offset) => offset === bench.stream.end());
      await bench.rest();
    }
    expect(receiver.received).toHaveLength(32);
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(32);
  });
});
