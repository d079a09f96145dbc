import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestWorkspace } from '../../test/support/api.ts';
import { isGenuine, type Receiver, startReceiver } from '../../test/support/receiver.ts';
import {
  createWebhookBench,
  type Hook,
  type LoggedDelivery,
  type WebhookBench,
} from '../../test/support/webhook-bench.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

let bench: WebhookBench;
let shop: TestWorkspace;
let receiver: Receiver;
beforeAll(async () => {
  bench = await createWebhookBench();
});
afterAll(() => bench.close());
beforeEach(async () => {
  shop = await bench.api.addWorkspace();
  receiver = await startReceiver();
  bench.stopClock();
});
afterEach(async () => {
  await bench.rest();
  await receiver.close();
});

/** The wait until the next attempt, by the workers' clock, which is stopped. */
function waitOf(delivery: LoggedDelivery): number {
  return Date.parse(delivery.next_attempt_at ?? '') - bench.now();
}

async function afterAttempts(hook: Hook, attempts: number): Promise<LoggedDelivery> {
  return bench.untilDelivery(shop, hook, (one) => one.attempts === attempts);
}

describe('a delivery that fails', () => {
  it('is retried after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h, with one webhook-id, and then fails', async () => {
    receiver.answerWith(500, {}, 'broken');
    bench.work({ random: () => 0 });
    const hook = await bench.hook(shop, receiver.url, ['credit.earned']);
    await bench.credit(shop);
    const waits = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR];
    for (const [index, wait] of waits.entries()) {
      const delivery = await afterAttempts(hook, index + 1);
      expect(delivery).toMatchObject({
        status: 'pending',
        response_status: 500,
        response_body: 'broken',
        error: 'responded with 500',
      });
      expect(waitOf(delivery)).toBe(wait);
      await bench.passBy();
      expect(await afterAttempts(hook, index + 1)).toEqual(delivery); // not before its time
      expect(receiver.received).toHaveLength(index + 1);
      bench.ahead += wait + 1;
    }
    const last = await afterAttempts(hook, 8);
    expect(last).toMatchObject({ status: 'failed', next_attempt_at: null, response_status: 500 });
    expect(new Set(receiver.received.map((one) => one.id))).toEqual(new Set([last.event_id]));
    expect(new Set(receiver.received.map((one) => one.body)).size).toBe(1);
  });

  it('is delivered by a later attempt, signed with the time of that attempt', async () => {
    receiver.answerWith(503);
    bench.work();
    const hook = await bench.hook(shop, receiver.url, ['credit.earned']);
    await bench.credit(shop);
    await afterAttempts(hook, 1);
    receiver.answerWith(204);
    bench.ahead += 7 * SECOND;
    await bench.untilDelivery(shop, hook, (one) => one.status === 'delivered');
    const [first, second] = receiver.received;
    if (!first || !second) throw new Error('two attempts were expected');
    expect(second.id).toBe(first.id);
    expect(Number(second.timestamp)).toBe(Number(first.timestamp) + 7);
    expect(isGenuine(hook.secret, second)).toBe(true);
  });

  it.each([
    [429, '3600', 3_600 * SECOND],
    [503, 'a date', 2 * HOUR],
    [429, '1', 5 * SECOND],
    [429, '', 5 * SECOND],
  ])('with %i and %j waits as Retry-After says where that is longer', async (status, given, wait) => {
    const retryAfter = given === 'a date' ? new Date(bench.now() + wait).toUTCString() : given;
    receiver.answerWith(status, retryAfter === '' ? {} : { 'retry-after': retryAfter });
    bench.work({ random: () => 0 });
    const hook = await bench.hook(shop, receiver.url, ['credit.earned']);
    await bench.credit(shop);
    const left = waitOf(await afterAttempts(hook, 1));
    expect(left).toBeLessThanOrEqual(wait);
    expect(left).toBeGreaterThan(wait - SECOND); // dates of HTTP have whole seconds
  });

  it('is retried when the connection is refused or the name is unknown', async () => {
    bench.work({ resolve: () => Promise.reject(new Error('no such name')) });
    const urls = ['http://127.0.0.1:1/', 'http://name.example/'];
    const hooks = await Promise.all(urls.map((url) => bench.hook(shop, url, ['credit.earned'])));
    await bench.credit(shop);
    for (const [index, hook] of hooks.entries()) {
      const delivery = await afterAttempts(hook, 1);
      expect(delivery).toMatchObject({ status: 'pending', response_status: null });
      expect(delivery.error).toMatch(index === 0 ? /ECONNREFUSED/ : /no such name/);
    }
  });

  it.each([400, 401, 404, 422, 300, 304])('with %i is retried, as after a 500', async (status) => {
    receiver.answerWith(status, { 'retry-after': '7200' });
    bench.work({ random: () => 0 });
    const hook = await bench.hook(shop, receiver.url, ['credit.earned']);
    await bench.credit(shop);
    const failed = await afterAttempts(hook, 1);
    expect(failed).toMatchObject({ status: 'pending', response_status: status });
    expect(waitOf(failed)).toBe(5 * SECOND);
    receiver.answerWith(200);
    bench.ahead += 7 * SECOND;
    expect(await bench.untilDelivery(shop, hook, (one) => one.status === 'delivered')).toMatchObject({
      id: failed.id,
      attempts: 2,
    });
  });

  it('with 410 is not retried, and disables the webhook, which the others are told', async () => {
    receiver.answerWith(410);
    const watcher = await startReceiver();
    bench.work();
    await bench.hook(shop, watcher.url, ['webhook.disabled']);
    const hook = await bench.hook(shop, receiver.url, ['credit.earned']);
    await bench.credit(shop);
    expect(await afterAttempts(hook, 1)).toMatchObject({
      status: 'failed',
      response_status: 410,
      next_attempt_at: null,
    });
    const shown = async () => (await shop.get<{ is_active: boolean }>(`/webhooks/${hook.id}`)).body;
    await expect.poll(shown).toMatchObject({ is_active: false, disabled_at: expect.any(String) });
    const [told] = await watcher.until(1);
    expect(told?.event.data).toEqual({
      webhook_id: hook.id,
      url: receiver.url,
      reason: 'gone',
      disabled_at: expect.any(String),
    });
    await watcher.close();
  });

  it.each([301, 302, 307, 308])(
    'with a redirect (%i) fails, and the redirect is not followed',
    async (status) => {
      const elsewhere = await startReceiver();
      receiver.answerWith(status, { location: elsewhere.url });
      bench.work();
      const hook = await bench.hook(shop, receiver.url, ['credit.earned']);
      await bench.credit(shop);
      expect(await afterAttempts(hook, 1)).toMatchObject({ status: 'pending', response_status: status });
      expect(elsewhere.received).toEqual([]);
      await elsewhere.close();
    },
  );

  it('of a click is stored and retried as any other', async () => {
    receiver.answerWith(500);
    bench.work();
    const hook = await bench.hook(shop, receiver.url, ['click.created']);
    bench.clicks(shop);
    const failed = await afterAttempts(hook, 1);
    expect(failed).toMatchObject({ type: 'click.created', status: 'pending', response_status: 500 });
    receiver.answerWith(200);
    bench.ahead += 7 * SECOND;
    const delivered = await bench.untilDelivery(shop, hook, (one) => one.status === 'delivered');
    expect(delivered).toMatchObject({ id: failed.id, attempts: 2 });
    expect(receiver.received.map((one) => one.id)).toEqual([failed.event_id, failed.event_id]);
  });
});

