import { createHash } from 'node:crypto';
import { describe, expect } from 'vitest';
import { exportedLines } from '../../cli/commands/ledger.ts';
import { type Verified, verifyLedger } from '../../cli/verify-ledger.ts';
import type { TestApi, TestWorkspace } from '../support/api.ts';
import { operator } from '../support/hoplog.ts';
import { merchantTest } from './fixtures.ts';
import { type Merchant, PAID_AT_ONCE } from './support.ts';

/** Every kind of entry of one workspace. */
async function everything(shop: TestWorkspace, m: Merchant) {
  const { partner_id } = await m.referral(PAID_AT_ONCE);
  for (const order of ['o1', 'o2', 'o3', 'o4']) await m.purchase('n', order, 100);
  await m.refund('f1', 'o1', 25);
  await m.refund('f2', 'o2');
  const first = await m.exportPayouts();
  await m.refund('f3', 'o3', 10);
  await m.pay(first.id);
  await m.fail(first.id, partner_id);
  await m.retry(first.id, partner_id);
  await shop.post('/commissions', { external_user_id: 'r', amount: 3, note: 'bonus' });
  const { body } = await shop.get<{ commissions: { id: string; order_id: string }[] }>('/commissions');
  await shop.post(`/commissions/${body.commissions.find(({ order_id }) => order_id === 'o4')?.id}/reject`);
  await m.pay((await m.exportPayouts()).id);
  await m.program({ credit_enabled: true, signup_credit: { free: 2 }, purchase_credit: 1, hold_days: 1 });
  const { ref } = await m.enroll('s');
  for (const user of ['n1', 'n2', 's']) await m.signup(user, { ref_code: ref });
  const { grants } = await m.credits('external_user_id=s');
  await shop.post(`/credits/${grants.at(-1)?.id}/mark-delivered`);
  await shop.post(`/credits/${grants.at(-2)?.id}/revoke`, { reason: 'a mistake' });
  await m.purchase('n1', 'o5', 10);
  return partner_id;
}

const verify = (api: TestApi, shop: TestWorkspace): Promise<Verified> =>
  verifyLedger(api.stores.pool, [shop.workspace.id]);
const linesOf = async (api: TestApi, shop: TestWorkspace) => {
  let text = '';
  for await (const lines of exportedLines(api.stores.pool, shop.workspace.id)) text += lines;
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown> & { hash: string });
};

/** Writes like a superuser, with every trigger off. */
const plant = (api: TestApi, sql: string) =>
  api.stores.admin.query(
    `SET session_replication_role = replica; ${sql}; SET session_replication_role = DEFAULT`,
  );

merchantTest('no entry can be changed or removed, not even by a superuser', async ({ api, shop, m }) => {
  await everything(shop, m);
  for (const statement of [
    'UPDATE ledger_entries SET amount = 0',
    'DELETE FROM ledger_entries',
    'TRUNCATE ledger_entries CASCADE',
  ])
    await expect(api.stores.admin.query(statement)).rejects.toThrow('append-only');
  expect((await verify(api, shop)).ok).toBe(true);
});

