import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Merchant, merchant, PAID_AT_ONCE } from '../../../test/referrals/support.ts';
import { type TestApi, type TestWorkspace, testApi } from '../../../test/support/api.ts';

let api: TestApi;
let shop: TestWorkspace;
let m: Merchant;

beforeAll(async () => {
  api = await testApi();
});
beforeEach(async () => {
  shop = await api.addWorkspace();
  m = merchant(shop);
});
afterAll(() => api.close());

async function sale(
  user: string,
  amount: number,
  fields: { method?: string; name?: string | null; program?: object } = {},
) {
  const program = await m.program({ ...PAID_AT_ONCE, ...fields.program });
  const { ref, partner_id } = await m.enroll(user, { program_id: program.id, name: fields.name ?? null });
  await m.address(partner_id, user, fields.method ?? 'paypal');
  await m.signup(`n-${user}`, { ref_code: ref });
  await m.purchase(`n-${user}`, `o-${user}`, amount, { currency: program.currency });
  return { partner_id, programId: program.id };
}

const rowsOf = (text: string): string[][] => parse(text) as string[][];

describe('a file for PayPal', () => {
  test('has no header, and a row of six columns for each recipient with PayPal', async () => {
    const { partner_id } = await sale('a', 617.25, { name: 'Ünal, "Ü"' });
    await sale('b', 100, { method: 'wise' });
    const response = await shop.get<string>('/payouts/export?format=paypal');
    const id = String(response.headers['x-export-id']);
    expect(response.headers['content-type']).toBe('text/csv; charset=utf-8');
    const customer = partner_id.replaceAll('-', '').slice(2);
    expect(response.text).toBe(`a@pay.example,123.45,USD,${customer},Payout ${id},PAYPAL\r\n`);
    expect(customer).toMatch(/^[0-9a-f]{30}$/);
    expect((await m.pay(id)).body).toEqual({ paid: 1, totals: { usd: 123.45 } });
  });

  test('takes no decimals where PayPal has none, and one currency', async () => {
    const yen = await sale('y', 1_000, { program: { currency: 'jpy' } });
    expect(rowsOf((await shop.get<string>(`/payouts/export?format=paypal`)).text)[0]?.slice(1, 3)).toEqual([
      '200',
      'JPY',
    ]);
    const forint = await sale('h', 1_002.5, { program: { currency: 'huf' } });
    const broken = await shop.get(`/payouts/export?format=paypal&program_id=${forint.programId}`);
    expect([broken.status, broken.body.error.details?.[0]?.path]).toEqual([400, 'format']);
    const dinar = await sale('k', 10, { program: { currency: 'kwd' } });
    expect((await shop.get(`/payouts/export?format=paypal&program_id=${dinar.programId}`)).status).toBe(400);
    const mixed = await shop.get('/payouts/export?format=paypal');
    expect([mixed.status, mixed.body.error.details?.[0]?.path]).toEqual([400, 'program_id']);
    // What a service would not take is not saved.
    expect((await shop.get<{ payouts: unknown[] }>('/payouts')).body.payouts).toHaveLength(1);
    expect(yen.programId).not.toBe(dinar.programId);
  });
});

test('a file for Wise has the columns of its template for recipients by email', async () => {
  await sale('a', 617.25, { method: 'wise', name: '=Ünal,\u2028"Ü"' });
  const response = await shop.get<string>('/payouts/export?format=wise');
  const id = String(response.headers['x-export-id']);
  expect(rowsOf(response.text)).toEqual([
    [
      'name',
      'recipientEmail',
      'paymentReference',
      'receiverType',
      'amountCurrency',
      'amount',
      'sourceCurrency',
      'targetCurrency',
    ],
    [`'=Ünal, "Ü"`, 'a@pay.example', `P${id.slice(-8)}`, 'PERSON', 'target', '123.45', 'USD', 'USD'],
  ]);
});

test('a file of a service is cut at its limit, and the next one has the rest', async () => {
  const { pool } = api.stores;
  const { programId } = await sale('first', 100, { method: 'wise' });
  await pool.query(
    `INSERT INTO enrollments (id, workspace_id, program_id, external_user_id, tier, reward_mode, payout_method,
       payout_email, changed_by, created_at, updated_at)
     SELECT gen_random_uuid(), $1, $2, 'u' || n, 'free', 'affiliate', 'wise', 'u' || n || '@pay.example', 'test', now(), now()
     FROM generate_series(1, 1004) AS n`,
    [shop.workspace.id, programId],
  );
  await pool.query(
    `WITH made AS (
       INSERT INTO commissions (id, workspace_id, program_id, enrollment_id, kind, amount_minor, currency, status, note,
         eligible_at, created_at)
       SELECT gen_random_uuid(), workspace_id, program_id, id, 'manual', 100, 'usd', 'eligible', 'test', now(), now()
       FROM enrollments WHERE workspace_id = $1 AND external_user_id LIKE 'u%' RETURNING *
     )
     INSERT INTO ledger_entries (workspace_id, enrollment_id, external_user_id, account, unit, amount, cause,
       commission_id, created_at)
     SELECT made.workspace_id, enrollment_id, external_user_id, 'cash_eligible', 'usd', 100, 'manual', made.id, now()
     FROM made JOIN enrollments e ON e.id = enrollment_id`,
    [shop.workspace.id],
  );
  const sizes: number[] = [];
  for (let n = 0; n < 2; n++) {
    const response = await shop.get<string>('/payouts/export?format=wise');
    sizes.push(rowsOf(response.text).length - 1);
    await m.pay(String(response.headers['x-export-id']));
  }
  expect(sizes).toEqual([1_000, 5]);
});

test('line breaks in what users choose end no line of the file, and begin no formula', async () => {
  const program = await m.program(PAID_AT_ONCE);
  const user = { email: 'u@mail.example', name: 'A\u2028=B', program_id: program.id };
  const { ref, partner_id } = await m.enroll('\r\n=1+1', user);
  await m.address(partner_id, 'u');
  await m.signup('n', { ref_code: ref });
  await m.purchase('n', 'o', 100);
  const { text } = await shop.get<string>('/payouts/export');
  const [header = [], ...lines] = rowsOf(text);
  expect(text.split(/[\r\n\u2028\u2029]+/)).toHaveLength(3);
  const cell = (name: string) => lines[0]?.[header.indexOf(name)];
  expect([lines.length, cell('external_user_id'), cell('name')]).toEqual([1, "' =1+1", 'A =B']);
});

test('our own file has a byte order mark where asked for, and those for PayPal and Wise have none', async () => {
  const shop = await api.addWorkspace();
  const own = await shop.get<string>('/payouts/export?bom=1');
  expect([own.status, own.text.startsWith('\uFEFFpartner_id,')]).toEqual([200, true]);
  expect((await shop.get<string>('/payouts/export')).text.startsWith('partner_id,')).toBe(true);
  for (const format of ['paypal', 'wise']) {
    const { status, body } = await shop.get(`/payouts/export?format=${format}&bom=1`);
    expect([status, body.error.details?.[0]?.path]).toEqual([400, 'bom']);
  }
});
