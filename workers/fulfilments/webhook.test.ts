import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RETRY_WAITS } from '../../core/webhooks/retry-schedule.ts';
import { insertGrant } from '../../sql/referrals/grants.ts';
import { type CreditShop, createCreditShop } from '../../test/support/credit-shop.ts';
import { isGenuine, type Receiver, startReceiver } from '../../test/support/receiver.ts';
import { until } from '../../test/support/until.ts';
import { createWebhookBench, type WebhookBench } from '../../test/support/webhook-bench.ts';

/** Longer than any test: no call times out. */
const EVER_MS = 600_000;

let bench: WebhookBench;
let receiver: Receiver;
/** Receives the events of the workspace's webhooks. */
let listener: Receiver;
let shop: CreditShop;
beforeAll(async () => {
  bench = await createWebhookBench();
});
beforeEach(async () => {
  shop = await createCreditShop(bench);
  receiver = await startReceiver();
  listener = await startReceiver();
  bench.stopClock();
});
afterEach(async () => {
  await bench.rest();
  await receiver.close();
  await listener.close();
});
afterAll(() => bench.close());

/** Subscribes a receiver to events of the workspace. Returns what it got. */
async function listenTo(type: string): Promise<() => Record<string, unknown>[]> {
  await bench.hook(shop.shop, listener.url, [type]);
  return () => listener.received.map(({ event }) => event.data);
}

