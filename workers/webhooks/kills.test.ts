import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { uuidToBytes } from '../../core/ids.ts';
import type { TestWorkspace } from '../../test/support/api.ts';
import { NIGHTLY } from '../../test/support/nightly.ts';
import { type Receiver, startReceiver } from '../../test/support/receiver.ts';
import { until } from '../../test/support/until.ts';
import { createWebhookBench, type WebhookBench } from '../../test/support/webhook-bench.ts';
import { order } from '../test-support/events.ts';
import { QUEUED } from './queued-deliveries.ts';

const SCRIPT = fileURLToPath(new URL('../test-support/killed-deliverer.ts', import.meta.url));

const DEATHS = NIGHTLY ? 4 : 2;

let bench: WebhookBench;
let shop: TestWorkspace;
let receiver: Receiver;
beforeAll(async () => {
  bench = await createWebhookBench();
  await bench.api.stores.createTables();
  shop = await bench.api.addWorkspace();
  receiver = await startReceiver();
});
afterAll(async () => {
  await bench.close();
  await receiver.close();
});

function startDeliverer(): ChildProcess {
  const { databaseUrl, clickhouseUrl, clickhouseDatabase } = bench.api.stores;
  const key = bench.addressKey.toString('hex');
  return spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      SCRIPT,
      databaseUrl,
      clickhouseUrl,
      clickhouseDatabase,
      bench.dataDir,
      key,
    ],
    { stdio: 'inherit' },
  );
}

describe('a worker killed with SIGKILL', () => {
  it('in the middle of deliveries loses no event, and what comes again has the same webhook-id and body', async () => {
    await bench.hook(shop, receiver.url, ['click.created', 'credit.earned', 'sale.created']);
    const batch = { max: 7, seconds: 1 };
    await bench.hook(shop, `${receiver.url}?batched`, ['click.created'], { batch });
    // Slow enough that each kill interrupts attempts, whose responses are lost.
    receiver.answer((response) => setTimeout(() => response.writeHead(200).end(), 30));
    const visitors = new Set<string>();
    let records = 0;
    const alone = () => receiver.received.filter((one) => one.event.type !== 'click.created.batch');
    for (let death = 0; death < DEATHS; death++) {
      const child = startDeliverer();
      const seen = alone().length;
      for (let burst = 0; burst < 10; burst++) {
        for (const visitor of bench.clicks(shop, 20)) visitors.add(visitor);
        await bench.credit(shop, { number: records });
        bench.stream.append([
          order({
            workspace: shop.workspace.id,
            ts: Date.now() * 1_000,
            orderId: `order-${death}-${burst}`,
          }),
        ]);
        records += 1;
      }
      const some = seen + 20 + death * 25;
      await until(
        `${some} deliveries`,
        () => alone().length,
        (count) => count >= some,
        { intervalMs: 1 },
      );
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    // The clock moves past the claims of the dead workers.
    bench.ahead = QUEUED.leaseMs + 1_000;
    bench.work();
    const clicks = () =>
      new Set(
        receiver.received
          .filter((one) => one.event.type === 'click.created')
          .map((one) => uuidToBytes(String(one.event.data.visitor_id)).toString('hex')),
      );
    const of = (type: string, field: string) =>
      new Set(receiver.received.filter((one) => one.event.type === type).map((one) => one.event.data[field]));
    const arrived = () => ({
      clicks: clicks().size,
      credits: of('credit.earned', 'number').size,
      sales: of('sale.created', 'order_id').size,
    });
    await expect
      .poll(arrived, { interval: 50, timeout: 200_000 })
      .toEqual({ clicks: visitors.size, credits: records, sales: records });
    expect(clicks()).toEqual(visitors);
    const bodies = Map.groupBy(alone(), (one) => one.id);
    expect(bodies.size).toBe(visitors.size + 2 * records);
    for (const same of bodies.values()) expect(new Set(same.map((one) => one.body)).size).toBe(1);

    const batches = () =>
      Map.groupBy(
        receiver.received.filter((one) => one.event.type === 'click.created.batch'),
        (one) => one.id,
      );
    type Visit = { visitor_id: string };
    const batched = () =>
      [...batches().values()]
        .flatMap((same) => same.slice(0, 1))
        .flatMap(({ event }) => event.data as unknown as Visit[])
        .map(({ visitor_id }) => uuidToBytes(visitor_id).toString('hex'));
    await expect.poll(() => batched().length, { interval: 50, timeout: 200_000 }).toBe(visitors.size);
    expect(new Set(batched())).toEqual(visitors);
    for (const same of batches().values()) {
      expect(new Set(same.map((one) => one.body)).size).toBe(1);
      for (const { event } of same)
        expect((event.data as unknown as unknown[]).length).toBeLessThanOrEqual(batch.max);
    }
  }, 240_000);
});
