import { expect } from 'vitest';
import { importReferrals } from '../../api/referrals/import/import-referrals.ts';
import { verifyLedger } from '../../cli/verify-ledger.ts';
import { REFERRAL_FORMATS } from '../../core/referral-imports/formats/known.ts';
import { latestProgram } from '../../sql/referrals/programs.ts';
import type { TestApi, TestWorkspace } from '../support/api.ts';
import { apiTest as test } from '../support/fixtures.ts';
import { providerShop } from './provider-rig.ts';
import { lemonSqueezyStory, paddleStory } from './provider-stories.ts';
import { ago, stripeShop } from './rig.ts';
import { ordersOf, paid, type StripeShop } from './stripe-orders.ts';

/** Customers that an import names by their id at a provider earn for their referrer. */

let shop: StripeShop;

test.beforeEach(async ({ api }) => {
  shop = await stripeShop(api);
  await shop.program({ commission_rate: 20, hold_days: 0 });
});
test.afterEach(async ({ api }) => {
  expect(await verifyLedger(api.stores.pool, [shop.shop.workspace.id])).toMatchObject({
    ok: true,
    wrong: [],
  });
});

async function imported(
  api: TestApi,
  { workspace }: TestWorkspace,
  from: string,
  files: Record<string, string>,
) {
  const { pool } = api.stores;
  const program = await latestProgram(pool, workspace.id);
  const format = REFERRAL_FORMATS[from];
  if (!program || !format) throw new Error('no program or format');
  const { errors } = await importReferrals({
    pool,
    workspace,
    program,
    from,
    format,
    dryRun: false,
    now: new Date(),
    by: 'operator',
    files: Object.entries(files).map(([name, text]) => ({
      name,
      form: { delimiter: ',', firstLine: 1 },
      async *text() {
        yield text;
      },
    })),
  });
  expect(errors).toEqual([]);
}

const FILES: [string, Record<string, string>][] = [
  [
    'rewardful',
    {
      partners: 'id,email,token\n1,r@own.example,via-r',
      customers: 'email,token,stripe_customer_id\nr@own.example,via-r,cus_1',
    },
  ],
  [
    'partnerstack',
    {
      partners: 'partner_key,partner_email\nr,r@own.example',
      customers: 'customer_key,partner_key,email\ncus_1,r,someone@else.example',
    },
  ],
  [
    'firstpromoter',
    { partners: 'id,email,ref_token\n1,r@own.example,r', customers: 'uid,promoter_id\ncus_1,1' },
  ],
  ['tolt', { partners: 'id,email\n1,r@own.example', customers: 'customer_id,partner_id\ncus_1,1' }],
  ['tapfiliate', { partners: 'id,email\n1,r@own.example', customers: 'customer_id,affiliate_id\ncus_1,1' }],
  ['csv', { partners: 'partner_id,email\n1,r@own.example', customers: 'customer_id,partner_id\ncus_1,1' }],
  [
    'csv',
    {
      partners: 'partner_id,email\n1,r@own.example',
      customers: 'customer_id,stripe_customer_id,partner_id\nuser-7,cus_1,1',
    },
  ],
];

test.for(FILES)('an invoice of a customer imported from %s earns, %#', async ([from, files], { api }) => {
  await imported(api, shop.shop, from, files);
  await shop.tell(paid('in_1', 10_000, { billing_reason: 'subscription_cycle', customer_email: null }));
  const { purchases, balances } = await shop.ledger();
  expect(purchases).toMatchObject([{ order_id: 'stripe:in_1', earned: 2_000 }]);
  expect(balances).toMatchObject([{ amount: 2_000 }]);
  expect(await shop.outcomes()).toEqual([['invoice.paid', 'recorded', null]]);
});

test('a payment that came before the import is matched by it', async ({ api }) => {
  await shop.tell(paid('in_1', 10_000, {}, ago(30)));
  expect(await shop.outcomes()).toEqual([['invoice.paid', 'unmatched', 'no_buyer']]);
  const created = new Date(ago(90) * 1_000).toISOString();
  await imported(api, shop.shop, 'csv', {
    partners: 'partner_id,email\n1,r@own.example',
    customers: `customer_id,partner_id,created_at\ncus_1,1,${created}`,
  });
  await shop.settleDue();
  expect(await shop.outcomes()).toEqual([['invoice.paid', 'recorded', null]]);
  expect((await ordersOf(shop))['stripe:in_1']).toMatchObject({ user: 'cus_1', earned: 2_000 });
});

test('ids of a merchant’s own users name no customer of a provider', async ({ api }) => {
  const lemon = await providerShop(api, 'lemonsqueezy');
  const partners = 'partner_id,email\n1,other@own.example';
  await imported(api, lemon.shop, 'csv', { partners, customers: 'customer_id,partner_id\n7,1' });
  const [first] = lemonSqueezyStory().first;
  if (!first) throw new Error('no event');
  const nameless = { ...first, body: first.body.replace('"custom_data"', '"other_data"') };
  await lemon.tell(nameless);
  expect(await lemon.outcomes()).toEqual([['order_created', 'unmatched', 'no_buyer']]);
  // A column that names the provider decides.
  await imported(api, lemon.shop, 'csv', {
    customers: 'customer_id,lemonsqueezy_customer_id,partner_id\nuser-7,7,1',
  });
  expect((await lemon.outcomes())[0]?.[1]).toBe('unmatched');
  await lemon.settleDue();
  expect(await lemon.outcomes()).toEqual([['order_created', 'recorded', null]]);
});

test('a customer of Paddle is known by the form of its id', async ({ api }) => {
  const paddle = await providerShop(api, 'paddle');
  const [first] = paddleStory().first;
  if (!first) throw new Error('no event');
  const { data } = JSON.parse(first.body) as { data: { customer_id: string } };
  await imported(api, paddle.shop, 'csv', {
    partners: 'partner_id,email\n1,other@own.example',
    customers: `customer_id,partner_id\n${data.customer_id},1`,
  });
  await paddle.tell({ ...first, body: first.body.replace('"custom_data"', '"other_data"') });
  expect((await paddle.purchases()).map(([, user, , , , , , earned]) => [user, earned])).toEqual([
    [data.customer_id, 2_000],
  ]);
});
