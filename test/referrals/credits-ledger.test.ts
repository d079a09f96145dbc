import { describe, expect } from 'vitest';
import { endHoldPeriods } from '../../workers/referrals/hold-periods.ts';
import type { TestApi, TestWorkspace } from '../support/api.ts';
import { merchantTest } from './fixtures.ts';
import { countRows, type Merchant, queuedEvents } from './support.ts';

async function earn(m: Merchant, count: number): Promise<string> {
  await m.program({ credit_enabled: true, signup_credit: { free: 2.5, paid: 0 } });
  const { ref, partner_id } = await m.enroll('r');
  for (let n = 0; n < count; n++) await m.signup(`n${n}`, { ref_code: ref });
  return partner_id;
}

const deliver = (shop: TestWorkspace, id: unknown, key?: string) =>
  shop.call<{ ok: boolean; already?: boolean }>('POST', `/credits/${id}/mark-delivered`, key ? { key } : {});

describe('credits', () => {
  merchantTest(
    'are listed newest first, filtered by status and cut at limit, with the balance over all',
    async ({ shop, m }) => {
      const partner = await earn(m, 4);
      const { grants } = await m.credits(`partner_id=${partner}`);
      expect(grants.map((grant) => grant.referee_external_user_id)).toEqual(['n3', 'n2', 'n1', 'n0']);
      await deliver(shop, grants[3]?.id);
      const balance = { credits: { earned: 7.5, delivered: 2.5 } };
      const page = await m.credits('external_user_id=r&limit=2');
      expect([page.grants.length, page.balance]).toEqual([2, balance]);
      const delivered = await m.credits('external_user_id=r&status=delivered');
      expect([delivered.grants.map((grant) => grant.id), delivered.balance]).toEqual([
        [grants[3]?.id],
        balance,
      ]);
      expect((await m.credits('external_user_id=r&status=earned')).grants).toHaveLength(3);
      expect((await m.credits(`external_user_id=r&partner_id=${partner}&status=all`)).grants).toHaveLength(4);
      expect((await m.stats('r')).rewards.credits).toEqual({
        credits: { earned: 10, delivered: 2.5, pending: 7.5 },
      });
    },
  );

  merchantTest('of an unknown user are an empty list', async ({ m }) => {
    expect(await m.credits('external_user_id=nobody')).toEqual({ grants: [], balance: {} });
  });

  merchantTest.for([
    '',
    'status=delivered',
    'partner_id=x',
    'external_user_id=',
    'external_user_id=r&status=revoked',
    'external_user_id=r&limit=0',
    'external_user_id=r&limit=501',
    'external_user_id=r&limit=many',
  ])('?%s returns 400', async (query, { shop }) => {
    expect((await shop.get(`/credits?${query}`)).status).toBe(400);
  });

  merchantTest(
    'require a secret key and a paid plan, and belong to one workspace',
    async ({ api, shop, m }) => {
      const partner = await earn(m, 1);
      const [grant] = (await m.credits(`partner_id=${partner}`)).grants;
      const browser = { key: shop.publishableKey };
      expect((await shop.get(`/credits?partner_id=${partner}`, browser)).status).toBe(403);
      expect((await deliver(shop, grant?.id, shop.publishableKey)).status).toBe(403);
      const other = await api.addWorkspace();
      const seen = await other.get(`/credits?partner_id=${partner}`);
      expect(seen.body).toEqual({ grants: [], balance: {} });
      expect((await other.post(`/credits/${grant?.id}/mark-delivered`)).status).toBe(404);
      const free = await api.addWorkspace({ plan: 'free' });
      expect((await free.get('/credits?external_user_id=r')).status).toBe(402);
    },
  );
});

describe('mark-delivered', () => {
  merchantTest(
    'marks the grant delivered once, reports "already" on a repeat, and emits one event with the grant',
    async ({ api, shop, m }) => {
      const partner = await earn(m, 1);
      const [grant] = (await m.credits(`partner_id=${partner}`)).grants;
      const first = await deliver(shop, grant?.id);
      expect([first.status, first.body]).toEqual([200, { ok: true }]);
      expect((await deliver(shop, grant?.id)).body).toEqual({ ok: true, already: true });
      const [delivered] = (await m.credits(`partner_id=${partner}`)).grants;
      expect(delivered).toEqual({ ...grant, status: 'delivered', delivered_at: expect.any(String) });
      const events = (await queuedEvents(api, shop)).filter(({ type }) => type === 'credit.delivered');
      expect(events).toEqual([{ type: 'credit.delivered', data: delivered }]);
    },
  );

  merchantTest('marks a grant delivered once when called fifty times at once', async ({ api, shop, m }) => {
    const partner = await earn(m, 1);
    const [grant] = (await m.credits(`partner_id=${partner}`)).grants;
    const responses = await Promise.all(Array.from({ length: 50 }, () => deliver(shop, grant?.id)));
    expect(responses.filter(({ body }) => body.already === undefined)).toHaveLength(1);
    expect((await m.credits('external_user_id=r')).balance).toEqual({
      credits: { earned: 0, delivered: 2.5 },
    });
    expect(await countRows(api, shop, 'ledger_entries')).toBe(3);
  });

  merchantTest(
    'returns 404 for an unknown grant and 400 for an id that is not a number',
    async ({ shop }) => {
      expect((await deliver(shop, 999_999_999)).status).toBe(404);
      for (const id of ['x', '1.5', '0', '-1', '99999999999999999999'])
        expect((await deliver(shop, id)).status).toBe(400);
    },
  );
});