describe('a fulfilment by webhook', () => {
  it('calls for each credit that is earned after it was made, and marks it delivered', async () => {
    const events = await listenTo('credit.delivered');
    const early = await shop.earn();
    const fulfilment = await shop.fulfil('webhook', { url: receiver.url });
    const user = await shop.earn();
    bench.work();
    const [delivery] = await shop.untilStatus(fulfilment, 'delivered');
    const [call] = receiver.received;
    if (!call || !delivery) throw new Error('nothing arrived');
    expect(isGenuine(fulfilment.secret ?? '', call)).toBe(true);
    expect(call.event).toMatchObject({
      id: delivery.id,
      type: 'credit.deliver',
      data: { id: delivery.credit_id, external_user_id: user, amount: 5, status: 'earned' },
    });
    expect(delivery).toMatchObject({ attempts: 1, response_status: 200, error: null, amount: 5 });
    expect(await shop.delivered(user)).toBe(5);
    expect(await shop.delivered(early)).toBe(0);
    await listener.until(1);
    expect(events()).toMatchObject([{ id: delivery.credit_id, status: 'delivered', external_user_id: user }]);
    expect(receiver.received).toHaveLength(1);
  });

  it('delivers the credits from before too with include_earlier, and one that is being earned meanwhile', async () => {
    const user = await shop.earn();
    const { grants } = await shop.credits(`external_user_id=${user}`);
    const { rows } = await bench.api.stores.pool.query<{ signup_id: string }>(
      'SELECT signup_id FROM grants WHERE id = $1',
      [grants[0]?.id],
    );
    const open = await bench.api.stores.pool.connect();
    try {
      await open.query('BEGIN');
      await insertGrant(
        open,
        shop.shop.workspace.id,
        {
          programId: shop.programId,
          enrollmentId: grants[0]?.partner_id ?? '',
          externalUserId: 'referee-1',
          refereeExternalUserId: 'referee-1',
          cause: 'referee',
          signupId: rows[0]?.signup_id ?? '',
          orderInternalId: null,
          creditKind: 'credits',
          amount: 300,
          revokedReason: null,
        },
        new Date(),
      );
      const made = shop.fulfil('webhook', { url: receiver.url }, { include_earlier: true });
      await until('the fulfilment waits for the open transaction', async () => {
        const { rowCount } = await bench.api.stores.pool.query(
          `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%FROM programs%FOR UPDATE%'
             AND datname = current_database()`,
        );
        return rowCount === 1;
      });
      await open.query('COMMIT');
      expect((await made).deliveries).toEqual({ pending: 2, delivered: 0, failed: 0, canceled: 0 });
    } finally {
      open.release();
    }
  });

  it('is tried again with the same id and body by the schedule of webhooks, then fails, is announced, and can be retried', async () => {
    const events = await listenTo('fulfilment.failed');
    const fulfilment = await shop.fulfil('webhook', { url: receiver.url });
    const user = await shop.earn();
    receiver.answerWith(500);
    bench.work({ random: () => 0 });
    await receiver.until(1);
    for (const [index, wait] of RETRY_WAITS.entries()) {
      const settled = (rows: { attempts: number }[]) => rows[0]?.attempts === index + 1;
      await until('the attempt is saved', () => shop.deliveries(fulfilment), settled);
      bench.ahead += wait + 1;
      await receiver.until(index + 2);
    }
    const [failed] = await shop.untilStatus(fulfilment, 'failed');
    expect(failed).toMatchObject({ attempts: 8, error: 'responded with 500', next_attempt_at: null });
    expect(new Set(receiver.received.map(({ id, body }) => `${id} ${body}`)).size).toBe(1);
    await listener.until(1);
    expect(events()).toMatchObject([
      {
        delivery_id: failed?.id,
        external_user_id: user,
        amount: 5,
        attempts: 8,
        error: 'responded with 500',
      },
    ]);
    expect(await shop.delivered(user)).toBe(0);
    receiver.answerWith(204);
    const retried = await shop.shop.post(`/fulfilments/${fulfilment.id}/deliveries/${failed?.id}/retry`);
    expect(retried.status).toBe(200);
    await shop.untilStatus(fulfilment, 'delivered');
    expect(await shop.delivered(user)).toBe(5);
    const again = await shop.shop.post(`/fulfilments/${fulfilment.id}/deliveries/${failed?.id}/retry`);
    expect(again).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
  });

  it('does not begin a retry while the call is under way', async () => {
    const fulfilment = await shop.fulfil('webhook', { url: receiver.url });
    await shop.earn();
    let answer: () => void = () => undefined;
    receiver.answer((response) => {
      answer = () => response.writeHead(200).end();
    });
    bench.work({ responseMs: EVER_MS });
    const [call] = await receiver.until(1);
    const path = `/fulfilments/${fulfilment.id}/deliveries/${call?.id}/retry`;
    const { body } = await shop.shop.post<{ status: string; next_attempt_at: string }>(path);
    expect(body.status).toBe('pending');
    expect(Date.parse(body.next_attempt_at)).toBeGreaterThan(Date.now());
    answer();
    await shop.untilStatus(fulfilment, 'delivered');
    expect(receiver.received).toHaveLength(1);
  });

  it('fails at once with a 410, and stores the start of the response', async () => {
    const fulfilment = await shop.fulfil('webhook', { url: receiver.url });
    await shop.earn();
    receiver.answerWith(410, {}, 'gone '.repeat(2_000));
    bench.work();
    const [failed] = await shop.untilStatus(fulfilment, 'failed');
    expect(failed).toMatchObject({ attempts: 1, response_status: 410, error: 'responded with 410' });
    expect(failed?.response_body).toHaveLength(4_096);
  });

  it('does not call for a credit that was revoked, or marked delivered, before its attempt', async () => {
    const fulfilment = await shop.fulfil('webhook', { url: receiver.url });
    await shop.earn();
    await shop.earn();
    await shop.earn();
    const [, second, third] = (await shop.deliveries(fulfilment)).toReversed();
    await shop.shop.post(`/credits/${second?.credit_id}/revoke`, { reason: 'fraud' });
    await shop.shop.post(`/credits/${third?.credit_id}/mark-delivered`);
    bench.work();
    await shop.untilStatus(fulfilment, 'delivered');
    const rows = (await shop.untilStatus(fulfilment, 'canceled', 2)).toReversed();
    expect(rows.map(({ status, error }) => [status, error])).toEqual([
      ['delivered', null],
      ['canceled', 'the credit was revoked'],
      ['canceled', 'the credit was marked delivered'],
    ]);
    expect(receiver.received.map(({ event }) => event.data.id)).toEqual([rows[0]?.credit_id]);
  });

  it('shows a credit that was revoked after an attempt without a response, and does not call again', async () => {
    const fulfilment = await shop.fulfil('webhook', { url: receiver.url });
    await shop.earn();
    receiver.answer((response) => void response.destroy());
    bench.work();
    const attempted = await until(
      'the attempt is saved',
      () => shop.deliveries(fulfilment),
      (rows) => rows[0]?.attempts === 1,
    );
    const calls = receiver.received.length;
    await shop.shop.post(`/credits/${attempted[0]?.credit_id}/revoke`, { reason: 'fraud' });
    bench.ahead += 10_000;
    const [failed] = await shop.untilStatus(fulfilment, 'failed');
    expect(failed?.error).toBe(
      'the credit was revoked after an attempt that may have delivered it: check the receiver',
    );
    expect(receiver.received).toHaveLength(calls);
    const retried = await shop.shop.post(`/fulfilments/${fulfilment.id}/deliveries/${failed?.id}/retry`);
    expect(retried.status).toBe(409);
  });

  it('shows a credit that was revoked during the call that delivered it', async () => {
    const fulfilment = await shop.fulfil('webhook', { url: receiver.url });
    await shop.earn();
    let answer: () => void = () => undefined;
    receiver.answer((response) => {
      answer = () => response.writeHead(200).end();
    });
    bench.work({ responseMs: EVER_MS });
    const [call] = await receiver.until(1);
    await shop.shop.post(`/credits/${call?.event.data.id}/revoke`, { reason: 'fraud' });
    answer();
    const [failed] = await shop.untilStatus(fulfilment, 'failed');
    expect(failed).toMatchObject({
      response_status: 200,
      error: 'delivered, but the credit was revoked meanwhile: take it back at the receiver',
    });
  });

  it('forgets what a receiver responded when the user is erased', async () => {
    const fulfilment = await shop.fulfil('webhook', { url: receiver.url });
    const user = await shop.earn();
    receiver.answerWith(200, {}, 'given to Ann Other');
    bench.work();
    const [delivery] = await shop.untilStatus(fulfilment, 'delivered');
    expect(delivery?.response_body).toBe('given to Ann Other');
    const { grants } = await shop.credits(`external_user_id=${user}`);
    expect((await shop.shop.delete(`/enrollments/${grants[0]?.partner_id}`)).status).toBe(200);
    expect(await shop.deliveries(fulfilment)).toMatchObject([
      { id: delivery?.id, status: 'delivered', response_body: null },
    ]);
  });

  it('calls once for each credit with two workers at work', async () => {
    const fulfilment = await shop.fulfil('webhook', { url: receiver.url });
    receiver.answer((response) => setTimeout(() => response.writeHead(200).end(), 20));
    bench.work();
    bench.work();
    for (let count = 0; count < 20; count++) await shop.earn();
    await shop.untilStatus(fulfilment, 'delivered', 20);
    expect(receiver.received).toHaveLength(20);
  });

  it('that is deleted delivers nothing more; the next one takes over what no attempt may have delivered', async () => {
    const first = await shop.fulfil('webhook', { url: receiver.url });
    const user = await shop.earn();
    await shop.earn();
    receiver.answer((response) => void response.destroy());
    bench.work();
    await until(
      'both are attempted',
      () => shop.deliveries(first),
      (rows) => rows.every(({ attempts }) => attempts === 1),
    );
    await bench.rest();
    await shop.earn();
    expect((await shop.shop.delete(`/fulfilments/${first.id}`)).status).toBe(200);
    const stripe = await shop.fulfil('stripe_balance', {}, { include_earlier: true });
    expect(stripe.deliveries).toMatchObject({ pending: 1 });
    await shop.shop.delete(`/fulfilments/${stripe.id}`);
    receiver.answerWith(200);
    const ids = new Set(receiver.received.map(({ id }) => id));
    const second = await shop.fulfil('webhook', { url: receiver.url }, { include_earlier: true });
    bench.work();
    await shop.untilStatus(second, 'delivered', 3);
    // Deliveries that the receiver may have counted come again with the same ids.
    const later = receiver.received.filter(({ id }) => ids.has(id));
    expect(new Set(later.map(({ id }) => id))).toEqual(ids);
    expect(await shop.delivered(user)).toBe(5);
  });
});
