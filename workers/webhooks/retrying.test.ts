import { setTimeout as sleep } from 'node:timers/promises';
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
});
afterEach(async () => {
  await bench.rest();
  await receiver.close();
});

function answerWith(status: number, headers: Record<string, string> = {}, body = '') {
  receiver.answer((response) => response.writeHead(status, headers).end(body));
}

/** The wait until the next attempt from the time of the last one, by the clock of the workers. */
function waitOf(delivery: LoggedDelivery): number {
  return Date.parse(delivery.next_attempt_at ?? '') - (Date.now() + bench.ahead);
}

async function afterAttempts(hook: Hook, attempts: number): Promise<LoggedDelivery> {
  return bench.untilDelivery(shop, hook, (one) => one.attempts === attempts);
}

/** Waits until so many days of failures stand in the webhook's record. */
async function untilRecorded(hook: Hook, days: number): Promise<void> {
  const record = async () => {
    const { rows } = await bench.api.stores.pool.query(
      'SELECT failing_days, failing_since IS NOT NULL AND failed_on IS NOT NULL AS failing FROM webhooks WHERE id = $1',
      [hook.id],
    );
    return rows[0];
  };
  await expect.poll(record, { timeout: 10_000 }).toEqual({ failing_days: days, failing: days > 0 });
}

describe('a delivery that fails', () => {
  it('is tried again after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h, under one webhook-id, and then fails', async () => {
    answerWith(500, {}, 'broken');
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
        error: 'answered 500',
      });
      const left = waitOf(delivery);
      expect(left).toBeLessThanOrEqual(wait);
      expect(left).toBeGreaterThan(wait - 5 * SECOND);
      await sleep(500);
      expect(receiver.received).toHaveLength(index + 1); // not before its time
      bench.ahead += left + 1;
    }
    const last = await afterAttempts(hook, 8);
    expect(last).toMatchObject({ status: 'failed', next_attempt_at: null, response_status: 500 });
    expect(new Set(receiver.received.map((one) => one.id))).toEqual(new Set([last.event_id]));
    expect(new Set(receiver.received.map((one) => one.body)).size).toBe(1);
  });

  it('is delivered by a later attempt, signed with the time of that attempt', async () => {
    answerWith(503);
    bench.work();
    const hook = await bench.hook(shop, receiver.url, ['credit.earned']);
    await bench.credit(shop);
    await afterAttempts(hook, 1);
    answerWith(204);
    bench.ahead += 7 * SECOND;
    await bench.untilDelivery(shop, hook, (one) => one.status === 'delivered');
    const [first, second] = receiver.received;
    if (!first || !second) throw new Error('two attempts were expected');
    expect(second.id).toBe(first.id);
    expect(Number(second.timestamp)).toBeGreaterThanOrEqual(Number(first.timestamp) + 6);
    expect(isGenuine(hook.secret, second)).toBe(true);
  });

  it.each([
    [429, { 'retry-after': '3600' }, 3_600 * SECOND],
    [503, { 'retry-after': new Date(Date.now() + 2 * HOUR).toUTCString() }, 2 * HOUR],
    [429, { 'retry-after': '1' }, 5 * SECOND],
    [429, {}, 5 * SECOND],
  ])('with %i and %j waits as Retry-After says where that is longer', async (status, headers, wait) => {
    answerWith(status, headers as Record<string, string>);
    bench.work({ random: () => 0 });
    const hook = await bench.hook(shop, receiver.url, ['credit.earned']);
    await bench.credit(shop);
    const left = waitOf(await afterAttempts(hook, 1));
    expect(left).toBeLessThanOrEqual(wait + SECOND);
    expect(left).toBeGreaterThan(wait - 60 * SECOND);
  });

  it('as nobody listens or the name is unknown is tried again', async () => {
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

  it.each([400, 401, 404, 410, 422, 300, 304])('with %i is not tried again', async (status) => {
    answerWith(status);
    bench.work();
    const hook = await bench.hook(shop, receiver.url, ['credit.earned']);
    await bench.credit(shop);
    expect(await afterAttempts(hook, 1)).toMatchObject({
      status: 'failed',
      response_status: status,
      next_attempt_at: null,
    });
  });

  it.each([301, 302, 307, 308])(
    'with a redirect (%i) is final, and the redirect is not followed',
    async (status) => {
      const elsewhere = await startReceiver();
      answerWith(status, { location: elsewhere.url });
      bench.work();
      const hook = await bench.hook(shop, receiver.url, ['credit.earned']);
      await bench.credit(shop);
      expect(await afterAttempts(hook, 1)).toMatchObject({ status: 'failed', response_status: status });
      expect(elsewhere.received).toEqual([]);
      await elsewhere.close();
    },
  );

  it('of a click is kept and tried again as any other', async () => {
    answerWith(500);
    bench.work();
    const hook = await bench.hook(shop, receiver.url, ['click.created']);
    bench.clicks(shop);
    const failed = await afterAttempts(hook, 1);
    expect(failed).toMatchObject({ type: 'click.created', status: 'pending', response_status: 500 });
    answerWith(200);
    bench.ahead += 7 * SECOND;
    const delivered = await bench.untilDelivery(shop, hook, (one) => one.status === 'delivered');
    expect(delivered).toMatchObject({ id: failed.id, attempts: 2 });
    expect(receiver.received.map((one) => one.id)).toEqual([failed.event_id, failed.event_id]);
  });
});

