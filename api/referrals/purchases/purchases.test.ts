import { expect } from 'vitest';
import { merchantTest } from '../../../test/referrals/fixtures.ts';
import type { TestWorkspace } from '../../../test/support/api.ts';

type Purchase = { order_id: string; reason: string | null };
type Page = { purchases: Purchase[]; next_cursor: number | null };

const list = async (shop: TestWorkspace, query = '') =>
  (await shop.get<Page>(`/purchases?${query}`)).body.purchases;
const orders = (purchases: Purchase[]) => purchases.map((one) => one.order_id);

merchantTest('purchases are listed with their referrer, outcome and reason', async ({ shop, m }) => {
  const program = await m.program({ commission_rate: 10, hold_days: 0, first_sale_only: true });
  const r = await m.enroll('r', { name: 'Rosa' });
  await m.signup('n', { ref_code: r.ref });
  await m.purchase('stranger', 'o0', 5);
  const reported = await m.purchase('n', 'o1', 20.5, { currency: 'usd' });
  await m.purchase('n', 'o2', 30);
  await m.purchase('n', 'o3', 40, { is_renewal: true });
  await m.refund('f', 'o1', 0.5);
  expect(await list(shop, 'order_id=o1')).toEqual([
    {
      internal_order_id: reported.body.internal_order_id,
      order_id: 'o1',
      external_user_id: 'n',
      matched: true,
      program_id: program.id,
      partner_id: r.partner_id,
      referrer_external_user_id: 'r',
      referrer_name: 'Rosa',
      referrer_email: 'r@mail.example',
      amount: 20.5,
      commissionable_amount: 20.5,
      refunded: 0.5,
      currency: 'usd',
      is_renewal: false,
      held: false,
      rewarded: true,
      ledger_rows: 1,
      reason: null,
      coupon: null,
      purchased_at: expect.any(String),
      provider_event: null,
    },
  ]);
  expect((await list(shop)).map((one) => [one.order_id, one.reason])).toEqual([
    ['o3', 'renewal_not_covered'],
    ['o2', 'not_first_sale'],
    ['o1', null],
    ['o0', null],
  ]);
  expect(orders(await list(shop, 'matched=false'))).toEqual(['o0']);
  expect(orders(await list(shop, 'matched=true&rewarded=false'))).toEqual(['o3', 'o2']);
  expect(orders(await list(shop, 'reason=not_first_sale'))).toEqual(['o2']);
  expect(orders(await list(shop, `partner_id=${r.partner_id}`))).toEqual(['o3', 'o2', 'o1']);
  expect(orders(await list(shop, `program_id=${program.id}&rewarded=true`))).toEqual(['o1']);
  const first = await shop.get<Page>('/purchases?limit=3');
  expect(orders(first.body.purchases)).toEqual(['o3', 'o2', 'o1']);
  const rest = await shop.get<Page>(`/purchases?limit=3&cursor=${first.body.next_cursor}`);
  expect([orders(rest.body.purchases), rest.body.next_cursor]).toEqual([['o0'], null]);
});

merchantTest.for([
  'limit=0',
  'cursor=x',
  'matched=1',
  'rewarded=no',
  'reason=x',
  'order_id=',
  'partner_id=x',
  'program_id=x',
])('?%s is a 400 that names the field', async (query, { shop }) => {
  const answer = await shop.get(`/purchases?${query}`);
  expect([answer.status, answer.body.error.details?.[0]?.path]).toEqual([400, query.split('=')[0]]);
});

merchantTest('purchases need a secret key and a paid plan', async ({ api, shop }) => {
  expect((await shop.get('/purchases', { key: shop.publishableKey })).status).toBe(403);
  const free = await api.addWorkspace({ plan: 'free' });
  expect((await free.get('/purchases')).status).toBe(402);
});
