import { describe, expect } from 'vitest';
import type { Answer } from '../support/api.ts';
import { apiTest } from '../support/fixtures.ts';
import { roomInUtcDay } from '../support/utc-day.ts';
import { countRows, type Enrolled, linkIdOf, merchant, storeClicks } from './support.ts';

const BODY = { email: 'r@mail.example', external_user_id: 'r', tier: 'free' };

describe('enroll', () => {
  apiTest('returns partner, program, link and status, and is idempotent', async ({ shop }) => {
    const { id } = await merchant(shop).program();
    const first = await shop.post<Enrolled>('/referrals/enroll', BODY);
    expect([first.status, first.body]).toEqual([
      200,
      {
        partner_id: expect.any(String),
        program_id: id,
        referral_link: expect.stringMatching(/^https:\/\/hop\.example\/\w{7}$/),
        status: 'approved',
      },
    ]);
    const again = await shop.post('/referrals/enroll', {
      ...BODY,
      email: 'other@mail.example',
      tier: 'paid',
    });
    expect(again.body).toEqual(first.body);
    const byBrowser = await shop.post('/referrals/enroll', BODY, { key: shop.publishableKey });
    expect(byBrowser.body).toEqual(first.body);
  });

  apiTest('stores an address without surrounding white space', async ({ api, shop }) => {
    const { program, enroll, stats } = merchant(shop);
    await program();
    await enroll('a', { email: ' A@mail.example\n' });
    await stats('b', '&email=%20b@mail.example');
    const { rows } = await api.stores.pool.query(
      'SELECT email FROM enrollments WHERE workspace_id = $1 ORDER BY external_user_id',
      [shop.workspace.id],
    );
    expect(rows).toEqual([{ email: 'A@mail.example' }, { email: 'b@mail.example' }]);
  });

  apiTest('uses the most recent program, and keeps a user in the first one', async ({ shop }) => {
    const old = await merchant(shop).program();
    const recent = await merchant(shop).program();
    expect((await merchant(shop).enroll('a')).program_id).toBe(recent.id);
    expect((await merchant(shop).enroll('b', { program_id: old.id })).program_id).toBe(old.id);
    expect((await merchant(shop).enroll('b', { program_id: recent.id })).program_id).toBe(old.id);
    expect((await merchant(shop).stats('b', `&program_id=${recent.id}`)).program_id).toBe(old.id);
    await shop.patch(`/programs/${recent.id}`, { status: 'paused' });
    expect((await merchant(shop).enroll('c')).program_id).toBe(recent.id);
    expect((await merchant(shop).stats('d')).program_id).toBe(recent.id);
  });

  apiTest('without a program, or with a program of another workspace, returns 404', async ({ api, shop }) => {
    expect((await shop.post('/referrals/enroll', BODY)).status).toBe(404);
    const other = await merchant(await api.addWorkspace()).program();
    await merchant(shop).program();
    expect((await shop.post('/referrals/enroll', { ...BODY, program_id: other.id })).status).toBe(404);
    expect((await shop.get(`/referrals/stats?external_user_id=r&program_id=${other.id}`)).status).toBe(404);
  });

  apiTest.for<[string, object]>([
    ['email', { email: undefined }],
    ['email', { email: 'nobody' }],
    ['external_user_id', { external_user_id: undefined }],
    ['external_user_id', { external_user_id: '' }],
    ['external_user_id', { external_user_id: 'x'.repeat(201) }],
    ['tier', { tier: undefined }],
    ['tier', { tier: 'gold' }],
    ['program_id', { program_id: 'latest' }],
    ['device_id', { device_id: '' }],
  ])('with a wrong %s returns 400: %j', async ([path, fields], { shop }) => {
    await merchant(shop).program();
    const response = await shop.post('/referrals/enroll', { ...BODY, ...fields });
    expect([response.status, response.body.error.details?.[0]?.path]).toEqual([400, path]);
  });

  apiTest('requires a paid plan', async ({ api }) => {
    const free = await api.addWorkspace({ plan: 'free' });
    expect((await free.post('/referrals/enroll', BODY)).status).toBe(402);
    expect((await free.get('/referrals/stats?external_user_id=r')).status).toBe(402);
    expect((await free.post('/referrals/report-signup', { new_user_external_user_id: 'n' })).status).toBe(
      402,
    );
  });

  apiTest('called fifty times at once creates one enrollment with one link', async ({ api, shop }) => {
    await merchant(shop).program();
    const responses = await Promise.all(
      Array.from({ length: 50 }, () => shop.post('/referrals/enroll', BODY)),
    );
    expect(new Set(responses.map((response) => response.text)).size).toBe(1);
    expect(responses.every((response) => response.status === 200)).toBe(true);
    expect(await countRows(api, shop, 'enrollments')).toBe(1);
    expect(await countRows(api, shop, 'links')).toBe(2); // the code's and the referrer's
  });

  apiTest('of different users at once gives each their own', async ({ shop }) => {
    await merchant(shop).program();
    const made = await Promise.all(Array.from({ length: 40 }, (_, n) => merchant(shop).enroll(`u${n}`)));
    expect(new Set(made.map((one) => one.referral_link)).size).toBe(40);
    expect(new Set(made.map((one) => one.partner_id)).size).toBe(40);
  });

  apiTest(
    'a tier set by a server changes what later signups earn; one set by a browser does not',
    async ({ shop }) => {
      const m = merchant(shop);
      await m.program({ credit_enabled: true, signup_credit: { free: 5, paid: 10 } });
      const { ref } = await m.enroll('r');
      await m.signup('n1', { ref_code: ref });
      await m.enroll('r', { tier: 'paid' }, shop.publishableKey);
      await m.stats('r', '&tier=paid');
      await m.signup('n2', { ref_code: ref });
      await m.enroll('r', { tier: 'paid' });
      await m.signup('n3', { ref_code: ref });
      const { grants } = await m.credits('external_user_id=r');
      expect(grants.map((grant) => grant.amount)).toEqual([10, 5, 5]);
    },
  );
});