describe('the ledger', () => {
  async function fill(api: TestApi, shop: TestWorkspace, m: Merchant): Promise<void> {
    await m.program({ commission_rate: 20, hold_days: 1 });
    const { ref } = await m.enroll('r');
    await m.signup('n', { ref_code: ref });
    await m.purchase('n', 'o1', 100);
    await earn(m, 1);
    const { ref: second } = await m.enroll('s');
    await m.signup('n9', { ref_code: second });
    await deliver(shop, (await m.credits('external_user_id=s')).grants[0]?.id);
    await m.refund('f1', 'o1', 10);
    await endHoldPeriods({ pool: api.stores.pool, now: new Date(Date.now() + 2 * 86_400_000) });
  }

  merchantTest.for([
    ['ledger_entries', 'amount = amount + 1'],
    ['grant_changes', "new_status = 'earned'"],
    ['commission_changes', "new_status = 'paid'"],
    ['enrollment_changes', "new_value = 'approved'"],
    ['payout_changes', "new_status = 'paid'"],
    ['ledger_chain', 'position = position + 1'],
  ] as const)(
    '%s reject changes, deletes and truncation in the database itself',
    async ([table, change], { api, shop, m }) => {
      await fill(api, shop, m);
      await m.exportPayouts();
      const { pool, admin } = api.stores;
      for (const statement of [
        `UPDATE ${table} SET ${change}`,
        `DELETE FROM ${table}`,
        `TRUNCATE ${table} CASCADE`,
      ]) {
        await expect(admin.query(statement), statement).rejects.toThrow(/append-only|can only be erased/);
      }
      const { rows } = await pool.query(`SELECT count(*) AS count FROM ${table}`);
      expect(rows[0]?.count).toBeGreaterThan(0);
    },
  );

  merchantTest(
    'rejects every change of grants and commissions except the allowed status moves',
    async ({ api, shop, m }) => {
      await fill(api, shop, m);
      const { admin } = api.stores;
      const own = `workspace_id = '${shop.workspace.id}'`;
      for (const statement of [
        `UPDATE grants SET amount = amount + 1 WHERE ${own}`,
        `UPDATE grants SET status = 'earned', delivered_at = NULL WHERE ${own} AND status = 'delivered'`,
        `UPDATE commissions SET amount_minor = amount_minor * 2 WHERE ${own}`,
        `UPDATE commissions SET status = 'pending' WHERE ${own} AND status = 'eligible'`,
        `UPDATE commissions SET eligible_at = now() WHERE ${own}`,
        `DELETE FROM grants WHERE ${own}`,
        `DELETE FROM commissions WHERE ${own}`,
        `DELETE FROM refunds WHERE ${own}`,
        `DELETE FROM purchases WHERE ${own}`,
      ]) {
        await expect(admin.query(statement), statement).rejects.toThrow(/refuses the change|append-only/);
      }
    },
  );

  merchantTest('records every change of a status', async ({ api, shop, m }) => {
    await fill(api, shop, m);
    const own = [shop.workspace.id];
    const { rows: commissions } = await api.stores.pool.query(
      `SELECT old_status, new_status FROM commission_changes c JOIN commissions ON commissions.id = commission_id
       WHERE workspace_id = $1 ORDER BY c.id`,
      own,
    );
    expect(commissions).toEqual([
      { old_status: null, new_status: 'pending' },
      { old_status: 'pending', new_status: 'eligible' },
    ]);
    const { rows: grants } = await api.stores.pool.query(
      `SELECT old_status, new_status FROM grant_changes c JOIN grants ON grants.id = grant_id
       WHERE workspace_id = $1 AND external_user_id = 's' ORDER BY c.id`,
      own,
    );
    expect(grants).toEqual([
      { old_status: null, new_status: 'earned' },
      { old_status: 'earned', new_status: 'delivered' },
    ]);
  });

  merchantTest('rejects a second reward for one cause, whatever the code does', async ({ api, shop, m }) => {
    await fill(api, shop, m);
    const { pool } = api.stores;
    const columns =
      'workspace_id, program_id, enrollment_id, order_internal_id, level, kind, amount_minor, currency';
    await expect(
      pool.query(
        `INSERT INTO commissions (id, status, eligible_at, created_at, ${columns})
         SELECT gen_random_uuid(), 'pending', now(), now(), ${columns} FROM commissions WHERE workspace_id = $1`,
        [shop.workspace.id],
      ),
    ).rejects.toThrow(/commissions_sale_once/);
  });
});
