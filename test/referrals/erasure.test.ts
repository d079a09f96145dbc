import { describe, expect } from 'vitest';
import type { EnrollmentHistory } from '../../api/referrals/enrollments/schemas.ts';
import { erasePerson } from '../../cli/erase-person.ts';
import { uuidv7 } from '../../core/ids.ts';
import { upsertIdentities } from '../../sql/orders/identities.ts';
import type { TestApi, TestWorkspace } from '../support/api.ts';
import { operator } from '../support/hoplog.ts';
import { merchantTest } from './fixtures.ts';
import { allQueuedEvents, type Merchant, merchant, PAID_AT_ONCE } from './support.ts';

/** Every text of the workspace in PostgreSQL's tables of referrals, orders and members. */
async function storedTexts(api: TestApi, shop: TestWorkspace): Promise<string> {
  const tables = [
    'enrollments',
    'signups',
    'purchases',
    'payouts',
    'orders',
    'unmatched_orders',
    'identities',
    'members',
    'invites',
    'webhook_outbox',
  ];
  const texts = await Promise.all(
    tables.map(async (table) => {
      const { rows } = await api.stores.pool.query(
        `SELECT to_jsonb(t)::text AS row FROM ${table} t WHERE workspace_id = $1`,
        [shop.workspace.id],
      );
      return rows.map(({ row }) => `${table} ${row}`);
    }),
  );
  const { rows: history } = await api.stores.pool.query(
    `SELECT to_jsonb(c)::text AS row FROM enrollment_changes c JOIN enrollments e ON e.id = c.enrollment_id
     WHERE e.workspace_id = $1`,
    [shop.workspace.id],
  );
  return [...texts.flat(), ...history.map(({ row }) => row)].join('\n');
}

async function paidReferrer(shop: TestWorkspace, m: Merchant) {
  const made = await m.referral(PAID_AT_ONCE);
  await shop.patch(`/enrollments/${made.partner_id}`, { email: 'ann@home.example' });
  await shop.post('/referrals/payout-method', {
    external_user_id: 'r',
    method: 'paypal',
    email: 'ann@home.example',
  });
  await m.enroll('r', { name: 'Ann Other', device_id: 'device-of-ann' });
  await m.purchase('n', 'o1', 100);
  await m.purchase('n', 'o2', 100);
  const file = await m.exportPayouts();
  await m.pay(file.id);
  return { ...made, file };
}

describe('a referrer that is erased', () => {
  merchantTest(
    'is gone from every response, with no address anywhere; ids and amounts stay',
    async ({ api, shop, m }) => {
      const { partner_id, ref, file } = await paidReferrer(shop, m);
      const before = await storedTexts(api, shop);
      for (const text of ['ann@home.example', 'Ann Other', 'device-of-ann']) expect(before).toContain(text);
      expect((await shop.delete(`/enrollments/${partner_id}`)).body).toEqual({ ok: true });
      for (const path of [`/enrollments/${partner_id}`, `/enrollments/${partner_id}/history`]) {
        expect((await shop.get(path)).status).toBe(404);
      }
      expect((await shop.delete(`/enrollments/${partner_id}`)).status).toBe(404);
      expect((await shop.patch(`/enrollments/${partner_id}`, { status: 'approved' })).status).toBe(404);
      expect((await shop.get<{ enrollments: unknown[] }>('/enrollments')).body.enrollments).toEqual([]);
      expect(await storedTexts(api, shop)).not.toMatch(
        /home\.example|pay\.example|Ann Other|device-of-ann|r@mail/,
      );
      expect((await m.payout(file.id)).lines).toMatchObject([
        { partner_id, external_user_id: 'r', amount: 40, status: 'paid', payout_method: null },
      ]);
      // The link earns the user nothing: later purchases of referees and signups have no reward.
      expect((await m.purchase('n', 'o3', 100)).body).toMatchObject({ matched: true, rewarded: false });
      expect((await m.signup('n2', { ref_code: ref })).body).toEqual({ matched: false });
      // It is still a link, and redirects.
      const { rows } = await api.stores.pool.query('SELECT deleted_at FROM links WHERE slug = $1', [ref]);
      expect(rows).toEqual([{ deleted_at: null }]);
      // A payment may still bounce, and the amount stays.
      expect((await m.fail(file.id, partner_id)).status).toBe(200);
      expect((await m.exportPayouts()).lines).toEqual([]);
    },
  );

  merchantTest('may enroll again, under a new id', async ({ shop, m }) => {
    const { partner_id } = await paidReferrer(shop, m);
    await shop.delete(`/enrollments/${partner_id}`);
    const again = await m.enroll('r');
    expect(again.partner_id).not.toBe(partner_id);
    const { body } = await shop.get<EnrollmentHistory>(`/enrollments/${again.partner_id}/history`);
    expect(body.history).toMatchObject([{ field: 'status', from: null, to: 'approved' }]);
  });

  merchantTest('by a command too', async ({ api, shop, m }) => {
    const { partner_id } = await paidReferrer(shop, m);
    const cli = operator(api.stores);
    const names = ['--workspace', shop.workspace.id, '--external-user-id', 'r'];
    expect(await cli.json('enrollment', 'delete', ...names)).toEqual({ deleted: true, partner_id });
    expect((await shop.get(`/enrollments/${partner_id}`)).status).toBe(404);
    expect((await cli.run('enrollment', 'delete', ...names)).status).toBe(1);
  });
});

