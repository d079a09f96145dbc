import { expect } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import { brokenCount } from '../../core/invariants.ts';
import { appendEntries, type Entry } from '../../sql/referrals/ledger.ts';
import type { TestApi, TestWorkspace } from '../support/api.ts';
import { merchantTest } from './fixtures.ts';
import { countRows, PAID_AT_ONCE } from './support.ts';

/** Takes 15 of the commission's 20, a change by hand that no code makes. */
async function takeFromCommission(api: TestApi, shop: TestWorkspace): Promise<void> {
  await api.stores.pool.query(
    `INSERT INTO ledger_entries (workspace_id, created_at, enrollment_id, external_user_id, account, unit, amount, cause,
       commission_id)
     SELECT workspace_id, now(), enrollment_id, external_user_id, account, unit, -1500, cause, commission_id
     FROM ledger_entries WHERE workspace_id = $1 AND commission_id IS NOT NULL`,
    [shop.workspace.id],
  );
}

merchantTest(
  'a refund of more than what is left of a commission is rejected as a whole',
  async ({ api, shop, m }) => {
    await m.referral(PAID_AT_ONCE);
    await m.purchase('n', 'o1', 100);
    await takeFromCommission(api, shop);
    const broken = brokenCount('refund_within_rest');
    const { status } = await shop.post('/referrals/report-refund', { refund_id: 'f1', order_id: 'o1' });
    expect([status, brokenCount('refund_within_rest')]).toEqual([500, broken + 1]);
    expect(await countRows(api, shop, 'refunds')).toBe(0);
  },
);

merchantTest(
  'a payout of an amount that is not the sum of the entries pays no commission',
  async ({ api, shop, m }) => {
    await m.referral(PAID_AT_ONCE);
    await m.purchase('n', 'o1', 100);
    const { id } = await m.exportPayouts();
    await takeFromCommission(api, shop);
    const broken = brokenCount('payout_equals_entries');
    const { status } = await shop.post('/payouts', { export_id: id });
    expect([status, brokenCount('payout_equals_entries')]).toEqual([500, broken + 1]);
    expect(await m.balance('r')).toEqual({ pending: 0, eligible: 5, paid: 0 });
  },
);

merchantTest('entries that move an amount and do not sum to zero are not written', async ({ api, shop }) => {
  const entry: Entry = {
    enrollmentId: uuidv7(),
    externalUserId: 'r',
    account: 'cash_pending',
    unit: 'usd',
    amount: -2_000,
    cause: 'hold_over',
    commissionId: uuidv7(),
  };
  const broken = brokenCount('moves_sum_to_zero');
  const entries = [entry, { ...entry, account: 'cash_eligible' as const, amount: 1_999 }];
  await expect(appendEntries(api.stores.pool, shop.workspace.id, entries, new Date())).rejects.toThrow(
    `2 entries of ${shop.workspace.id} move -1`,
  );
  expect(brokenCount('moves_sum_to_zero')).toBe(broken + 1);
  expect(await countRows(api, shop, 'ledger_entries')).toBe(0);
});
