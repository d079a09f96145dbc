import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { verifyLedger } from '../../cli/verify-ledger.ts';
import { type TestApi, type TestWorkspace, testApi } from '../support/api.ts';
import { type Enrolled, type Merchant, merchant, PAID_AT_ONCE, queuedEvents } from './support.ts';

let api: TestApi;
let shop: TestWorkspace;
let m: Merchant;
let programId: string;
let a: Enrolled & { ref: string };
let b: Enrolled & { ref: string };

beforeAll(async () => {
  api = await testApi();
});
beforeEach(async () => {
  shop = await api.addWorkspace();
  m = merchant(shop);
  ({ id: programId } = await m.program(PAID_AT_ONCE));
  [a, b] = [await m.enroll('a'), await m.enroll('b')];
  await m.address(a.partner_id, 'a');
  await m.address(b.partner_id, 'b');
  // A page names the wrong referrer.
  await m.signup('n', { ref_code: a.ref }, shop.publishableKey);
  expect((await m.purchase('n', 'o1', 100)).body).toMatchObject({ rewarded: true });
});
afterEach(async () => {
  expect((await verifyLedger(api.stores.pool, [shop.workspace.id])).wrong).toEqual([]);
});
afterAll(() => api.close());

const toNobody = () => m.signup('n', { ref_code: null });
const to = ({ ref }: { ref: string }) => m.signup('n', { ref_code: ref });
const cancel = (id: string) => shop.delete(`/payouts/${id}`);
const balances = async () => {
  const [ofA, ofB] = [await m.balance('a'), await m.balance('b')];
  return { a: [ofA.eligible, ofA.paid], b: [ofB.eligible, ofB.paid] };
};
type Listed = { id: string; kind: string; amount: number; status: string };
const commissionsOf = async ({ partner_id }: Enrolled) =>
  (await shop.get<{ commissions: Listed[] }>(`/commissions?partner_id=${partner_id}`)).body.commissions;

describe('a refund after a correction', () => {
  test.each([
    ['to no one', toNobody, 0],
    ['to another', () => to(b), 20],
  ])('%s reverses the commission that was paid to the wrong referrer', async (_, correct, ofB) => {
    const file = await m.exportPayouts();
    await m.pay(file.id);
    await correct();
    // A paid commission stays paid.
    expect(await balances()).toEqual({ a: [0, 20], b: [ofB, 0] });
    expect((await m.refund('f1', 'o1', 25)).body).toMatchObject({ matched: true, ledger_rows: ofB ? 2 : 1 });
    expect(await balances()).toEqual({ a: [-5, 20], b: [ofB * 0.75, 0] });
    await m.refund('f2', 'o1');
    expect(await balances()).toEqual({ a: [-20, 20], b: [0, 0] });
    const negative = (await queuedEvents(api, shop)).filter(
      ({ type, data }) => type === 'commission.created' && Number(data.amount) < 0,
    );
    expect(negative.map(({ data }) => [data.partner_id, data.amount])).toEqual([
      [a.partner_id, -5],
      [a.partner_id, -15],
    ]);
  });

  test('reported before and after it, reverses each part once', async () => {
    const file = await m.exportPayouts();
    await m.pay(file.id);
    await m.refund('f1', 'o1', 25);
    await toNobody();
    await m.refund('f2', 'o1', 50);
    expect(await balances()).toEqual({ a: [-15, 20], b: [0, 0] });
    expect((await m.refund('f2', 'o1', 50)).body).toMatchObject({ matched: true, ledger_rows: 1 });
  });

  test('deducts nothing twice where the correction already deducted it', async () => {
    const file = await m.exportPayouts();
    await toNobody();
    expect(await balances()).toEqual({ a: [0, 0], b: [0, 0] });
    await m.pay(file.id);
    expect((await m.refund('f1', 'o1')).body).toMatchObject({ matched: false, ledger_rows: 0 });
    expect(await balances()).toEqual({ a: [-20, 20], b: [0, 0] });
  });
});