describe('an answer', () => {
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

describe('a webhook', () => {
  it('that has only failed for five days is disabled, and begins anew when it is switched on', async () => {
    answerWith(410);
    bench.work();
    const hook = await bench.hook(shop, receiver.url, ['credit.earned']);
    const shown = async () =>
      (await shop.get<{ is_active: boolean; disabled_at: string | null }>(`/webhooks/${hook.id}`)).body;
    const fail = async (count: number) => {
      await bench.credit(shop);
      await receiver.until(count);
      while ((await bench.log(shop, hook, '?status=failed')).length < count) await sleep(20);
      await sleep(200);
    };
    for (let day = 0; day < 5; day++) {
      await fail(day + 1);
      bench.ahead += DAY;
    }
    bench.ahead -= MINUTE;
    await fail(6);
    expect(await shown()).toMatchObject({ is_active: true, disabled_at: null });
    bench.ahead += 2 * MINUTE;
    await bench.credit(shop);
    while ((await shown()).is_active) await sleep(20);
    expect((await shown()).disabled_at).not.toBeNull();
    await bench.credit(shop);
    await sleep(500);
    expect(receiver.received).toHaveLength(7);

    answerWith(200);
    expect((await shop.patch(`/webhooks/${hook.id}`, { is_active: true })).status).toBe(200);
    expect(await shown()).toMatchObject({ is_active: true, disabled_at: null });
    await bench.credit(shop);
    await receiver.until(8);
  });

  it('that is quiet is not disabled by failures with nothing between them', async () => {
    bench.work();
    const hook = await bench.hook(shop, receiver.url, ['credit.earned']);
    for (const [index, status] of [410, 410, 410, 503].entries()) {
      answerWith(status);
      await bench.credit(shop);
      await receiver.until(index + 1);
      await bench.untilDelivery(shop, hook, (one) => one.response_status === status);
      await untilRecorded(hook, index + 1);
      bench.ahead += 6 * DAY;
    }
    bench.ahead -= 6 * DAY - MINUTE;
    answerWith(200);
    await bench.untilDelivery(shop, hook, (one) => one.status === 'delivered');
    expect((await shop.get<Hook>(`/webhooks/${hook.id}`)).body.is_active).toBe(true);
    await untilRecorded(hook, 0);
  });

  it('that is sent elsewhere begins anew', async () => {
    answerWith(410);
    bench.work();
    const hook = await bench.hook(shop, receiver.url, ['credit.earned']);
    await bench.credit(shop);
    await untilRecorded(hook, 1);
    const url = `${receiver.url}moved`;
    expect((await shop.patch(`/webhooks/${hook.id}`, { url: receiver.url })).status).toBe(200);
    await untilRecorded(hook, 1);
    expect((await shop.patch(`/webhooks/${hook.id}`, { url })).status).toBe(200);
    await untilRecorded(hook, 0);
  });

  it('that takes a delivery now and then is not disabled', async () => {
    answerWith(410);
    bench.work();
    const hook = await bench.hook(shop, receiver.url, ['credit.earned']);
    for (let day = 0; day < 8; day++) {
      answerWith(day % 4 === 3 ? 200 : 410);
      await bench.credit(shop);
      await receiver.until(day + 1);
      await bench.untilDelivery(shop, hook, (one) => one.status !== 'pending');
      // Written with the outcomes, at the latest some seconds after them.
      if (day % 4 === 3) {
        const { pool } = bench.api.stores;
        const failing = () =>
          pool.query('SELECT 1 FROM webhooks WHERE id = $1 AND failing_since IS NOT NULL', [hook.id]);
        while ((await failing()).rowCount !== 0) await sleep(50);
      }
      bench.ahead += 2 * DAY;
    }
    expect((await shop.get<Hook>(`/webhooks/${hook.id}`)).body.is_active).toBe(true);
  });

  it('signs with its old and its new secret for 24 hours after a rotation, then with the new one', async () => {
    bench.work();
    const hook = await bench.hook(shop, receiver.url, ['credit.earned']);
    const { body: rotated, status } = await shop.post<Hook>(`/webhooks/${hook.id}/rotate-secret`);
    expect(status).toBe(200);
    expect(rotated.secret).not.toBe(hook.secret);
    await bench.credit(shop);
    const [during] = await receiver.until(1);
    if (!during) throw new Error('nothing came');
    expect(during.signature.split(' ')).toHaveLength(2);
    expect([isGenuine(hook.secret, during), isGenuine(rotated.secret, during)]).toEqual([true, true]);

    const { body: third } = await shop.post<Hook>(`/webhooks/${hook.id}/rotate-secret`);
    await bench.credit(shop);
    const threefold = (await receiver.until(2)).at(-1);
    expect(threefold?.signature.split(' ')).toHaveLength(3);

    bench.ahead += DAY + SECOND;
    await bench.credit(shop);
    const after = (await receiver.until(3)).at(-1);
    if (!after) throw new Error('nothing came');
    expect(after.signature.split(' ')).toHaveLength(1);
    // The library judges the time as well, and ours is a day ahead.
    const { Webhook } = await import('standardwebhooks');
    const signed = (secret: string) =>
      new Webhook(secret).sign(after.id, new Date(Number(after.timestamp) * 1_000), after.body);
    expect(after.signature).toBe(signed(third.secret));
    expect([signed(hook.secret), signed(rotated.secret)]).not.toContain(after.signature);
  });

  it('that is deleted or switched off gets nothing more, not even what was to be tried again', async () => {
    answerWith(500);
    bench.work();
    const off = await bench.hook(shop, receiver.url, ['credit.earned', 'click.created']);
    const gone = await bench.hook(shop, receiver.url, ['credit.earned', 'click.created']);
    await bench.credit(shop);
    await receiver.until(2);
    await afterAttempts(off, 1);
    await afterAttempts(gone, 1);
    await shop.patch(`/webhooks/${off.id}`, { is_active: false });
    await shop.delete(`/webhooks/${gone.id}`);
    bench.ahead += MINUTE;
    await bench.credit(shop);
    bench.clicks(shop);
    const given = await bench.untilDelivery(shop, off, (one) => one.status === 'failed');
    expect(given).toMatchObject({ attempts: 1, error: 'the webhook is not active' });
    await sleep(700);
    expect(receiver.received).toHaveLength(2);
  });

  it('of a workspace whose plan has lapsed gets nothing until it is renewed', async () => {
    bench.work();
    await bench.hook(shop, receiver.url, ['credit.earned']);
    const { pool } = bench.api.stores;
    await pool.query(`UPDATE workspaces SET plan_status = 'canceled' WHERE id = $1`, [shop.workspace.id]);
    await bench.credit(shop, { id: 1 });
    while ((await pool.query('SELECT 1 FROM webhook_outbox')).rowCount !== 0) await sleep(20);
    await pool.query(`UPDATE workspaces SET plan_status = 'active' WHERE id = $1`, [shop.workspace.id]);
    await bench.credit(shop, { id: 2 });
    const [only] = await receiver.until(1);
    expect(only?.event.data).toEqual({ id: 2 });
  });
});

describe('what is still to be tried again when a plan lapses', () => {
  const setPlan = (status: string) =>
    bench.api.stores.pool.query('UPDATE workspaces SET plan_status = $2 WHERE id = $1', [
      shop.workspace.id,
      status,
    ]);
  /** The API answers 402 meanwhile. */
  async function kept(hook: Hook): Promise<object[]> {
    const { rows } = await bench.api.stores.pool.query(
      'SELECT status, attempts, error FROM webhook_deliveries WHERE webhook_id = $1',
      [hook.id],
    );
    return rows;
  }

  it('waits until it is renewed, and goes on in its schedule', async () => {
    answerWith(500);
    bench.work({ random: () => 0 });
    const hook = await bench.hook(shop, receiver.url, ['credit.earned']);
    await bench.credit(shop);
    await afterAttempts(hook, 1);
    await setPlan('past_due');
    bench.ahead += 20 * DAY;
    await sleep(1_000);
    expect(await kept(hook)).toEqual([{ status: 'pending', attempts: 1, error: 'answered 500' }]);
    expect(receiver.received).toHaveLength(1);

    await setPlan('active');
    const left = waitOf(await afterAttempts(hook, 2));
    expect(left).toBeGreaterThan(4 * MINUTE);
    expect(left).toBeLessThanOrEqual(5 * MINUTE);
    answerWith(200);
    bench.ahead += left + 1;
    await bench.untilDelivery(shop, hook, (one) => one.status === 'delivered');
    expect(new Set(receiver.received.map((one) => one.id)).size).toBe(1);
  });

  it('holds up nobody else, and ends with a webhook that is switched off', async () => {
    answerWith(500);
    bench.work();
    const hook = await bench.hook(shop, receiver.url, ['credit.earned']);
    await bench.credit(shop);
    await afterAttempts(hook, 1);
    await setPlan('canceled');
    const neighbour = await bench.api.addWorkspace();
    await bench.hook(neighbour, receiver.url, ['credit.earned']);
    bench.ahead += MINUTE;
    await bench.credit(neighbour);
    await receiver.until(2);
    await bench.api.stores.pool.query('UPDATE webhooks SET is_active = false WHERE id = $1', [hook.id]);
    await bench.api.stores.pool.query('UPDATE webhook_changes SET version = version + 1');
    const ended = [{ status: 'failed', attempts: 1, error: 'the webhook is not active' }];
    await expect.poll(() => kept(hook), { timeout: 10_000 }).toEqual(ended);
    expect(receiver.received).toHaveLength(2);
  });
});

describe('a redelivery', () => {
  it('sends the same event again under the same webhook-id, at once', async () => {
    answerWith(404);
    bench.work();
    const hook = await bench.hook(shop, receiver.url, ['credit.earned']);
    await bench.credit(shop);
    const failed = await bench.untilDelivery(shop, hook, (one) => one.status === 'failed');
    answerWith(200);
    const path = `/webhooks/${hook.id}/deliveries/${failed.id}/redeliver`;
    const answer = await shop.post<LoggedDelivery>(path);
    expect(answer.body).toMatchObject({ id: failed.id, status: 'pending', attempts: 0 });
    const delivered = await bench.untilDelivery(shop, hook, (one) => one.status === 'delivered');
    expect(delivered).toMatchObject({ id: failed.id, attempts: 1, error: null });
    const [first, second] = receiver.received;
    expect([second?.id, second?.body]).toEqual([first?.id, first?.body]);
    await shop.post(path); // a delivered one too
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
