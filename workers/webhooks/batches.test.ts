import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import { requestErasure } from '../../sql/erasure/erasures.ts';
import type { TestWorkspace } from '../../test/support/api.ts';
import { isGenuine, type Received, type Receiver, startReceiver } from '../../test/support/receiver.ts';
import { createWebhookBench, type WebhookBench } from '../../test/support/webhook-bench.ts';
import { click } from '../test-support/events.ts';

let bench: WebhookBench;
let receiver: Receiver;
let shop: TestWorkspace;
beforeAll(async () => {
  bench = await createWebhookBench();
  receiver = await startReceiver();
});
beforeEach(async () => {
  await bench.rest();
  shop = await bench.api.addWorkspace();
  receiver.received.length = 0;
  receiver.answerWith(200);
});
afterAll(async () => {
  await bench.close();
  await receiver.close();
});

type Click = { id: string; visitor_id: string };
const clicksOf = ({ event }: Received) => event.data as unknown as Click[];
const sizes = () => receiver.received.map((one) => clicksOf(one).length).toSorted((a, b) => a - b);

const hook = (batch: object, events = ['click.created']) => bench.hook(shop, receiver.url, events, { batch });

describe('a batch', () => {
  it('is sent with as many clicks as it may have, and the rest when the first has waited', async () => {
    bench.stopClock();
    bench.work();
    const made = await hook({ max: 10, seconds: 60 });
    bench.clicks(shop, 25);
    await receiver.until(2);
    expect(sizes()).toEqual([10, 10]);
    bench.ahead = 61_000;
    await receiver.until(3);
    expect(sizes()).toEqual([5, 10, 10]);
    const ids = receiver.received.flatMap((one) => clicksOf(one).map(({ id }) => id));
    expect(new Set(ids).size).toBe(25);
    for (const one of receiver.received) {
      expect(isGenuine(made.secret, one)).toBe(true);
      expect(one.event).toEqual({
        id: one.id,
        type: 'click.created.batch',
        created_at: expect.any(String),
        data: expect.any(Array),
      });
    }
    const logged = async () =>
      (await bench.log(shop, made, '?type=click.created.batch')).map(({ status }) => status);
    await expect.poll(logged).toEqual(['delivered', 'delivered', 'delivered']);
  });

  it('is retried whole under one id, and other events come alone', async () => {
    bench.work();
    receiver.answerWith(500);
    await hook({ max: 2, seconds: 60 }, ['click.created', 'credit.earned']);
    bench.clicks(shop, 2);
    await receiver.until(1);
    receiver.answerWith(200);
    bench.ahead = 10_000;
    await receiver.until(2);
    const [first, again] = receiver.received;
    expect([again?.id, again?.body]).toEqual([first?.id, first?.body]);
    await bench.credit(shop);
    await receiver.until(3);
    expect(receiver.received[2]?.event.type).toBe('credit.earned');
  });

  it('ends with its setting: what waits is sent at once', async () => {
    bench.stopClock();
    bench.work();
    const made = await hook({ max: 100, seconds: 60 });
    bench.clicks(shop, 3);
    const waiting = async () =>
      (await bench.api.stores.pool.query('SELECT FROM webhook_batched_clicks')).rowCount;
    await expect.poll(waiting).toBe(3);
    await shop.patch(`/webhooks/${made.id}`, { batch: null });
    await receiver.until(1);
    expect(sizes()).toEqual([3]);
  });

  it('loses the clicks of an erased visitor, also where it waits for another attempt', async () => {
    bench.stopClock();
    bench.work();
    receiver.answerWith(500);
    const made = await hook({ max: 3, seconds: 60 });
    const [gone, stays, later] = [uuidv7(), uuidv7(), uuidv7()];
    const ts = Date.now() * 1_000;
    const of = (visitor: string, at: number) =>
      click({ workspace: shop.workspace.id, link: uuidv7(), visitor, ts: ts + at });
    bench.stream.append([of(gone, 1), of(stays, 2), of(stays, 3), of(gone, 4), of(later, 5)]);
    const [first] = await receiver.until(1);
    const { pool } = bench.api.stores;
    await requestErasure(pool, { workspaceId: shop.workspace.id, kind: 'visitor', targetId: gone });
    const waiting = async () =>
      (await bench.api.stores.pool.query('SELECT FROM webhook_batched_clicks')).rowCount;
    await expect.poll(waiting, { timeout: 20_000 }).toBe(1);
    receiver.answerWith(200);
    bench.ahead = 70_000;
    await receiver.until(3);
    const again = receiver.received.slice(1);
    expect(again.find(({ id }) => id === first?.id)).toBeDefined();
    expect(again.flatMap(clicksOf).map((one) => one.visitor_id)).toEqual(
      expect.arrayContaining([stays, stays, later]),
    );
    expect(JSON.stringify(again)).not.toContain(gone);
    expect(JSON.stringify(await bench.log(shop, made))).not.toContain(gone);
  });
});