describe('ledger verify', () => {
  merchantTest('finds nothing wrong in a ledger with every kind of entry', async ({ api, shop, m }) => {
    await everything(shop, m);
    expect(await verify(api, shop)).toEqual({ ok: true, entries: expect.any(Number), wrong: [] });
    await m.exportPayouts();
    expect((await verify(api, shop)).ok).toBe(true);
  });

  merchantTest.for<[string, string, string[]]>([
    [
      'an entry that nothing caused',
      `INSERT INTO ledger_entries (workspace_id, enrollment_id, external_user_id, account, unit, amount, cause,
         commission_id, created_at)
       SELECT workspace_id, enrollment_id, 'r', 'cash_eligible', 'usd', 5000, 'sale', id, now() FROM commissions
       WHERE workspace_id = $1 AND kind = 'sale' ORDER BY id LIMIT 1`,
      ['commission', 'balance', 'chain'],
    ],
    [
      'an entry with another amount',
      `UPDATE ledger_entries SET amount = amount + 1 WHERE id = (
         SELECT min(id) FROM ledger_entries WHERE workspace_id = $1 AND cause = 'sale')`,
      ['commission', 'balance', 'chain'],
    ],
    [
      'a payment that no line made',
      `UPDATE payouts SET paid_minor = paid_minor + 100 WHERE id = (
         SELECT min(id::text)::uuid FROM payouts WHERE workspace_id = $1 AND status = 'paid')`,
      ['payout_line'],
    ],
    [
      'a commission in another status',
      `UPDATE commissions SET status = 'paid', paid_at = now() WHERE workspace_id = $1 AND status = 'rejected'`,
      ['commission', 'balance'],
    ],
    [
      'a credit of another amount',
      `UPDATE grants SET amount = amount * 2 WHERE workspace_id = $1 AND status = 'delivered'`,
      ['grant', 'balance'],
    ],
    [
      'a refund that reversed nothing',
      `UPDATE refunds SET amount_minor = amount_minor + 1000 WHERE workspace_id = $1 AND refund_id = 'f1'`,
      ['commission', 'balance'],
    ],
    [
      'an entry of another user',
      `UPDATE ledger_entries SET external_user_id = 'thief' WHERE id = (
         SELECT max(id) FROM ledger_entries WHERE workspace_id = $1 AND cause = 'manual')`,
      ['commission', 'balance', 'chain'],
    ],
  ])('finds %s', async ([_, sql, what], { api, shop, m }) => {
    await everything(shop, m);
    await linesOf(api, shop);
    await plant(api, sql.replaceAll('$1', `'${shop.workspace.id}'`));
    const { ok, wrong } = await verify(api, shop);
    expect(ok).toBe(false);
    expect(new Set(wrong.map((one) => one.what))).toEqual(new Set(what));
    expect(wrong.every((one) => one.workspace_id === shop.workspace.id && one.problem !== '')).toBe(true);
  });
});

describe('ledger export', () => {
  merchantTest(
    'chains every entry by hashes that anyone can compute, and has the head of each payout file',
    async ({ api, shop, m }) => {
      await everything(shop, m);
      const response = await shop.get<string>('/payouts/export');
      const head = String(response.headers['x-ledger-head']);
      expect((await m.payout(String(response.headers['x-export-id']))).ledger_head).toBe(head);
      await m.purchase('n', 'later', 10);
      const lines = await linesOf(api, shop);
      let before = '0'.repeat(64);
      for (const { hash, ...entry } of lines) {
        // RFC 8785 of a flat object of ASCII names, integers and texts: sorted names, no spaces.
        const canonical = JSON.stringify(entry, Object.keys(entry).toSorted());
        before = createHash('sha256').update(`${before}\n${canonical}`).digest('hex');
        expect(hash).toBe(before);
      }
      const { rows } = await api.stores.pool.query<{ count: number }>(
        'SELECT count(*) AS count FROM ledger_entries WHERE workspace_id = $1',
        [shop.workspace.id],
      );
      expect(lines).toHaveLength(rows[0]?.count ?? 0);
      expect(lines.at(-2)?.hash).toBe(head);
      expect(await linesOf(api, shop)).toEqual(lines);
    },
  );

  merchantTest(
    'keeps its order whatever commits late, and however many extend it at once',
    async ({ api, shop, m }) => {
      await m.referral(PAID_AT_ONCE);
      const heads = await Promise.all(
        Array.from({ length: 12 }, async (_, n) => {
          await m.purchase('n', `o${n}`, 10);
          return String((await shop.get<string>('/payouts/export')).headers['x-ledger-head']);
        }),
      );
      const hashes = (await linesOf(api, shop)).map(({ hash }) => hash);
      expect(hashes).toHaveLength(12);
      for (const head of heads) expect(hashes).toContain(head);
      expect((await verify(api, shop)).ok).toBe(true);
    },
  );

  merchantTest(
    'and verify are commands: NDJSON, and exit status 1 when something is wrong',
    async ({ api, shop, m }) => {
      await m.referral(PAID_AT_ONCE);
      await m.purchase('n', 'o1', 100);
      const cli = operator(api.stores);
      const workspace = ['--workspace', shop.workspace.id];
      const exported = await cli.run('ledger', 'export', ...workspace);
      expect(exported).toMatchObject({ status: 0, stderr: '' });
      expect(exported.stdout.trim().split('\n')).toHaveLength(1);
      expect(await cli.json('ledger', 'verify', ...workspace)).toEqual({ ok: true, entries: 1, wrong: [] });
      await plant(api, `UPDATE ledger_entries SET amount = 1 WHERE workspace_id = '${shop.workspace.id}'`);
      const verified = await cli.run('ledger', 'verify', '--json');
      expect(verified.status).toBe(1);
      expect(JSON.parse(verified.stdout)).toMatchObject({ ok: false });
    },
  );
});
