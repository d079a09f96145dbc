import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestWorkspace } from '../../test/support/api.ts';
import { isGenuine, type Receiver, startReceiver } from '../../test/support/receiver.ts';
import { createWebhookBench, type Hook, type WebhookBench } from '../../test/support/webhook-bench.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;

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

/** Waits until the webhook's record counts this many days of failures. */
async function untilRecorded(hook: Hook, days: number): Promise<void> {
  const record = async () => {
    const { rows } = await bench.api.stores.pool.query(
      'SELECT failing_days, failing_since IS NOT NULL AND failed_on IS NOT NULL AS failing FROM webhooks WHERE id = $1',
      [hook.id],
    );
    return rows[0];
  };
  await expect.poll(record).toEqual({ failing_days: days, failing: days > 0 });
}

describe('a webhook', () => {
  it('that has only failed for five days is disabled, and starts over when it is switched on', async () => {
    receiver.answerWith(500);
    const workers = bench.work();
    const hook = await bench.hook(shop, receiver.url, ['credit.earned']);
    const shown = async () =>
      (await shop.get<{ is_active: boolean; disabled_at: string | null }>(`/webhooks/${hook.id}`)).body;
    for (let day = 1; day <= 5; day++) {
      await bench.credit(shop);
      await untilRecorded(hook, day);
      bench.ahead += DAY;
    }
    // The failures are on five days, but the first is less than five days ago.
    bench.ahead -= DAY + MINUTE;
    expect(await shown()).toMatchObject({ is_active: true, disabled_at: null });
    bench.ahead += DAY + 2 * MINUTE;
    await bench.credit(shop);
    await expect.poll(shown).toMatchObject({ is_active: false, disabled_at: expect.any(String) });
    await workers.stop(120_000);
    const before = receiver.received.length;
    bench.work();
    await bench.credit(shop);
    await bench.passBy();
    expect(receiver.received).toHaveLength(before);

    receiver.answerWith(200);
    expect((await shop.patch(`/webhooks/${hook.id}`, { is_active: true })).status).toBe(200);
    expect(await shown()).toMatchObject({ is_active: true, disabled_at: null });
    await bench.credit(shop);
    await bench.untilDelivery(shop, hook, (one) => one.status === 'delivered');
  });

  it('that is quiet is not disabled by failures with nothing between them', async () => {
    bench.work();
    const hook = await bench.hook(shop, receiver.url, ['credit.earned']);
    for (const [index, status] of [400, 404, 500, 503].entries()) {
      receiver.answerWith(status);
      await bench.credit(shop);
      await bench.untilDelivery(shop, hook, (one) => one.response_status === status);
      await untilRecorded(hook, index + 1);
      bench.ahead += 6 * DAY;
    }
    bench.ahead -= 6 * DAY - MINUTE;
    receiver.answerWith(200);
    await bench.untilDelivery(shop, hook, (one) => one.status === 'delivered');
    expect((await shop.get<Hook>(`/webhooks/${hook.id}`)).body.is_active).toBe(true);
    await untilRecorded(hook, 0);
  });

  it('starts over when its URL changes', async () => {
    receiver.answerWith(500);
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
    bench.work();
    const hook = await bench.hook(shop, receiver.url, ['credit.earned']);
    let retried: number[] = [];
    let delivered: number[] = [];
    for (let day = 0; day < 8; day++) {
      receiver.answerWith(day % 4 === 3 ? 200 : 500);
      await bench.credit(shop);
      retried = [1, ...retried.map((attempts) => attempts + 1)];
      const attempts = async () => (await bench.log(shop, hook)).map((one) => one.attempts);
      await expect
        .poll(attempts, { message: 'with the retries of this day' })
        .toEqual([...retried, ...delivered]);
      // Written with the outcomes, within some seconds.
      if (day % 4 === 3) {
        const { pool } = bench.api.stores;
        const failing = () =>
          pool.query('SELECT 1 FROM webhooks WHERE id = $1 AND failing_since IS NOT NULL', [hook.id]);
        await expect.poll(async () => (await failing()).rowCount).toBe(0);
        delivered = [...retried, ...delivered];
        retried = [];
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
    // The library checks the time as well, and ours is a day ahead.
    const { Webhook } = await import('standardwebhooks');
    const signed = (secret: string) =>
      new Webhook(secret).sign(after.id, new Date(Number(after.timestamp) * 1_000), after.body);
    expect(after.signature).toBe(signed(third.secret));
    expect([signed(hook.secret), signed(rotated.secret)]).not.toContain(after.signature);
  });

  it('that is deleted or switched off gets nothing more, not even a retry', async () => {
    receiver.answerWith(500);
    bench.work();
    const off = await bench.hook(shop, receiver.url, ['credit.earned', 'click.created']);
    const gone = await bench.hook(shop, `${receiver.url}/gone`, ['credit.earned', 'click.created']);
    await bench.credit(shop);
    await receiver.until(2);
    await bench.untilDelivery(shop, off, (one) => one.attempts === 1);
    await bench.untilDelivery(shop, gone, (one) => one.attempts === 1);
    await shop.patch(`/webhooks/${off.id}`, { is_active: false });
    await shop.delete(`/webhooks/${gone.id}`);
    bench.ahead += MINUTE;
    await bench.credit(shop);
    bench.clicks(shop);
    const given = await bench.untilDelivery(shop, off, (one) => one.status === 'failed');
    expect(given).toMatchObject({ attempts: 1, error: 'the webhook is not active' });
    // While no webhook takes clicks, the lane writes its progress once a minute.
    await bench.passBy();
    expect(receiver.received).toHaveLength(2);
  });

  it('of a workspace whose plan has lapsed gets nothing until it is renewed', async () => {
    bench.work();
    await bench.hook(shop, receiver.url, ['credit.earned']);
    const { pool } = bench.api.stores;
    await pool.query(`UPDATE workspaces SET plan_status = 'canceled' WHERE id = $1`, [shop.workspace.id]);
    await bench.credit(shop, { id: 1 });
    await expect.poll(async () => (await pool.query('SELECT 1 FROM webhook_outbox')).rowCount).toBe(0);
    await pool.query(`UPDATE workspaces SET plan_status = 'active' WHERE id = $1`, [shop.workspace.id]);
    await bench.credit(shop, { id: 2 });
    const [only] = await receiver.until(1);
    expect(only?.event.data).toEqual({ id: 2 });
  });
});
