import { expect } from 'vitest';
import { merchant, PAID_AT_ONCE } from '../../../test/referrals/support.ts';
import { apiTest as it } from '../../../test/support/fixtures.ts';
import { signedInAs } from '../../../test/support/members.ts';

type Preview = { url: string; expires_at: string };

it('a preview shows a referrer’s own statistics, changes nothing, and is audited', async ({ api, shop }) => {
  const m = merchant(shop);
  const { partner_id } = await m.referral(PAID_AT_ONCE);
  await m.mode('r', 'affiliate');
  await m.purchase('n', 'o-1', 100);
  const owner = await signedInAs(api, shop, 'owner');
  const { status, body } = await owner.call<Preview>('POST', `/enrollments/${partner_id}/preview`);
  expect(status).toBe(201);
  const { pathname, search, hash } = new URL(body.url);
  expect([pathname, search]).toEqual(['/embed/referrals', '?preview=1']);
  const key = hash.slice(1);
  const read = (given: string) => shop.get<object>('/referrals/preview?days=30', { key: given });
  const seen = await read(key);
  const own = await shop.get<object>('/referrals/stats?external_user_id=r&days=30');
  const { window: _, ...figures } = own.body as { window: object };
  expect([seen.status, seen.body], seen.text).toEqual([200, expect.objectContaining(figures)]);
  expect(seen.headers['cache-control']).toBe('no-store');

  const refused = [
    await shop.post('/referrals/reward-mode', { external_user_id: 'r', mode: 'referrer' }, { key }),
    await shop.get('/enrollments', { key }),
    await shop.get('/referrals/stats?external_user_id=r', { key }),
  ];
  expect(refused.map((one) => one.status)).toEqual([401, 401, 401]);
  const [entry] = (
    await owner.call<{ entries: { action: string; target: object }[] }>(
      'GET',
      '/audit-log?action=enrollment.preview',
    )
  ).body.entries;
  expect(entry).toMatchObject({
    action: 'enrollment.preview',
    target: { type: 'enrollment', id: partner_id },
  });
});

it('a token that is changed, has ended, or whose referrer is erased shows nothing', async ({ api, shop }) => {
  const m = merchant(shop);
  const { partner_id } = await m.referral(PAID_AT_ONCE);
  const other = await m.enroll('other');
  const owner = await signedInAs(api, shop, 'owner');
  const { body } = await owner.call<Preview>('POST', `/enrollments/${partner_id}/preview`);
  const token = new URL(body.url).hash.slice(1);
  const statusOf = async (key: string | null) => (await shop.get('/referrals/preview', { key })).status;
  const [, workspaceId, id, ends = '', signature] = /^pv_(.{36})_(.{36})_(\d+)_(.{43})$/.exec(token) ?? [];
  const forged = (partner: unknown, end: string) => `pv_${workspaceId}_${partner}_${end}_${signature}`;
  expect(await statusOf(forged(id, ends))).toBe(200);
  for (const wrong of [
    forged(other.partner_id, ends),
    forged(id, String(Number(ends) + 1)),
    forged(id, '1'),
    shop.secretKey,
    null,
  ]) {
    expect([wrong, await statusOf(wrong)]).toEqual([wrong, 404]);
  }
  await shop.delete(`/enrollments/${partner_id}`);
  expect(await statusOf(token)).toBe(404);
});

it('members who may not change referrers open no preview', async ({ api, shop }) => {
  const { partner_id } = await merchant(shop).referral(PAID_AT_ONCE);
  const analyst = await signedInAs(api, shop, 'analyst');
  expect((await analyst.call('POST', `/enrollments/${partner_id}/preview`)).status).toBe(403);
  const owner = await signedInAs(api, shop, 'owner');
  expect((await owner.call('POST', `/enrollments/${crypto.randomUUID()}/preview`)).status).toBe(404);
});