describe('a response', () => {
  it('is kept up to 64 KiB, and its rest is not read', async () => {
    receiver.answer((response) => {
      response.writeHead(200);
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(60_000)));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    });
    bench.work();
    const hook = await bench.hook(shop, receiver.url, ['credit.earned']);
    await bench.credit(shop);
    const delivery = await bench.untilDelivery(shop, hook, (one) => one.status === 'delivered');
    expect(delivery.response_body).toBe('x'.repeat(65_536));
  });

  it('of bytes that are no text is kept as far as it can be', async () => {
    receiver.answer((response) => response.writeHead(200).end(Buffer.from([65, 0, 255, 66])));
    bench.work();
    const hook = await bench.hook(shop, receiver.url, ['credit.earned']);
    await bench.credit(shop);
    const delivery = await bench.untilDelivery(shop, hook, (one) => one.status === 'delivered');
    expect(delivery.response_body).toBe('A\ufffdB');
  });
});

describe('a delivery that is due for a retry when a plan lapses', () => {
  const setPlan = (status: string) =>
    bench.api.stores.pool.query('UPDATE workspaces SET plan_status = $2 WHERE id = $1', [
      shop.workspace.id,
      status,
    ]);
  /** The API responds 402 meanwhile. */
  async function kept(hook: Hook): Promise<object[]> {
    const { rows } = await bench.api.stores.pool.query(
      'SELECT status, attempts, error FROM webhook_deliveries WHERE webhook_id = $1',
      [hook.id],
    );
    return rows;
  }

  it('waits until it is renewed, and continues its schedule', async () => {
    receiver.answerWith(500);
    bench.work({ random: () => 0 });
    const hook = await bench.hook(shop, receiver.url, ['credit.earned']);
    await bench.credit(shop);
    await afterAttempts(hook, 1);
    await setPlan('past_due');
    bench.ahead += 20 * DAY;
    await bench.passBy();
    expect(await kept(hook)).toEqual([{ status: 'pending', attempts: 1, error: 'responded with 500' }]);
    expect(receiver.received).toHaveLength(1);

    await setPlan('active');
    expect(waitOf(await afterAttempts(hook, 2))).toBe(5 * MINUTE);
    receiver.answerWith(200);
    bench.ahead += 5 * MINUTE + 1;
    await bench.untilDelivery(shop, hook, (one) => one.status === 'delivered');
    expect(new Set(receiver.received.map((one) => one.id)).size).toBe(1);
  });

  it('delays no other webhook, and ends when the webhook is switched off', async () => {
    receiver.answerWith(500);
    bench.work();
    const hook = await bench.hook(shop, receiver.url, ['credit.earned']);
    await bench.credit(shop);
    await afterAttempts(hook, 1);
    await setPlan('canceled');
    const neighbor = await bench.api.addWorkspace();
    await bench.hook(neighbor, receiver.url, ['credit.earned']);
    bench.ahead += MINUTE;
    await bench.credit(neighbor);
    await receiver.until(2);
    await bench.api.stores.pool.query('UPDATE webhooks SET is_active = false WHERE id = $1', [hook.id]);
    await bench.api.stores.pool.query('UPDATE webhook_changes SET version = version + 1');
    const ended = [{ status: 'failed', attempts: 1, error: 'the webhook is not active' }];
    await expect.poll(() => kept(hook)).toEqual(ended);
    expect(receiver.received).toHaveLength(2);
  });
});

