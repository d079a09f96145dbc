import { parse } from 'csv-parse/sync';
import type { Static } from 'typebox';
import { describe, expect } from 'vitest';
import { verifyLedger } from '../../../cli/verify-ledger.ts';
import { isWiseName, wiseNameSql } from '../../../core/referrals/payout-formats.ts';
import { type Merchant, merchant, PAID_AT_ONCE } from '../../../test/referrals/support.ts';
import { apiTest as test } from '../../../test/support/fixtures.ts';
import type { EnrollmentHistory } from '../enrollments/schemas.ts';
import type { Eligible as EligibleList } from './schemas.ts';

type Eligible = Static<typeof EligibleList>;

let m: Merchant;

test.beforeEach(async ({ shop }) => {
  m = merchant(shop);
});
test.afterEach(async ({ api, shop }) => {
  expect(await verifyLedger(api.stores.pool, [shop.workspace.id])).toMatchObject({ ok: true, wrong: [] });
});

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
  test('has no header, and a row of six columns for each recipient with PayPal', async ({ shop }) => {
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

  test('takes no decimals where PayPal has none, and one currency', async ({ shop }) => {
    const yen = await sale('y', 1_000, { program: { currency: 'jpy' } });
    expect(rowsOf((await shop.get<string>(`/payouts/export?format=paypal`)).text)[0]?.slice(1, 3)).toEqual([
      '200',
      'JPY',
    ]);
    for (const currency of ['huf', 'twd']) {
      const { programId } = await sale(currency, 1_002.5, { program: { currency } });
      const rounded = await shop.get<string>(`/payouts/export?format=paypal&program_id=${programId}`);
      expect(rowsOf(rounded.text)[0]?.slice(1, 3)).toEqual(['200', currency.toUpperCase()]);
    }
    const dinar = await sale('k', 10, { program: { currency: 'kwd' } });
    expect((await shop.get(`/payouts/export?format=paypal&program_id=${dinar.programId}`)).status).toBe(400);
    const mixed = await shop.get('/payouts/export?format=paypal');
    expect([mixed.status, mixed.body.error.details?.[0]?.path]).toEqual([400, 'program_id']);
    // A file that a service would refuse is not saved.
    expect((await shop.get<{ payouts: unknown[] }>('/payouts')).body.payouts).toHaveLength(3);
    expect(yen.programId).not.toBe(dinar.programId);
  });
});

test('PayPal pays whole units of a currency without decimals, and the rest stays in the balance', async ({
  api,
  shop,
}) => {
  const { programId, partner_id } = await sale('h', 2_004.5, { program: { currency: 'huf' } });
  const file = async () => {
    const response = await shop.get<string>(`/payouts/export?format=paypal&program_id=${programId}`);
    const { 'x-export-id': id, 'x-rounded': rounded, 'x-held-back': heldBack } = response.headers;
    return { id: String(id), rounded, heldBack, amounts: rowsOf(response.text).map(([, amount]) => amount) };
  };
  const first = await file();
  expect([first.amounts, first.rounded]).toEqual([['400'], '1']);
  expect((await m.pay(first.id)).body).toEqual({ paid: 1, totals: { huf: 400 } });
  expect(await m.balance('h')).toEqual({ pending: 0, eligible: 0.9, paid: 400 });
  // No file has less than a forint; a later purchase adds to the rest.
  expect(await file()).toMatchObject({ amounts: [], heldBack: 'below_one_unit=1' });
  const eligible = async (format: string) =>
    (await shop.get<Eligible>(`/payouts/eligible?format=${format}&program_id=${programId}`)).body.balances;
  expect(await eligible('paypal')).toMatchObject([{ amount: 0.9, held_back: 'below_one_unit' }]);
  expect(await eligible('csv')).toMatchObject([{ amount: 0.9, held_back: null }]);
  await m.purchase('n-h', 'o-2', 0.5, { currency: 'huf' });
  const second = await file();
  expect([second.amounts, second.rounded]).toEqual([['1'], undefined]);
  await m.pay(second.id);
  expect(await m.balance('h')).toEqual({ pending: 0, eligible: 0, paid: 401 });
  // A failed payment returns the paid amount, and not the rest again.
  expect((await m.fail(first.id, partner_id)).status).toBe(200);
  expect(await m.balance('h')).toEqual({ pending: 0, eligible: 400, paid: 1 });
  expect(await verifyLedger(api.stores.pool, [shop.workspace.id])).toMatchObject({ ok: true, wrong: [] });
});

test('a file for Wise has the columns of its template for recipients by email', async ({ shop }) => {
  const { partner_id } = await sale('a', 617.25, { method: 'wise', name: 'Zoë\u2028Ünal, "Ü"' });
  const response = await shop.get<string>('/payouts/export?format=wise');
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
    [
      `Zoë Ünal, "Ü"`,
      'a@pay.example',
      `P${partner_id.slice(-8)}`,
      'PERSON',
      'target',
      '123.45',
      'USD',
      'USD',
    ],
  ]);
});

