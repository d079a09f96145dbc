import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Stripe from 'stripe';
import { freePort } from '../../cli/embedded/free-port.ts';
import { blocksOf, readDocument } from '../docs/markdown.ts';
import { pasted } from '../docs/pasted.ts';
import { startService } from '../support/service.ts';
import { until } from '../support/until.ts';

/**
 * Follows docs/connections.md and docs/fulfilment.md word by word, from an empty `npm start` to a reward that is paid
 * out, against Stripe's own `stripe-mock`:
 *
 *     go install github.com/stripe/stripe-mock@latest
 *     npm run build && npx node test/connections/follow-guides.ts --stripe-mock "$(go env GOPATH)/bin/stripe-mock"
 *
 * `stripe-mock` checks every call against Stripe's OpenAPI document and responds with Stripe's fixtures. It stores
 * nothing and sends no webhooks: this script sends them, made of its objects and signed by the package `stripe`.
 */

const { values } = parseArgs({ options: { 'stripe-mock': { type: 'string' } } });
const binary = values['stripe-mock'];
if (binary === undefined) {
  console.error('name the binary of stripe-mock: --stripe-mock PATH');
  process.exit(2);
}

const SECRET = 'whsec_of_the_guide';
/** The form that `stripe-mock` accepts. */
const RESTRICTED_KEY = 'rk_test_123';
const directory = mkdtempSync(join(tmpdir(), 'hoplog-guides-'));
const port = await freePort();
const mock = spawn(binary, ['-http-addr', `127.0.0.1:${port}`], { stdio: ['ignore', 'ignore', 'inherit'] });
const stripeBase = `http://127.0.0.1:${port}`;
const stripe = new Stripe('sk_test_123', { host: '127.0.0.1', port, protocol: 'http' });

type Json = Record<string, unknown>;

try {
  await until('stripe-mock answers', () =>
    fetch(stripeBase).then(
      () => true,
      () => false,
    ),
  );
  const service = await startService({
    dataDir: join(directory, 'data'),
    env: { STRIPE_API_BASE: stripeBase, WEBHOOK_ALLOW_PRIVATE: 'true' },
  });
  try {
    await follow(service.api_url, service.demo?.secret_key ?? '');
  } finally {
    await service.stop();
  }
} finally {
  mock.kill();
  rmSync(directory, { recursive: true, force: true });
}

