import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { intent, invoicePayment, stripeEvent } from '../../core/connections/stripe/fixtures/events.ts';
import type { TestApi } from '../support/api.ts';
import { apiTest as test } from '../support/fixtures.ts';
import { ago, stripeShop } from './rig.ts';

/** A stand-in for the list of invoice payments: https://docs.stripe.com/api/invoice-payment/list */

let server: Server;
/** Invoice payments by payment intent; null: Stripe is down. */
let paid: Map<string, object> | null;
let asked: { url: string; key: string | undefined }[];

beforeAll(async () => {
  server = createServer(({ url = '', headers }, response) => {
    asked.push({ url, key: headers.authorization });
    if (paid === null) return response.writeHead(503).end('{"error":{"message":"down"}}');
    const of = new URL(url, 'http://stripe').searchParams.get('payment[payment_intent]') ?? '';
    const found = paid.get(of);
    const list = { object: 'list', data: found ? [found] : [], has_more: false, url: '/v1/invoice_payments' };
    return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(list));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
beforeEach(() => {
  paid = new Map();
  asked = [];
});
afterAll(async () => {
  server.close();
});

async function shopWithKey(api: TestApi) {
  const { port } = server.address() as AddressInfo;
  const shop = await stripeShop(api, { restricted_key: 'rk_live_of_test' }, `http://127.0.0.1:${port}`);
  await shop.referral({ commission_rate: 20, hold_days: 0 });
  return shop;
}
const succeeded = (id: string) =>
  stripeEvent('payment_intent.succeeded', intent(id, 5_000, { metadata: { hoplog_user_id: 'n' } }), ago(9));

test('with a restricted key, Stripe tells at once whether a payment is of an invoice', async ({ api }) => {
  const shop = await shopWithKey(api);
  paid?.set('pi_of_invoice', invoicePayment('inpay_1', 'in_1', 'pi_of_invoice'));
  await shop.tell(succeeded('pi_alone'), succeeded('pi_of_invoice'));
  expect((await shop.outcomes()).map(([, , reason]) => reason)).toEqual(Array(2).fill('waits_for_invoice'));
  await shop.settleDue();
  expect((await shop.ledger()).purchases.map((one) => one.order_id)).toEqual(['stripe:pi_alone']);
  expect(await shop.outcomes()).toEqual([
    ['payment_intent.succeeded', 'recorded', null],
    ['payment_intent.succeeded', 'unmatched', 'no_purchase'],
  ]);
  expect(asked.map(({ key }) => key)).toEqual(Array(2).fill('Bearer rk_live_of_test'));
  expect(asked[0]?.url).toMatch(/^\/v1\/invoice_payments\?/);
});

test('while Stripe is down the payment waits, and 72 hours later it is a purchase', async ({ api }) => {
  const shop = await shopWithKey(api);
  paid = null;
  await shop.tell(succeeded('pi_1'));
  await expect(shop.settleDue()).rejects.toThrow();
  expect((await shop.ledger()).purchases).toEqual([]);
  await api.stores.pool.query(
    `UPDATE connection_payments SET created_at = created_at - interval '73 hours', due_at = now() WHERE connection_id = $1`,
    [shop.connectionId],
  );
  await shop.settleDue();
  expect((await shop.ledger()).purchases.map((one) => one.order_id)).toEqual(['stripe:pi_1']);
});

test('a response of Stripe that can not be stored tells nothing, and the payment waits for its events', async ({
  api,
}) => {
  const shop = await shopWithKey(api);
  paid?.set('pi_nul', invoicePayment('inpay_2', 'in_\u0000', 'pi_nul'));
  paid?.set('pi_long', invoicePayment('inpay_3', `in_${'x'.repeat(5_000)}`, 'pi_long'));
  await shop.tell(succeeded('pi_nul'), succeeded('pi_long'));
  await shop.settleDue();
  expect((await shop.outcomes()).map(([, , reason]) => reason)).toEqual(Array(2).fill('waits_for_invoice'));
  expect(asked.length).toBe(2);
});
