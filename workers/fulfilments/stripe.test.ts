import Stripe from 'stripe';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { stripeAmount } from '../../core/connections/stripe/stripe-amount.ts';
import { type CreditShop, createCreditShop, type Fulfilment, KEY } from '../../test/support/credit-shop.ts';
import { type StripeStandIn, startStripeStandIn } from '../../test/support/stripe-stand-in.ts';
import { until } from '../../test/support/until.ts';
import { createWebhookBench, type WebhookBench } from '../../test/support/webhook-bench.ts';

const SECRET = 'whsec_test_of_stripe';

let bench: WebhookBench;
let stripe: StripeStandIn;
let shop: CreditShop;
beforeAll(async () => {
  bench = await createWebhookBench();
});
beforeEach(async () => {
  stripe = await startStripeStandIn();
  bench.stripeApiBase = stripe.origin;
  bench.stopClock();
  shop = await createCreditShop(bench);
});
afterEach(async () => {
  await bench.rest();
  await stripe.close();
});
afterAll(() => bench.close());

/** A referrer with one earned credit grant, who is this customer of Stripe. */
async function earnAs(customer: string): Promise<string> {
  const user = await shop.earn();
  stripe.customers.push({ id: customer, metadata: { hoplog_user_id: user } });
  return user;
}

const untilAttempts = (fulfilment: Fulfilment, attempts: number) =>
  until(
    `${attempts} attempts`,
    () => shop.deliveries(fulfilment),
    (rows) => rows[0]?.attempts === attempts,
  );

const keysOfCreation = () =>
  stripe.calls.filter(({ method }) => method === 'POST').map(({ idempotencyKey }) => idempotencyKey);