describe('stats', () => {
  apiTest('enrolls a user who is not a referrer yet, as enroll does', async ({ shop }) => {
    const { id } = await merchant(shop).program();
    const response = await shop.get('/referrals/stats?external_user_id=r&email=r%40mail.example&tier=paid', {
      key: shop.publishableKey,
    });
    expect(response.body).toMatchObject({ program_id: id, status: 'approved', reward_mode: 'affiliate' });
    const stats = await merchant(shop).stats('r');
    expect(stats.partner_id).toBe((await merchant(shop).enroll('r')).partner_id);
  });

  apiTest(
    'creates one enrollment when called fifty times at once for the first time',
    async ({ api, shop }) => {
      await merchant(shop).program();
      /** A loaded machine lets some wait past the limit of concurrent reports, and says so. */
      const stats = async (): Promise<Answer<Enrolled>> => {
        const response = await shop.get<Enrolled>('/referrals/stats?external_user_id=r');
        return response.status === 503 ? stats() : response;
      };
      const responses = await Promise.all(Array.from({ length: 50 }, stats));
      expect(new Set(responses.map((response) => response.body.referral_link)).size).toBe(1);
      expect(responses.every((response) => response.status === 200)).toBe(true);
      expect(await countRows(api, shop, 'enrollments')).toBe(1);
      expect(await countRows(api, shop, 'links')).toBe(2); // the code's and the referrer's
    },
  );

  apiTest('has every documented field', async ({ shop }) => {
    const { id } = await merchant(shop).program({ min_payout: 50, payout_methods: ['wise'] });
    const { partner_id, referral_link } = await merchant(shop).enroll('r');
    const stats = await merchant(shop).stats('r');
    expect(stats).toEqual({
      partner_id,
      program_id: id,
      status: 'approved',
      referral_link,
      coupons: [],
      window: { from: expect.stringMatching(/T00:00:00\.000Z$/), to: expect.any(String), days: 30 },
      stats: { clicks: 0, signups: 0, purchases: 0, conversion_rate: 0 },
      rewards: { cash: { currency: 'usd', pending: 0, paid: 0, total: 0 }, credits: {} },
      series: expect.any(Array),
      reward_mode: 'affiliate',
      terms: { commission: null, credits: null },
      affiliate: {
        allowed: false,
        credit_enabled: false,
        min_payout: 50,
        payout_methods: ['wise'],
        payout_method: null,
        payout_held_until: null,
        balance: { pending: 0, eligible: 0, paid: 0 },
        recent_commissions: [],
        payouts: [],
      },
    });
  });

  apiTest(
    'has the terms that the referrer has, and when a pending commission is eligible',
    async ({ shop }) => {
      const m = merchant(shop);
      await m.program({ commission_rate: 20, commission_months: 12, hold_days: 30 });
      const { partner_id, ref } = await m.enroll('r');
      const terms = async () => (await m.stats('r')).terms;
      const commission = { type: 'percent', rate: 20, first_sale_only: false, months: 12, hold_days: 30 };
      expect(await terms()).toEqual({ commission, credits: null });
      await m.signup('n', { ref_code: ref });
      await m.purchase('n', 'o', 100);
      const [pending] = (await m.stats('r')).affiliate.recent_commissions;
      const days = (Date.parse(pending?.held_until ?? '') - Date.parse(pending?.date ?? '')) / 86_400_000;
      expect([pending?.status, Math.round(days)]).toEqual(['pending', 30]);
      await shop.patch(`/enrollments/${partner_id}`, { commission_type: 'flat', commission_rate: 7 });
      expect(await terms()).toEqual({ commission: { ...commission, type: 'flat', rate: 7 }, credits: null });
    },
  );

  apiTest('offers the affiliate option where the program allows it and has credits', async ({ shop }) => {
    const cases = [
      [true, true, true],
      [true, false, false],
      [false, true, false],
    ] as const;
    for (const [credit, allow, allowed] of cases) {
      const { id } = await merchant(shop).program({ credit_enabled: credit, allow_affiliate_upgrade: allow });
      const stats = await merchant(shop).stats(`${credit}-${allow}`, `&program_id=${id}`);
      expect(stats.affiliate).toMatchObject({ allowed, credit_enabled: credit });
    }
  });

  apiTest('has one entry per UTC day, whose sums are the stats of the period', async ({ api, shop }) => {
    await roomInUtcDay();
    const m = merchant(shop);
    await m.program({ commission_rate: 10 });
    const { ref } = await m.enroll('r');
    const linkId = await linkIdOf(api, ref);
    const day = 86_400_000;
    const today = Math.floor(Date.now() / day) * day;
    const at = (daysAgo: number) => new Date(today - daysAgo * day);
    const clicks = { workspaceId: shop.workspace.id, linkId };
    await storeClicks(api, { ...clicks, at: at(0), count: 3 });
    await storeClicks(api, { ...clicks, at: at(6), count: 4 });
    await storeClicks(api, { ...clicks, at: new Date(at(6).getTime() - 1), count: 1 });
    await storeClicks(api, { ...clicks, at: at(2), count: 5, isBot: true });
    await storeClicks(api, { ...clicks, linkId: crypto.randomUUID(), at: at(2), count: 5 });
    await m.signup('n', { ref_code: ref });
    await m.purchase('n', 'o1', 10);
    await m.purchase('n', 'o2', 10, { purchased_at: at(5).toISOString() });
    await m.purchase('n', 'o3', 10, { purchased_at: at(8).toISOString() });
    const week = await m.stats('r', '&days=7');
    expect(week.window).toMatchObject({ from: at(6).toISOString(), days: 7 });
    expect(week.series).toHaveLength(7);
    expect(week.series.map((entry) => entry.day)).toEqual(
      [6, 5, 4, 3, 2, 1, 0].map((ago) => at(ago).toISOString().slice(0, 10)),
    );
    expect(week.series[0]).toMatchObject({ clicks: 4, signups: 0, purchases: 0 });
    expect(week.series[1]).toMatchObject({ clicks: 0, signups: 0, purchases: 1 });
    expect(week.series[6]).toMatchObject({ clicks: 3, signups: 1, purchases: 1 });
    expect(week.stats).toEqual({ clicks: 7, signups: 1, purchases: 2, conversion_rate: 2 / 7 });
    const quarter = await m.stats('r', '&days=90');
    expect(quarter.series).toHaveLength(90);
    expect(quarter.stats).toEqual({ clicks: 8, signups: 1, purchases: 3, conversion_rate: 3 / 8 });
    expect((await m.stats('r')).window.days).toBe(30);
  });

  apiTest('never reports a conversion rate above one', async ({ api, shop }) => {
    const m = merchant(shop);
    await m.program({ commission_rate: 10 });
    const { ref } = await m.enroll('r');
    await storeClicks(api, {
      workspaceId: shop.workspace.id,
      linkId: await linkIdOf(api, ref),
      at: new Date(Date.now() - 1000),
    });
    await m.signup('n', { ref_code: ref });
    for (const order of ['a', 'b', 'c']) await m.purchase('n', order, 1);
    expect((await m.stats('r')).stats).toMatchObject({ clicks: 1, purchases: 3, conversion_rate: 1 });
  });

  apiTest.for(['days=6', 'days=91', 'days=7.5', 'days=x', 'tier=gold', 'email=nobody', 'program_id=x'])(
    '?%s returns 400',
    async (query, { shop }) => {
      await merchant(shop).program();
      expect((await shop.get(`/referrals/stats?external_user_id=r&${query}`)).status).toBe(400);
    },
  );

  apiTest('without external_user_id returns 400', async ({ shop }) => {
    expect((await shop.get('/referrals/stats')).status).toBe(400);
    expect((await shop.get('/referrals/stats?external_user_id=')).status).toBe(400);
  });
});
