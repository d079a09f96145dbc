import { expect, test } from 'vitest';
import { REFERRAL_FORMATS } from './formats/known.ts';
import { createReader } from './records.ts';
import { openReferralFile } from './rows.ts';

type Source = 'tapfiliate' | 'rewardful' | 'firstpromoter' | 'partnerstack' | 'tolt' | 'csv';

/** Reads a file of one row. */
async function read(source: Source, columns: Record<string, string>) {
  const format = REFERRAL_FORMATS[source];
  if (!format) throw new Error(`no format ${source}`);
  async function* text() {
    yield `${Object.keys(columns).join()}\n${Object.values(columns).join()}\n`;
  }
  const file = await openReferralFile(format, text(), { delimiter: ',', firstLine: 1 });
  const { value: row } = (await file?.rows.next()) ?? {};
  if (!file || !row) throw new Error('the file has no row');
  if ('problem' in row) return { problems: [row.problem.column] };
  const reader = createReader(format, file.kind);
  const got = file.kind === 'commissions' ? reader.commission(row, 'usd') : reader.partner(row);
  if (got === 'over') return 'over';
  return got.record ?? { problems: got.problems.map(({ column }) => column) };
}

const commission = (source: Source, more: object) =>
  read(source, {
    partner_email: 'a@mail.example',
    affiliate_email: 'a@mail.example',
    promoter_email: 'a@mail.example',
    amount: '12.50',
    ...more,
  });

test.each(['tapfiliate', 'rewardful', 'firstpromoter', 'partnerstack', 'tolt', 'csv'] as const)(
  'a commission of %s is skipped where a column says that it is over, and only there',
  async (source) => {
    const unpaid = { amountMinor: 1_250 };
    for (const column of ['payout', 'paid', 'Is Paid', 'paid_at', 'voided_at', 'refunded', 'is_fraud']) {
      for (const no of ['', 'No', 'false', '0', 'n/a', '-', 'unpaid', 'never', '0000-00-00 00:00:00']) {
        expect([column, no, await commission(source, { [column]: no })]).toMatchObject([column, no, unpaid]);
      }
      for (const yes of ['Yes', 'true', '1', '2026-05-01', '2026-05-01T10:00:00Z', 'May 1 2026']) {
        expect([column, yes, await commission(source, { [column]: yes })]).toEqual([column, yes, 'over']);
      }
      const odd = await commission(source, { [column]: 'perhaps' });
      expect([column, odd]).toEqual([column, { problems: [column] }]);
    }
    expect(await commission(source, { paid: 'Paid' })).toBe('over');
    expect(await commission(source, { payout_fee: 'perhaps' })).toMatchObject(unpaid);
  },
);

test.each(['tapfiliate', 'rewardful', 'firstpromoter', 'partnerstack', 'tolt', 'csv'] as const)(
  'a referrer of %s may earn only where each state is known to mean live',
  async (source) => {
    const partner = (more: object) => read(source, { email: 'a@mail.example', ...more });
    for (const status of ['', 'Active', 'approved', 'Enabled']) {
      expect([status, await partner({ status })]).toMatchObject([status, { isSuspended: false }]);
    }
    for (const status of ['Disabled', 'banned', 'In review', 'pending', 'Rejected', 'deleted']) {
      expect([status, await partner({ status })]).toMatchObject([status, { isSuspended: true }]);
    }
    expect(await partner({ status: 'perhaps' })).toEqual({ problems: ['status'] });
    for (const off of [
      { banned: 'yes' },
      { deleted_at: '2026-05-01' },
      { Active: 'No' },
      { is_blocked: '1' },
    ]) {
      expect([off, await partner(off)]).toMatchObject([off, { isSuspended: true }]);
    }
    for (const live of [{ banned: 'no' }, { deleted_at: '' }, { active: 'true' }]) {
      expect([live, await partner(live)]).toMatchObject([live, { isSuspended: false }]);
    }
  },
);

test('a column that a file has twice holds one value, or the row is an error that names it', async () => {
  const twice = { 'partner email': 'a@mail.example', partner_email: 'b@mail.example', amount: '1.00' };
  expect(await read('csv', twice)).toEqual({ problems: ['partner email'] });
  const once = { partner_email: 'a@mail.example', 'Partner Email': '', amount: '1.00' };
  expect(await read('csv', once)).toMatchObject({ partner: { email: 'a@mail.example' } });
});
