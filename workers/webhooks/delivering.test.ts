import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestWorkspace } from '../../test/support/api.ts';
import { isGenuine, type Receiver, startReceiver } from '../../test/support/receiver.ts';
import { until } from '../../test/support/until.ts';
import { createWebhookBench, type WebhookBench } from '../../test/support/webhook-bench.ts';

let bench: WebhookBench;
let shop: TestWorkspace;
let receiver: Receiver;
beforeAll(async () => {
  bench = await createWebhookBench();
  shop = await bench.api.addWorkspace();
  receiver = await startReceiver();
  bench.work();
});
afterAll(async () => {
  await bench.close();
  await receiver.close();
});

describe('a delivery', () => {
  it('of an event of the records is signed so that the published library verifies it', async () => {
    const hook = await bench.hook(shop, receiver.url, ['credit.earned']);
    await bench.credit(shop, { id: 7, amount: 2.5 });
    const [delivery] = await receiver.until(1);
    if (!delivery) throw new Error('nothing came');
    expect(isGenuine(hook.secret, delivery)).toBe(true);
    expect(isGenuine(`whsec_${Buffer.alloc(32).toString('base64')}`, delivery)).toBe(false);
    expect(delivery.event).toEqual({
      id: delivery.id,
      type: 'credit.earned',
      created_at: expect.stringMatching(/Z$/),
      data: { id: 7, amount: 2.5 },
    });
    const logged = await bench.untilDelivery(shop, hook, (one) => one.status === 'delivered');
    expect(logged).toMatchObject({
      event_id: delivery.id,
      type: 'credit.earned',
      attempts: 1,
      response_status: 200,
      response_body: 'ok',
      error: null,
      next_attempt_at: null,
    });
    expect(await shop.delete(`/webhooks/${hook.id}`)).toMatchObject({ status: 200 });
  });

  it('of a click carries the click as GET /clicks shows it', async () => {
    const hook = await bench.hook(shop, receiver.url, ['click.created']);
    const before = receiver.received.length;
    bench.clicks(shop);
    const delivery = (await receiver.until(before + 1)).at(-1);
    if (!delivery) throw new Error('nothing came');
    expect(isGenuine(hook.secret, delivery)).toBe(true);
    const newest = async () => (await shop.get<{ clicks: { id: string }[] }>('/clicks')).body.clicks;
    const clicks = await until('the click in GET /clicks', newest, (seen) => seen.length > 0);
    expect(delivery.event.data).toEqual(clicks[0]);
    expect(delivery.id).toBe(clicks[0]?.id);
    await bench.untilDelivery(
      shop,
      hook,
      (one) => one.status === 'delivered' && one.type === 'click.created',
    );
  });
});
