import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { merchant } from '../../../test/referrals/support.ts';
import { apiTest as it } from '../../../test/support/fixtures.ts';

type Result = {
  dry_run: boolean;
  program_id: string;
  partners: Record<string, number>;
  commissions: Record<string, number>;
  sum: object;
  errors: { file: string; line: number; field: string | null; message: string }[];
};

const fixture = async (kind: string) => ({
  name: `${kind}.csv`,
  text: await readFile(
    new URL(`../../../core/referral-imports/fixtures/rewardful-${kind}.csv`, import.meta.url),
    'utf8',
  ),
});

it('a dry run says what the import then makes, and a second import makes nothing', async ({ shop, api }) => {
  const { id } = await merchant(shop).program();
  const files = await Promise.all(['commissions', 'partners', 'customers'].map(fixture));
  const call = (more: object = {}) =>
    shop.post<Result>('/referrals/import', { from: 'rewardful', program_id: id, files, ...more });
  const dry = await call({ dry_run: true });
  const referrers = async () =>
    (await shop.get<{ enrollments: unknown[] }>('/enrollments')).body.enrollments.length;
  expect([dry.status, await referrers()], dry.text).toEqual([200, 0]);
  const made = await call();
  expect(made.body).toEqual({ ...dry.body, dry_run: false });
  expect(made.body).toMatchObject({
    program_id: id,
    partners: { read: 2, created: 2 },
    customers: { read: 2, created: 2 },
    commissions: { read: 3, created: 2, skipped: 1 },
    sum: { files: 42.5, ledger: 42.5 },
    errors: [],
  });
  expect(await referrers()).toBe(2);
  expect((await call()).body).toMatchObject({ partners: { created: 0, existing: 2 }, errors: [] });
  const { rows } = await api.stores.pool.query<{ details: object }>(
    `SELECT details FROM audit_entries WHERE workspace_id = $1 AND action = 'referrals.import' ORDER BY id LIMIT 1`,
    [shop.workspace.id],
  );
  expect(rows[0]?.details).toEqual({ from: 'rewardful', files: 3 });
});

it('a refused row is named by file, line, and column, without its values, and costs no other row', async ({
  shop,
}) => {
  await merchant(shop).program();
  const text = 'commission_id,amount,partner_code\nx-1,five,nobody-here\n';
  const partners = 'partner_id,email,codes\np-1,ada@mail.example,ada\n';
  const { status, body } = await shop.post<Result>('/referrals/import', {
    from: 'csv',
    files: [
      { name: 'commissions.csv', text },
      { name: 'partners.csv', text: partners },
    ],
  });
  expect([status, body.partners.created]).toEqual([200, 1]);
  expect(body.errors).toEqual([
    { file: 'commissions.csv', line: 2, field: 'amount', message: expect.any(String) },
  ]);
});

it('what is not CSV, or has no program, is a 400 that names the field', async ({ shop }) => {
  const send = (files: object[], more: object = {}) =>
    shop.post('/referrals/import', { from: 'csv', files, ...more });
  const file = { name: 'partners.csv', text: 'partner_id,email\n1,ada@mail.example\n' };
  const pathOf = ({ status, body }: Awaited<ReturnType<typeof send>>) => [
    status,
    body.error.details?.[0]?.path,
  ];
  expect(pathOf(await send([file]))).toEqual([400, 'program_id']);
  await merchant(shop).program();
  expect(pathOf(await send([file, { ...file, text: '[{"a": 1}]' }]))).toEqual([400, 'files.1.text']);
  expect(pathOf(await send([{ ...file, text: ' ' }]))).toEqual([400, 'files.0.text']);
  expect(pathOf(await send([]))).toEqual([400, 'files']);
  expect(pathOf(await send([{ ...file, text: '\n\n,,\n' }]))).toEqual([400, 'files']);
  expect(pathOf(await send([file], { from: 'excel' }))).toEqual([400, 'from']);
  const elsewhere = await send([file], { program_id: crypto.randomUUID() });
  expect(elsewhere.status).toBe(404);
});
