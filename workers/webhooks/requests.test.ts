import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DeliveryWithRequest } from '../../api/webhooks/schemas.ts';
import type { TestWorkspace } from '../../test/support/api.ts';
import { isGenuine, type Received, type Receiver, startReceiver } from '../../test/support/receiver.ts';
import { createWebhookBench, type Hook, type WebhookBench } from '../../test/support/webhook-bench.ts';

let bench: WebhookBench;
let shop: TestWorkspace;
let receiver: Receiver;
beforeAll(async () => {
  bench = await createWebhookBench();
  shop = await bench.api.addWorkspace();
  receiver = await startReceiver();
});
beforeEach(() => bench.stopClock());
afterAll(async () => {
  await bench.close();
  await receiver.close();
});

async function detail(hook: Hook): Promise<{ shown: DeliveryWithRequest; text: string }> {
  const [newest] = await bench.log(shop, hook);
  const answer = await shop.get<DeliveryWithRequest>(`/webhooks/${hook.id}/deliveries/${newest?.id}`);
  expect(answer.status).toBe(200);
  return { shown: answer.body, text: answer.text };
}

/** Whether the request in the log has the receiver's valid signature. */
const genuine = (hook: Hook, { request }: DeliveryWithRequest) =>
  isGenuine(hook.secret, { body: request.body, headers: request.headers ?? {} } as Received);

describe('the log of deliveries', () => {
  it('shows what is to be sent before it was, and then what was sent, as the receiver got it', async () => {
    const hook = await bench.hook(shop, receiver.url, ['credit.earned']);
    await shop.post(`/webhooks/${hook.id}/test`);
    const waiting = (await detail(hook)).shown;
    expect(waiting).toMatchObject({ status: 'pending', request: { url: null, headers: null } });
    expect(JSON.parse(waiting.request.body)).toMatchObject({ id: waiting.event_id, type: 'webhook.test' });

    bench.work();
    const [got] = await receiver.until(1);
    await bench.untilDelivery(shop, hook, (one) => one.status === 'delivered');
    const { shown, text } = await detail(hook);
    expect(shown.request).toMatchObject({ url: receiver.url, body: got?.body });
    expect(got?.headers).toMatchObject(shown.request.headers ?? { nothing: 'was kept' });
    expect(Object.keys(shown.request.headers ?? {}).toSorted()).toEqual([
      'content-type',
      'user-agent',
      'webhook-id',
      'webhook-signature',
      'webhook-timestamp',
    ]);
    expect(genuine(hook, shown)).toBe(true);
    expect(text).not.toContain(hook.secret.slice('whsec_'.length));
  });

  it('shows the request of the last attempt, also of a click that came straight from the log', async () => {
    receiver.answerWith(500, {}, 'down');
    const hook = await bench.hook(shop, receiver.url, ['click.created']);
    bench.clicks(shop);
    const failed = await bench.untilDelivery(shop, hook, (one) => one.attempts === 1);
    const first = (await detail(hook)).shown;
    expect(first).toMatchObject({ status: 'pending', response_status: 500, response_body: 'down' });
    expect(genuine(hook, first)).toBe(true);
    receiver.answerWith(204);
    await shop.post(`/webhooks/${hook.id}/deliveries/${failed.id}/redeliver`);
    await bench.untilDelivery(shop, hook, (one) => one.status === 'delivered');
    const second = (await detail(hook)).shown;
    expect(second.request.body).toBe(first.request.body);
    expect(genuine(hook, second)).toBe(true);
    expect(receiver.received.at(-1)?.headers).toMatchObject(second.request.headers ?? { nothing: 'kept' });
  });

  it('keeps what the last attempt sent and got where the webhook is switched off before the next one', async () => {
    receiver.answerWith(503, {}, 'busy');
    const url = `${receiver.url}?off`;
    const hook = await bench.hook(shop, url, ['credit.earned']);
    await bench.credit(shop);
    await bench.untilDelivery(shop, hook, (one) => one.attempts === 1);
    const tried = (await detail(hook)).shown;
    expect(tried).toMatchObject({ status: 'pending', response_status: 503, request: { url } });
    await shop.patch(`/webhooks/${hook.id}`, { is_active: false });
    bench.ahead += 60_000;
    await bench.untilDelivery(shop, hook, (one) => one.status === 'failed');
    expect((await detail(hook)).shown).toEqual({
      ...tried,
      status: 'failed',
      error: 'the webhook is not active',
      next_attempt_at: null,
    });
  });

  it('shows no request where the address was refused: none was made', async () => {
    const strict = await createWebhookBench();
    strict.work({ allowPrivate: false });
    const owner = await strict.api.addWorkspace();
    const hook = await strict.hook(owner, receiver.url, ['credit.earned']);
    await strict.credit(owner);
    const { id } = await strict.untilDelivery(owner, hook, (one) => one.status === 'failed');
    const { body } = await owner.get<DeliveryWithRequest>(`/webhooks/${hook.id}/deliveries/${id}`);
    expect(body).toMatchObject({ attempts: 1, request: { url: null, headers: null } });
    await strict.close();
  });
});
