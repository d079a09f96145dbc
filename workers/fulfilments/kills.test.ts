import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createCreditShop, KEY } from '../../test/support/credit-shop.ts';
import { NIGHTLY } from '../../test/support/nightly.ts';
import { type Receiver, startReceiver } from '../../test/support/receiver.ts';
import { type StripeStandIn, startStripeStandIn } from '../../test/support/stripe-stand-in.ts';
import { until } from '../../test/support/until.ts';
import { createWebhookBench, type WebhookBench } from '../../test/support/webhook-bench.ts';
import { QUEUED } from '../webhooks/queued-deliveries.ts';
import type { FulfilmentStep } from './fulfilments.ts';

const SCRIPT = fileURLToPath(new URL('../test-support/killed-deliverer.ts', import.meta.url));

let bench: WebhookBench;
let receiver: Receiver;
let stripe: StripeStandIn;
beforeAll(async () => {
  bench = await createWebhookBench();
  await bench.api.stores.createTables();
  receiver = await startReceiver();
  stripe = await startStripeStandIn();
  bench.stripeApiBase = stripe.origin;
});
afterAll(async () => {
  await bench.close();
  await receiver.close();
  await stripe.close();
});

/** Starts a worker that dies at a step; `called`: the test kills it while it waits for the response. */
function startDeliverer(step: FulfilmentStep | 'called'): ChildProcess {
  const { databaseUrl, clickhouseUrl, clickhouseDatabase } = bench.api.stores;
  const key = bench.addressKey.toString('hex');
  const databases = [databaseUrl, clickhouseUrl, clickhouseDatabase];
  const settings = [...databases, bench.dataDir, key, stripe.origin, step];
  return spawn(process.execPath, ['--disable-warning=ExperimentalWarning', SCRIPT, ...settings], {
    stdio: 'inherit',
  });
}

async function dieAt(step: FulfilmentStep | 'called', hasArrived: () => boolean): Promise<void> {
  const child = startDeliverer(step);
  const ended = once(child, 'exit');
  if (step === 'called') {
    await until('the call arrives', hasArrived);
    child.kill('SIGKILL');
  }
  expect(await ended).toEqual([null, 'SIGKILL']);
}

/** The nightly run ends a worker before the call and after its outcome is saved too. */
const STEPS = NIGHTLY
  ? (['claimed', 'called', 'answered', 'saving', 'saved'] as const)
  : (['called', 'answered', 'saving'] as const);

it('a worker killed with SIGKILL after any step delivers each credit once by webhook', async () => {
  const shop = await createCreditShop(bench);
  const fulfilment = await shop.fulfil('webhook', { url: receiver.url });
  for (const step of STEPS) {
    await shop.earn();
    const before = receiver.received.length;
    receiver.answer((response) => {
      if (step !== 'called') response.writeHead(200).end();
    });
    await dieAt(step, () => receiver.received.length > before);
  }
  receiver.answerWith(200);
  // The clock moves past the claims of the dead workers.
  bench.ahead = QUEUED.leaseMs + 1_000;
  bench.work();
  const rows = await shop.untilStatus(fulfilment, 'delivered', STEPS.length);
  // The ids that a receiver counts if it drops repeated ids.
  const credited = new Set(receiver.received.map(({ id }) => id));
  expect(credited).toEqual(new Set(rows.map(({ id }) => id)));
  expect((await shop.credits('status=earned')).grants).toEqual([]);
  const bodies = Map.groupBy(receiver.received, ({ id }) => id);
  for (const same of bodies.values()) expect(new Set(same.map(({ body }) => body)).size).toBe(1);
  for (const { external_user_id } of rows) expect(await shop.delivered(external_user_id)).toBe(5);
  await bench.rest();
});

it("a worker killed with SIGKILL after any step delivers each credit once to Stripe's balance", async () => {
  const shop = await createCreditShop(bench);
  const fulfilment = await shop.fulfil('stripe_balance', { restricted_key: KEY });
  for (const step of STEPS) {
    const user = await shop.earn();
    stripe.customers.push({ id: `cus_${user}`, metadata: { hoplog_user_id: user } });
    const before = stripe.transactions.length;
    stripe.behave(step === 'called' ? 'hang' : 'work');
    await dieAt(step, () => stripe.transactions.length > before);
  }
  stripe.behave('work');
  // Stripe may have forgotten the keys when the next worker starts.
  stripe.forgetKeys();
  bench.ahead = QUEUED.leaseMs + 1_000;
  bench.work();
  const rows = await shop.untilStatus(fulfilment, 'delivered', STEPS.length);
  const customers = stripe.transactions.map(({ customer, amount }) => [customer, amount]);
  expect(customers.toSorted()).toEqual(
    rows.map(({ external_user_id }) => [`cus_${external_user_id}`, -500]).toSorted(),
  );
  expect((await shop.credits('status=earned')).grants).toEqual([]);
  for (const { external_user_id } of rows) expect(await shop.delivered(external_user_id)).toBe(5);
  await bench.rest();
});