describe('a redelivery', () => {
  it('sends the same event again under the same webhook-id, at once', async () => {
    receiver.answerWith(410);
    bench.work();
    const hook = await bench.hook(shop, receiver.url, ['credit.earned']);
    await bench.credit(shop);
    const failed = await bench.untilDelivery(shop, hook, (one) => one.status === 'failed');
    await expect.poll(async () => (await shop.get<Hook>(`/webhooks/${hook.id}`)).body.is_active).toBe(false);
    await shop.patch(`/webhooks/${hook.id}`, { is_active: true });
    receiver.answerWith(200);
    const path = `/webhooks/${hook.id}/deliveries/${failed.id}/redeliver`;
    const answer = await shop.post<LoggedDelivery>(path);
    expect(answer.body).toMatchObject({ id: failed.id, status: 'pending', attempts: 0 });
    const delivered = await bench.untilDelivery(shop, hook, (one) => one.status === 'delivered');
    expect(delivered).toMatchObject({ id: failed.id, attempts: 1, error: null });
    const [first, second] = receiver.received;
    expect([second?.id, second?.body]).toEqual([first?.id, first?.body]);
    await shop.post(path); // a delivered delivery can be sent again too
    await receiver.until(3);
  });

  it('and a test event reach a webhook that subscribes to something else', async () => {
    bench.work();
    const hook = await bench.hook(shop, receiver.url, ['lead.created']);
    const { body } = await shop.post<LoggedDelivery>(`/webhooks/${hook.id}/test`);
    const [test] = await receiver.until(1);
    if (!test) throw new Error('nothing came');
    expect(test.event).toEqual({
      id: body.event_id,
      type: 'webhook.test',
      created_at: expect.any(String),
      data: {},
    });
    expect(isGenuine(hook.secret, test)).toBe(true);
  });
});