describe('a person that is erased by email', () => {
  merchantTest(
    'leaves visitors, referrers, signups, orders and members, in this workspace only',
    async ({ api, shop, m }) => {
      const { partner_id } = await paidReferrer(shop, m);
      await m.signup('buyer', { referrer_external_user_id: 'stranger', email: 'ann@home.example' });
      await m.enroll('s');
      await m.signup('ann-too', { referrer_external_user_id: 's', email: 'Ann@Home.example' });
      await m.purchase('ann-too', 'o9', 10, { email: 'ann@home.example' });
      const visitor = {
        workspaceId: shop.workspace.id,
        visitorId: uuidv7(),
        externalUserId: null,
        byServer: true,
        ts: 1,
      };
      await upsertIdentities(api.stores.pool, [{ ...visitor, email: 'ann@home.example' }]);
      await api.stores.pool.query(
        `INSERT INTO members (id, workspace_id, email, role) VALUES (gen_random_uuid(), $1, 'ann@home.example', 'analyst')`,
        [shop.workspace.id],
      );
      const elsewhere = await api.addWorkspace();
      await merchant(elsewhere).program();
      const other = await merchant(elsewhere).enroll('x', { email: 'ann@home.example' });
      const erased = await erasePerson(api.stores, {
        workspaceId: shop.workspace.id,
        email: ' ANN@home.example',
        now: new Date(),
      });
      expect(erased).toEqual({ deleted: 6, visitors: 1, enrollments: 1, signups: 2, orders: 1, members: 1 });
      expect((await shop.get(`/enrollments/${partner_id}`)).status).toBe(404);
      expect(await storedTexts(api, shop)).not.toMatch(/home\.example/i);
      expect(
        (await allQueuedEvents(api, shop)).filter(({ data }) =>
          JSON.stringify(data).includes('home.example'),
        ),
      ).toEqual([]);
      expect((await elsewhere.get(`/enrollments/${other.partner_id}`)).status).toBe(200);
      expect(
        await erasePerson(api.stores, {
          workspaceId: shop.workspace.id,
          email: 'ann@home.example',
          now: new Date(),
        }),
      ).toMatchObject({
        deleted: 0,
      });
    },
  );

  merchantTest('is found in every spelling of the email', async ({ api, shop, m }) => {
    await m.program();
    const spellings = [
      'Jürgen@Müller.example',
      'jürgen@xn--mller-kva.example',
      'JU\u0308RGEN@müller.exam\u200bple',
    ];
    for (const [nth, email] of spellings.entries()) await m.enroll(`by-email-${nth}`, { email });
    const { partner_id } = await m.enroll('by-address', { email: 'other@home.example' });
    const payout_method = { method: 'paypal', email: 'jürgen@MÜLLER.example' };
    await shop.patch(`/enrollments/${partner_id}`, { payout_method });
    await m.enroll('stranger', { email: 'jurgen@müller.example' });
    const email = 'jürgen@müller.example';
    const erased = await erasePerson(api.stores, { workspaceId: shop.workspace.id, email, now: new Date() });
    expect(erased.enrollments).toBe(4);
    const { body } = await shop.get<{ enrollments: { external_user_id: string }[] }>('/enrollments');
    expect(body.enrollments.map(({ external_user_id }) => external_user_id)).toEqual(['stranger']);
  });

  merchantTest('by a command that refuses what is no email', async ({ api, shop }) => {
    const cli = operator(api.stores);
    const workspace = ['--workspace', shop.workspace.id];
    expect(await cli.json('person', 'delete', ...workspace, '--email', 'nobody@home.example')).toMatchObject({
      deleted: 0,
    });
    await cli.refused(2, /email address/, 'person', 'delete', ...workspace, '--email', 'nobody');
  });
});