async function follow(api: string, key: string): Promise<void> {
  const env: Record<string, string> = { API: api, KEY: key };
  const placeholders = { 'whsec_...': SECRET, 'rk_live_...': RESTRICTED_KEY };
  /** Runs a command of a guide as it is printed, and returns the response. */
  const paste = async (block: string | undefined) => {
    const response: Json = JSON.parse(await pasted(block, { env, placeholders }));
    say(block?.trim().split('\n')[0] ?? '');
    return response;
  };
  const call = async <T = Json>(path: string, body?: object): Promise<T> => {
    const response = await fetch(`${api}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    return JSON.parse(text) as T;
  };

  const program = await call('/programs', {
    name: 'Friends',
    code: 'friends',
    destination_url: 'https://shop.example/',
    credit_enabled: true,
    purchase_credit: 20,
  });
  env.PROGRAM = String(program.id);
  await call('/referrals/enroll', {
    external_user_id: 'anna',
    email: 'anna@mail.example',
    tier: 'free',
    program_id: env.PROGRAM,
  });
  say('a program that gives 20 credits for a purchase, and the referrer anna');

  const [connect, setSecret, list, setKey, makeCode] = blocksOf(readDocument('docs/connections.md'), 'sh');
  const connection = await paste(connect);
  env.CONNECTION = String(connection.id);
  const webhookUrl = String(connection.webhook_url);
  const refused = await send(webhookUrl, event('customer.created', await stripe.customers.retrieve('cus_1')));
  expectEqual('events before the secret', refused, 503);
  expectEqual('signing_secret_set', (await paste(setSecret)).signing_secret_set, true);
  expectEqual('restricted_key_set', (await paste(setKey)).restricted_key_set, true);

  const coupon = await paste(makeCode);
  type Coupons = { coupons: { id: string; promotion_code: { status: string; reference: string } }[] };
  const made = await until(
    'the promotion code is made in Stripe',
    () => call<Coupons>('/coupons'),
    ({ coupons }) => coupons[0]?.promotion_code.status === 'active',
  );
  expectEqual('the coupon', made.coupons[0]?.id, coupon.id);
  const reference = made.coupons[0]?.promotion_code.reference;
  say(`promotion code ${reference} is active`);

  const customer = { ...(await stripe.customers.retrieve('cus_1')), metadata: { hoplog_user_id: 'anna' } };
  expectEqual('a customer event', await send(webhookUrl, event('customer.created', customer)), 200);
  const [webhookFulfilment, balanceFulfilment] = blocksOf(readDocument('docs/fulfilment.md'), 'sh');
  // A program has one fulfilment: the first block's is deleted before the second one.
  const first = await paste(webhookFulfilment);
  await fetch(`${api}/fulfilments/${first.id}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${key}` },
  });
  const fulfilment = await paste(balanceFulfilment);

  const invoice = {
    ...(await stripe.invoices.retrieve('in_1')),
    id: 'in_of_the_guide',
    customer: 'cus_of_a_buyer',
    customer_email: 'buyer@mail.example',
    currency: 'usd',
    amount_paid: 5_000,
    total: 5_000,
    // The fixture's costs are larger than what is paid.
    shipping_cost: null,
    parent: null,
    discounts: [{ promotion_code: reference }],
  };
  const paid = event('invoice.paid', invoice);
  expectEqual('a payment', await send(webhookUrl, paid), 200);
  expectEqual('the payment again', await send(webhookUrl, paid), 200);
  type Events = { events: { event_id: string; status: string }[] };
  const isRecorded = ({ events }: Events) =>
    events.some(({ event_id: id, status }) => id === paid.id && status === 'recorded');
  await until(
    'the event is recorded',
    async (): Promise<Events> => JSON.parse(await pasted(list, { env })),
    isRecorded,
  );
  type Purchases = { purchases: { order_id: string; external_user_id: string | null; rewarded: boolean }[] };
  const { purchases } = await call<Purchases>('/purchases');
  expectEqual(
    'the purchases',
    purchases.map(({ order_id, rewarded }) => [order_id, rewarded]),
    [['stripe:in_of_the_guide', true]],
  );
  type Deliveries = { deliveries: { status: string; reference: string; amount: number; error: string }[] };
  const { deliveries } = await until(
    "anna's credit is delivered to the balance in Stripe",
    () => call<Deliveries>(`/fulfilments/${fulfilment.id}/deliveries`),
    (found) => found.deliveries[0]?.status === 'delivered',
  );
  say(`${deliveries[0]?.amount} credits are balance transaction ${deliveries[0]?.reference}`);
  const grants = await call<{ grants: { status: string }[] }>('/credits?external_user_id=anna');
  expectEqual(
    "anna's credits",
    grants.grants.map(({ status }) => status),
    ['delivered'],
  );
  console.log('The guides work as they are printed.');
}

function event(type: string, object: object) {
  const created = Math.floor(Date.now() / 1_000);
  const id = `evt_${type}_${Math.random().toString(36).slice(2)}`;
  return { id, object: 'event', type, created, livemode: true, data: { object } };
}

/** Sends an event as Stripe does. @returns the status of the response */
async function send(url: string, body: object): Promise<number> {
  const payload = JSON.stringify(body);
  const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret: SECRET });
  const headers = { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': signature };
  return (await fetch(url, { method: 'POST', headers, body: payload })).status;
}

function say(line: string): void {
  console.log(`- ${line}`);
}

function expectEqual(what: string, found: unknown, wanted: unknown): void {
  if (JSON.stringify(found) !== JSON.stringify(wanted))
    throw new Error(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`);
  say(`${what}: ${JSON.stringify(found)}`);
}