test.for<[string, boolean]>([
  ['Ada Example', true],
  ['Zoë Ünal', true],
  ['李小龍 王大明', true],
  ['Łukasz Żółć', true],
  ['अनिल कुमार', true],
  ['Ada\u00a0Example', true],
  ['Ada', false],
  ['★★ ☆☆', false],
  ['€€ Example', false],
  ['١٢ ٣٤', false],
  ['Ada ②③', false],
  ['“Ada” Example', false],
])('%s is a name that Wise takes, by both JavaScript and PostgreSQL: %s', async ([name, isOne], { api }) => {
  expect(isWiseName(name)).toBe(isOne);
  const { rows } = await api.stores.pool.query(`SELECT ${wiseNameSql('$1::text')} AS "isOne"`, [name]);
  expect(rows).toEqual([{ isOne }]);
});

test('recipients whose name Wise refuses are held back until they have a payout name', async ({ shop }) => {
  const made = new Map<string, string>();
  for (const [user, name] of [
    ['ada', 'Ada Example'],
    ['none', null],
    ['one', 'Madonna'],
    ['initial', 'A Example'],
    ['email', 'ada lovelace@mail.example'],
    ['formula', '=Ada Example'],
  ] as const) {
    const { partner_id } = await sale(user, 100, { method: 'wise', name });
    made.set(user, partner_id);
  }
  const file = () => shop.get<string>('/payouts/export?format=wise&include_open=true');
  const names = (text: string) =>
    rowsOf(text)
      .slice(1)
      .map(([name]) => name)
      .sort();
  const first = await file();
  expect([names(first.text), first.headers['x-held-back']]).toEqual([['Ada Example'], 'payout_name=5']);
  const held = await shop.get<Eligible>('/payouts/eligible?format=wise');
  const reasons = held.body.balances.flatMap(({ held_back }) => held_back ?? []);
  expect(reasons.toSorted()).toEqual(['in_open_file', ...Array(5).fill('payout_name')]);
  // Our own file has them.
  expect(rowsOf((await shop.get<string>('/payouts/export')).text)).toHaveLength(7);
  const rename = (user: string, payout_name: string | null) =>
    shop.patch(`/enrollments/${made.get(user)}`, { payout_name });
  for (const wrong of ['Ada', 'ada@mail.example', "'Ada Example", 'A B', '1 Ada Example']) {
    const { status, body } = await rename('none', wrong);
    expect([status, body.error.details?.[0]?.path]).toEqual([400, 'payout_name']);
  }
  for (const user of ['none', 'one', 'initial', 'email']) {
    expect(await rename(user, ` Jo ${user.toUpperCase()} `)).toMatchObject({
      status: 200,
      body: { payout_name: `Jo ${user.toUpperCase()}` },
    });
  }
  const second = await file();
  expect(names(second.text)).toEqual(['Ada Example', 'Jo EMAIL', 'Jo INITIAL', 'Jo NONE', 'Jo ONE']);
  const references = rowsOf(second.text)
    .slice(1)
    .map((row) => row[2]);
  expect(new Set(references).size).toBe(5);
  expect(second.headers['x-held-back']).toBe('payout_name=1');
  const history = await shop.get<EnrollmentHistory>(`/enrollments/${made.get('one')}/history`);
  expect(history.body.history[0]).toMatchObject({ field: 'payout_name', from: null, to: 'Jo ONE' });
  await rename('one', null);
  expect(names((await file()).text)).not.toContain('Jo ONE');
});

test('a file of a service is cut at its limit, and the next one has the rest', async ({ api, shop }) => {
  const { pool } = api.stores;
  const { programId } = await sale('first', 100, { method: 'wise', name: 'Ada First' });
  await pool.query(
    `INSERT INTO enrollments (id, workspace_id, program_id, external_user_id, name, tier, reward_mode, payout_method,
       payout_email, changed_by, created_at, updated_at)
     SELECT gen_random_uuid(), $1, $2, 'u' || n, 'Ada Example', 'free', 'affiliate', 'wise', 'u' || n || '@pay.example', 'test', now(), now()
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
  const downloads = [];
  for (let n = 0; n < 3; n++) downloads.push(await shop.get<string>('/payouts/export?format=wise'));
  const sizes = downloads.map(({ text }) => rowsOf(text).length - 1);
  const [first = '', second = ''] = downloads.map(({ headers }) => String(headers['x-export-id']));
  expect(sizes).toEqual([1_000, 5, 0]);
  expect(downloads.map(({ headers }) => headers['x-left-out'])).toEqual([
    undefined,
    `1000;export_id="${first}"`,
    `1000;export_id="${first}", 5;export_id="${second}"`,
  ]);
  expect([(await m.pay(first)).body.paid, (await m.pay(second)).body.paid]).toEqual([1_000, 5]);
});

test('line breaks in what users choose end no line of the file, and begin no formula', async ({ shop }) => {
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

test('our own file has a byte order mark where asked for, and those for PayPal and Wise have none', async ({
  api,
}) => {
  const shop = await api.addWorkspace();
  const own = await shop.get<string>('/payouts/export?bom=1');
  expect([own.status, own.text.startsWith('\uFEFFpartner_id,')]).toEqual([200, true]);
  expect((await shop.get<string>('/payouts/export')).text.startsWith('partner_id,')).toBe(true);
  for (const format of ['paypal', 'wise']) {
    const { status, body } = await shop.get(`/payouts/export?format=${format}&bom=1`);
    expect([status, body.error.details?.[0]?.path]).toEqual([400, 'bom']);
  }
});