describe("a fulfilment to Stripe's balances", () => {
  it('makes one balance transaction for each credit, and marks it delivered', async () => {
    const fulfilment = await shop.fulfil('stripe_balance', {
      restricted_key: KEY,
      currency: 'EUR',
      credit_value: 1.5,
    });
    const user = await earnAs('cus_one');
    bench.work();
    const [delivery] = await shop.untilStatus(fulfilment, 'delivered');
    expect(stripe.transactions).toMatchObject([
      {
        customer: 'cus_one',
        amount: -750,
        currency: 'eur',
        description: '5 credits',
        metadata: { hoplog_delivery_id: delivery?.id, hoplog_credit_id: String(delivery?.credit_id) },
      },
    ]);
    expect(delivery).toMatchObject({
      reference: stripe.transactions[0]?.id,
      attempts: 1,
      response_status: 200,
    });
    expect(keysOfCreation()).toEqual([`hoplog-credit-${delivery?.credit_id}-${delivery?.id}`]);
    expect(await shop.delivered(user)).toBe(5);
    expect(fulfilment.settings).toEqual({ currency: 'eur', credit_value: 1.5, restricted_key_set: true });
  });

  it('delivers once where the response is lost, under the key of the first attempt', async () => {
    const fulfilment = await shop.fulfil('stripe_balance', { restricted_key: KEY });
    await earnAs('cus_one');
    stripe.behave('lose-response');
    bench.work();
    await untilAttempts(fulfilment, 1);
    stripe.behave('work');
    bench.ahead += 10_000;
    const [delivery] = await shop.untilStatus(fulfilment, 'delivered');
    expect(stripe.transactions).toHaveLength(1);
    expect(delivery?.reference).toBe(stripe.transactions[0]?.id);
  });

  it('delivers once where the response is lost and Stripe has forgotten the key', async () => {
    const fulfilment = await shop.fulfil('stripe_balance', { restricted_key: KEY });
    await earnAs('cus_one');
    stripe.behave('lose-response');
    bench.work();
    await untilAttempts(fulfilment, 1);
    stripe.forgetKeys();
    stripe.behave('work');
    // More transactions than one page holds.
    const [lost] = stripe.transactions;
    if (!lost) throw new Error('nothing was made');
    for (let count = 0; count < 150; count++) {
      stripe.transactions.push({ ...lost, id: `cbtxn_other_${count}`, metadata: {} });
    }
    bench.ahead += 26 * 3_600_000;
    const [delivery] = await shop.untilStatus(fulfilment, 'delivered');
    expect(delivery?.reference).toBe(lost.id);
    expect(stripe.transactions).toHaveLength(151);
  });

  it('repeats the key of an attempt with an unknown outcome, and takes a new one after a refusal', async () => {
    const fulfilment = await shop.fulfil('stripe_balance', { restricted_key: KEY });
    await earnAs('cus_one');
    // Stripe saves both responses under their keys.
    stripe.behave({ status: 402, code: 'declined' });
    bench.work();
    await untilAttempts(fulfilment, 1);
    stripe.behave({ status: 500, code: 'broken' });
    bench.ahead += 10_000;
    await untilAttempts(fulfilment, 2);
    bench.ahead += 600_000;
    await untilAttempts(fulfilment, 3);
    stripe.forgetKeys();
    stripe.behave('work');
    bench.ahead += 86_400_000;
    await shop.untilStatus(fulfilment, 'delivered');
    const [first, second, third, fourth] = keysOfCreation();
    expect(second).toBe(`${first}-1`);
    expect([third, fourth]).toEqual([second, second]);
    expect(stripe.transactions).toHaveLength(1);
  });

  it('waits for a customer who belongs to the user, and for a key', async () => {
    const fulfilment = await shop.fulfil('stripe_balance', {});
    const user = await shop.earn();
    bench.work();
    expect((await untilAttempts(fulfilment, 1))[0]?.error).toBe(
      'no restricted key: set `settings.restricted_key`',
    );
    const path = `/fulfilments/${fulfilment.id}`;
    expect((await shop.shop.patch(path, { settings: { restricted_key: KEY } })).status).toBe(200);
    bench.ahead += 10_000;
    expect((await untilAttempts(fulfilment, 2))[0]?.error).toBe(`no Stripe customer belongs to user ${user}`);
    for (const id of ['cus_one', 'cus_two'])
      stripe.customers.push({ id, metadata: { hoplog_user_id: user } });
    bench.ahead += 600_000;
    expect((await untilAttempts(fulfilment, 3))[0]?.error).toBe(
      `several Stripe customers belong to user ${user}`,
    );
    stripe.customers.pop();
    bench.ahead += 3_600_000;
    await shop.untilStatus(fulfilment, 'delivered');
    expect(stripe.transactions).toMatchObject([{ customer: 'cus_one', amount: -500, currency: 'usd' }]);
  });

  it("takes the key of the workspace's Stripe connection, and the customer that an event tied to the user", async () => {
    const connection = await shop.shop.post<{ id: string }>('/connections', {
      provider: 'stripe',
      signing_secret: SECRET,
      restricted_key: KEY,
      settings: { mode: 'test' },
    });
    const path = `/connections/${connection.body.id}`;
    const tie = async (customer: string, user: string, at: number) => {
      const object = { id: customer, object: 'customer', metadata: { hoplog_user_id: user } };
      const event = { id: `evt_${customer}_${at}`, type: 'customer.updated', created: at, livemode: false };
      const payload = JSON.stringify({ ...event, data: { object } });
      const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret: SECRET });
      const response = await bench.api.app.inject({
        method: 'POST',
        url: `/api/v1${path}/webhook`,
        headers: { 'content-type': 'application/json', 'stripe-signature': signature },
        payload,
      });
      expect(response.statusCode).toBe(200);
    };
    const user = 'referrer-1';
    const now = Math.floor(Date.now() / 1_000);
    await tie('cus_tied', user, now - 20);
    // This customer belongs to another user by now.
    await tie('cus_former', user, now - 10);
    await tie('cus_former', 'someone-else', now - 5);
    bench.work();
    const recorded = () => shop.shop.get<{ events: unknown[] }>(`${path}/events?status=recorded`);
    await expect.poll(async () => (await recorded()).body.events.length, { timeout: 60_000 }).toBe(3);
    stripe.customers.push({ id: 'cus_tied', metadata: {} });
    const fulfilment = await shop.fulfil('stripe_balance', {});
    expect(await shop.earn()).toBe(user);
    await shop.untilStatus(fulfilment, 'delivered');
    expect(stripe.transactions).toMatchObject([{ customer: 'cus_tied', amount: -500 }]);
    expect(new Set(stripe.calls.map(({ authorization }) => authorization))).toEqual(
      new Set([`Bearer ${KEY}`]),
    );
  });

  it('respects the Retry-After of a rate limit', async () => {
    const fulfilment = await shop.fulfil('stripe_balance', { restricted_key: KEY });
    await earnAs('cus_one');
    stripe.behave({ status: 429, code: 'rate_limit', retryAfter: '3600' });
    bench.work({ random: () => 0 });
    const [limited] = await untilAttempts(fulfilment, 1);
    const due = Date.parse(limited?.next_attempt_at ?? '');
    expect(due - Date.parse(limited?.created_at ?? '')).toBeGreaterThanOrEqual(3_600_000);
  });
});

describe('the amount of a balance transaction', () => {
  it.each([
    [500, 1, 'usd', 500],
    [500, 1.5, 'eur', 750],
    [1, 0.1, 'usd', 0],
    [100, 0.005, 'usd', 0],
    [300, 0.005, 'usd', 2],
    [500, 100, 'jpy', 500],
    [500, 0.5, 'kwd', 2_500],
    [100, 0.005, 'kwd', 0],
    [300, 0.005, 'kwd', 20],
    [500, 1, 'isk', 500],
    [500, 1_000, 'ugx', 500_000],
    [500, 1_000, 'mga', 5_000],
    [100_000_000_000, 1_000_000, 'usd', 100_000_000_000_000_000],
  ])('of %d hundredths worth %d each in %s is %d', (hundredths, value, currency, amount) => {
    expect(stripeAmount(hundredths, value, currency)).toBe(amount);
  });
});