describe('a payment that comes back after the correction', () => {
  test.each([
    ['to no one', toNobody, 0],
    ['to another', () => to(b), 20],
  ])('%s leaves the wrong referrer nothing', async (_, correct, ofB) => {
    const file = await m.exportPayouts();
    await m.pay(file.id);
    await m.refund('f1', 'o1', 25);
    await correct();
    expect((await m.fail(file.id, a.partner_id)).status).toBe(200);
    expect(await balances()).toEqual({ a: [0, 0], b: [ofB * 0.75, 0] });
    await m.refund('f2', 'o1');
    expect(await balances()).toEqual({ a: [0, 0], b: [0, 0] });
  });
});

describe('a correction takes back a commission once', () => {
  test('when a refund reduced it while it was in a payout file that was canceled', async () => {
    const file = await m.exportPayouts();
    await m.refund('f1', 'o1', 50);
    await cancel(file.id);
    expect(await balances()).toEqual({ a: [10, 0], b: [0, 0] });
    await to(b);
    expect(await balances()).toEqual({ a: [0, 0], b: [10, 0] });
  });

  test('when a payout file was canceled between two corrections', async () => {
    const file = await m.exportPayouts();
    await toNobody();
    await cancel(file.id);
    await to(b);
    expect(await balances()).toEqual({ a: [0, 0], b: [20, 0] });
  });
});

describe('a correction back to the first referrer', () => {
  test.each([
    ['is open', async () => {}, [20, 0]],
    ['was paid', (id: string) => m.pay(id), [0, 20]],
    ['was canceled', cancel, [20, 0]],
  ])('gives back what the first one deducted, when the payout file %s', async (_, then, expected) => {
    const file = await m.exportPayouts();
    await toNobody();
    await then(file.id);
    await to(a);
    expect(await balances()).toEqual({ a: expected, b: [0, 0] });
    await m.refund('f1', 'o1');
    expect((await balances()).a).toEqual([expected[0] === 20 ? 0 : -20, expected[1]]);
  });

  test('leaves the parts that were refunded meanwhile', async () => {
    const file = await m.exportPayouts();
    await m.refund('f1', 'o1', 30);
    await toNobody();
    await m.refund('f2', 'o1', 50);
    await to(a);
    expect(await balances()).toEqual({ a: [4, 0], b: [0, 0] });
    await m.pay(file.id);
    expect(await balances()).toEqual({ a: [-16, 20], b: [0, 0] });
  });

  test('leaves a commission rejected that the merchant rejected', async () => {
    await m.exportPayouts();
    const [sale] = await commissionsOf(a);
    await toNobody();
    expect((await shop.post(`/commissions/${sale?.id}/reject`)).status).toBe(200);
    await to(a);
    expect(await balances()).toEqual({ a: [0, 0], b: [0, 0] });
  });
});

test('a commission that corrects another is not rejected alone', async () => {
  await m.exportPayouts();
  await toNobody();
  const negative = (await commissionsOf(a)).find(({ kind }) => kind === 'correction');
  expect((await shop.post(`/commissions/${negative?.id}/reject`)).status).toBe(409);
  expect(await balances()).toEqual({ a: [0, 0], b: [0, 0] });
});

describe('a refund of a paid commission', () => {
  test('is deducted in the program of the sale after the referrer moved to another', async () => {
    const { id } = await m.program(PAID_AT_ONCE);
    await m.pay((await m.exportPayouts()).id);
    expect((await shop.patch(`/enrollments/${a.partner_id}`, { program_id: id })).status).toBe(200);
    expect((await m.refund('f1', 'o1', 50)).body).toMatchObject({ matched: true, ledger_rows: 1 });
    expect(await balances()).toMatchObject({ a: [-10, 20] });
    const events = await queuedEvents(api, shop);
    expect(events.at(-1)).toMatchObject({ type: 'commission.created', data: { program_id: programId } });
  });

  test('is written also after the referrer was deleted', async () => {
    await m.pay((await m.exportPayouts()).id);
    expect((await shop.delete(`/enrollments/${a.partner_id}`)).status).toBe(200);
    expect((await m.refund('f1', 'o1', 50)).body).toMatchObject({ matched: true, ledger_rows: 1 });
    const { rows } = await api.stores.pool.query(
      `SELECT account, sum(amount)::int AS amount FROM ledger_entries WHERE workspace_id = $1 GROUP BY account
       ORDER BY account`,
      [shop.workspace.id],
    );
    expect(rows).toEqual([
      { account: 'cash_eligible', amount: -1_000 },
      { account: 'cash_paid', amount: 2_000 },
    ]);
  });
});
