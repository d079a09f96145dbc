import { describe, expect } from 'vitest';
import type { ProgramRecord } from '../../api/referrals/programs/schemas.ts';
import { programHasCommissions } from '../../sql/referrals/programs.ts';
import { recordPurchase } from '../../sql/transactions/record-purchase.ts';
import type { TestApi } from '../support/api.ts';
import { apiTest as test } from '../support/fixtures.ts';
import { heldTransaction } from '../support/held-transaction.ts';
import { linkIdOf, merchant } from './support.ts';

const BODY = { name: 'Refer a friend', code: 'friends', destination_url: 'https://shop.example/join?plan=a' };
let codes = 0;
const freshCode = () => `prog-${++codes}`;

describe('a program', () => {
  test('is created with defaults, read, listed newest first and changed', async ({ shop }) => {
    const code = freshCode();
    const made = await shop.post<ProgramRecord>('/programs', { ...BODY, code });
    expect([made.status, made.body]).toEqual([
      201,
      {
        id: expect.any(String),
        name: 'Refer a friend',
        code,
        destination_url: 'https://shop.example/join?plan=a',
        status: 'active',
        credit_enabled: false,
        credit_kind: 'credits',
        signup_credit: { free: 0, paid: 0 },
        purchase_credit: 0,
        referee_credit: 0,
        commission_type: 'percent',
        commission_rate: 0,
        first_sale_only: false,
        commission_months: null,
        hold_days: 30,
        levels: [],
        allow_affiliate_upgrade: false,
        payout_methods: ['paypal'],
        min_payout: 0,
        revoke_credits_on_refund: true,
        currency: 'usd',
        signups_from: 'any',
        max_signups_per_day: null,
        review: 'none',
        link_parameters: ['ref', 'via'],
        portal: {
          is_open: false,
          review: 'manual',
          welcome_text: null,
          terms_url: null,
          terms_text: null,
          terms_version: null,
          deep_links: false,
          fields: [],
        },
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    ]);
    const second = await merchant(shop).program();
    const list = await shop.get<{ programs: ProgramRecord[] }>('/programs');
    expect(list.body.programs.map(({ id }) => id)).toEqual([second.id, made.body.id]);
    const change = {
      name: 'Bring one',
      status: 'paused',
      destination_url: 'https://shop.example/new',
      credit_enabled: true,
      credit_kind: 'tokens',
      signup_credit: { paid: 10.5 },
      purchase_credit: 3,
      referee_credit: 0.25,
      commission_type: 'flat',
      commission_rate: 12.5,
      first_sale_only: true,
      commission_months: 12,
      hold_days: 0,
      levels: [5, 2.5],
      allow_affiliate_upgrade: true,
      payout_methods: ['wise', 'paypal'],
      min_payout: 25,
      currency: 'EUR',
    };
    const changed = await shop.patch<ProgramRecord>(`/programs/${made.body.id}`, change);
    expect([changed.status, changed.body]).toEqual([
      200,
      {
        ...made.body,
        ...change,
        currency: 'eur',
        signup_credit: { free: 0, paid: 10.5 },
        updated_at: expect.any(String),
      },
    ]);
    expect((await shop.get(`/programs/${made.body.id}`)).body).toEqual(changed.body);
    const cleared = await shop.patch<ProgramRecord>(`/programs/${made.body.id}`, { commission_months: null });
    expect(cleared.body.commission_months).toBeNull();
  });

  test('takes its currency from the workspace', async ({ api }) => {
    const tokyo = await api.addWorkspace({ currency: 'jpy' });
    expect((await merchant(tokyo).program()).currency).toBe('jpy');
  });

  test('has a code that redirects as a link of its campaign, and follows changes', async ({ shop }) => {
    const { id, code } = await merchant(shop).program();
    type Records = { links: { id: string; slug: string; destination: string; channel: string }[] };
    const { body } = await shop.get<Records>('/links?view=records');
    expect(body.links).toMatchObject([
      { id, slug: code, destination: 'https://shop.example/join', channel: 'referral' },
    ]);
    const next = freshCode();
    await shop.patch(`/programs/${id}`, { code: next, destination_url: 'https://shop.example/two' });
    expect((await shop.get<Records>('/links?view=records')).body.links).toMatchObject([
      { id, slug: next, destination: 'https://shop.example/two' },
    ]);
    const taken = await shop.post('/programs', { ...BODY, code: code.toUpperCase() });
    expect([taken.status, taken.body.error.code]).toEqual([409, 'conflict']);
  });

  test('shares the namespace of link and page slugs, case-insensitively', async ({ shop }) => {
    const slug = freshCode();
    await shop.post('/links', { destination_url: 'https://shop.example', name: 'N', smart: true, slug });
    expect((await shop.post('/programs', { ...BODY, code: slug.toUpperCase() })).status).toBe(409);
    const { code } = await merchant(shop).program({ code: freshCode() });
    const link = {
      destination_url: 'https://shop.example',
      name: 'N',
      smart: true,
      slug: code.toUpperCase(),
    };
    expect((await shop.post('/links', link)).status).toBe(409);
    const { id } = await merchant(shop).program({ code: freshCode() });
    expect((await shop.patch(`/programs/${id}`, { code })).status).toBe(409);
    expect((await shop.patch(`/programs/${id}`, { code: 'Console' })).status).toBe(400);
  });

  test('gets a generated code when none is given', async ({ shop }) => {
    const { code: _, ...body } = BODY;
    expect((await shop.post<ProgramRecord>('/programs', body)).body.code).toMatch(/^\w{7}$/);
  });

  test('is safe to retry', async ({ shop }) => {
    const options = { headers: { 'idempotency-key': 'program' } };
    const body = { ...BODY, code: freshCode() };
    const first = await shop.post('/programs', body, options);
    const second = await shop.post('/programs', body, options);
    expect([second.status, second.body, second.headers['idempotent-replayed']]).toEqual([
      201,
      first.body,
      'true',
    ]);
  });

  test('requires a secret key and a paid plan, and stays in its workspace', async ({ api, shop }) => {
    const { id } = await merchant(shop).program();
    const other = await api.addWorkspace();
    expect((await other.get(`/programs/${id}`)).status).toBe(404);
    expect((await other.patch(`/programs/${id}`, { name: 'mine' })).status).toBe(404);
    expect((await other.get<{ programs: [] }>('/programs')).body.programs).toEqual([]);
    expect((await shop.get('/programs', { key: shop.publishableKey })).status).toBe(403);
    const free = await api.addWorkspace({ plan: 'free' });
    expect((await free.post('/programs', { ...BODY, code: freshCode() })).status).toBe(402);
    expect((await free.get('/programs')).status).toBe(402);
  });

  test.for<[string, object]>([
    ['name', { name: '' }],
    ['name', { name: undefined }],
    ['code', { code: 'ab' }],
    ['code', { code: 'with space' }],
    ['code', { code: 'support' }],
    ['destination_url', { destination_url: 'http://shop.example' }],
    ['destination_url', { destination_url: 'javascript:alert(1)' }],
    ['destination_url', { destination_url: 'https://hop.example/x' }],
    ['destination_url', { destination_url: 'https://shop.example/?ref=me' }],
    ['destination_url', { destination_url: 'https://shop.example/?_vid=me' }],
    ['status', { status: 'ended' }],
    ['signup_credit.free', { signup_credit: { free: -1 } }],
    ['signup_credit.paid', { signup_credit: { paid: 1.005 } }],
    ['purchase_credit', { purchase_credit: '5' }],
    ['referee_credit', { referee_credit: 0.001 }],
    ['commission_type', { commission_type: 'tiered' }],
    ['commission_rate', { commission_rate: 100.5 }],
    ['commission_rate', { commission_type: 'flat', commission_rate: 1.005 }],
    ['commission_rate', { commission_rate: -1 }],
    ['levels.1', { levels: [1, 101] }],
    ['levels.0', { commission_type: 'flat', currency: 'jpy', levels: [0.5] }],
    ['commission_months', { commission_months: 0 }],
    ['hold_days', { hold_days: -1 }],
    ['hold_days', { hold_days: 1.5 }],
    ['payout_methods.0', { payout_methods: ['bank'] }],
    ['payout_methods', { payout_methods: ['wise', 'wise'] }],
    ['min_payout', { min_payout: 0.001 }],
    ['currency', { currency: 'zzz' }],
    ['link_parameters.0', { link_parameters: ['_vid'] }],
    ['link_parameters.1', { link_parameters: ['ref', 'a b'] }],
    ['link_parameters', { link_parameters: ['via', 'via'] }],
  ])('with a wrong %s returns 400: %j', async ([path, fields], { shop }) => {
    const answer = await shop.post('/programs', { ...BODY, code: freshCode(), ...fields });
    expect([answer.status, answer.body.error.details?.[0]?.path]).toEqual([400, path]);
  });

  test('keeps its currency once a commission was earned in it', async ({ shop }) => {
    const { program, enroll, signup, purchase } = merchant(shop);
    const { id } = await program({ commission_rate: 10, min_payout: 12.5 });
    expect((await shop.patch(`/programs/${id}`, { currency: 'jpy' })).status).toBe(400);
    expect((await shop.patch<ProgramRecord>(`/programs/${id}`, { currency: 'kwd' })).body.min_payout).toBe(
      12.5,
    );
    await shop.patch(`/programs/${id}`, { currency: 'usd' });
    const { ref } = await enroll('r');
    await signup('n', { ref_code: ref });
    await purchase('n', 'o1', 10);
    expect((await shop.patch(`/programs/${id}`, { currency: 'eur' })).status).toBe(409);
  });

  describe('whose currency changes while a purchase is qualified', () => {
    let id: string;
    test.beforeEach(async ({ shop }) => {
      const { program, enroll, signup, address } = merchant(shop);
      id = (await program({ commission_rate: 10, hold_days: 0 })).id;
      const { ref, partner_id } = await enroll('r');
      await address(partner_id, 'r');
      await signup('n', { ref_code: ref });
    });

    /** Resolves once the call has a response or waits for a lock. */
    async function respondedOrWaiting(api: TestApi, call: Promise<unknown>): Promise<void> {
      let isAnswered = false;
      void call.then(() => {
        isAnswered = true;
      });
      const isWaiting = async () => {
        const { rows } = await api.stores.pool.query(
          `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return rows.length > 0;
      };
      await expect.poll(async () => isAnswered || (await isWaiting())).toBe(true);
    }

    test('keeps its currency when the purchase was first, and the commission can be paid out', async ({
      api,
      shop,
    }) => {
      const change = await heldTransaction(api.stores.pool, async (tx) => {
        const now = new Date();
        const report = {
          orderId: 'o1',
          externalUserId: 'n',
          email: null,
          isRenewal: false,
          purchasedAt: now,
        };
        await recordPurchase(
          tx,
          shop.workspace,
          { ...report, amountMinor: 1_000, commissionableMinor: 1_000, currency: 'usd' },
          now,
        );
        // Nothing else waits for purchases.
        expect((await shop.patch(`/programs/${id}`, { commission_rate: 5 })).status).toBe(200);
        const answer = shop.patch(`/programs/${id}`, { currency: 'eur' });
        await respondedOrWaiting(api, answer);
        return { answer };
      });
      expect((await change.answer).status).toBe(409);
      expect((await shop.get('/payouts/export')).text).toContain(',1.00,usd,');
    });

    test('gives the purchase the new currency when the change was first', async ({ api, shop }) => {
      const purchase = await heldTransaction(api.stores.pool, async (tx) => {
        expect(await programHasCommissions(tx, id)).toBe(false);
        await tx.query(`UPDATE programs SET currency = 'eur' WHERE id = $1`, [id]);
        const answer = merchant(shop).purchase('n', 'o1', 10, { currency: 'eur' });
        await respondedOrWaiting(api, answer);
        return { answer };
      });
      expect((await purchase.answer).body.rewarded).toBe(true);
      expect((await shop.get('/payouts/export')).text).toContain(',1.00,eur,');
    });
  });
});

describe('the link of a program', () => {
  const NO_REF = 'https://shop.example/?ref=zz';

  test("changes the program's code with its slug, by the rules of codes", async ({ shop }) => {
    const { id, code } = await merchant(shop).program();
    const slug = freshCode();
    expect((await shop.patch(`/links/${id}`, { slug })).status).toBe(200);
    expect((await shop.get<ProgramRecord>(`/programs/${id}`)).body.code).toBe(slug);
    for (const wrong of ['ab', 'x'.repeat(41)]) {
      const refused = await shop.patch(`/links/${id}`, { slug: wrong });
      expect([refused.status, refused.body.error.details?.[0]?.path]).toEqual([400, 'slug']);
    }
    expect((await shop.patch<ProgramRecord>(`/programs/${id}`, { code })).body.code).toBe(code);
    expect((await shop.get<{ slug: string }>(`/links/${id}`)).body.slug).toBe(code);
  });

  test('can not be deleted: the error names the program', async ({ api, shop }) => {
    const { id } = await merchant(shop).program({ name: 'Bring one' });
    const refused = await shop.delete(`/links/${id}`);
    expect([refused.status, refused.body.error.code]).toEqual([409, 'conflict']);
    expect(refused.body.error.message).toContain('Bring one');
    expect((await shop.get(`/links/${id}`)).status).toBe(200);
    expect((await (await api.addWorkspace()).delete(`/links/${id}`)).status).toBe(404);
  });

  test('that was deleted when that was possible gets a new code', async ({ api, shop }) => {
    const { id, code } = await merchant(shop).program();
    const lost = async () => {
      await shop.patch(`/links/${id}`, { external_id: 'e' });
      await api.stores.pool.query('UPDATE links SET deleted_at = now() WHERE id = $1', [id]);
      expect((await shop.delete(`/links/${id}`)).status).toBe(404);
    };
    await lost();
    const other = { destination_url: 'https://shop.example', name: 'N', smart: true, external_id: 'e' };
    expect((await shop.post('/links', other)).status).toBe(201);
    for (const next of [freshCode(), code]) {
      await shop.patch(`/programs/${id}`, { code: next });
      type Link = { slug: string; external_id: string | null };
      const link = await shop.get<Link>(`/links/${id}`);
      expect([link.status, link.body]).toMatchObject([200, { slug: next, external_id: null }]);
    }
  });

  test('and those of its referrers redirect to no destination with a ref of its own', async ({
    api,
    shop,
  }) => {
    const { id } = await merchant(shop).program();
    const { ref } = await merchant(shop).enroll('r');
    for (const link of [id, await linkIdOf(api, ref)]) {
      for (const [path, change] of [
        ['destination_url', { destination_url: NO_REF }],
        ['destination_url', { destination_url: 'https://shop.example/?_vid=zz' }],
        ['targeting.mobile', { targeting: { mobile: NO_REF } }],
        ['targeting.desktop', { targeting: { desktop: NO_REF } }],
      ] as const) {
        const refused = await shop.patch(`/links/${link}`, change);
        expect([refused.status, refused.body.error.details?.[0]?.path]).toEqual([400, path]);
      }
      const destination_url = `https://shop.example/${link}`;
      expect((await shop.patch(`/links/${link}`, { destination_url })).status).toBe(200);
      expect((await shop.get<ProgramRecord>(`/programs/${id}`)).body).toMatchObject({ destination_url });
    }
  });

  test('and the program can be changed at the same time without a deadlock', async ({ shop }) => {
    const { id } = await merchant(shop).program();
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        n % 2 === 0
          ? shop.patch(`/links/${id}`, { slug: freshCode(), name: `L${n}` })
          : shop.patch(`/programs/${id}`, { code: freshCode(), name: `P${n}` }),
      ),
    );
    expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(200));
    const { body } = await shop.get<{ slug: string }>(`/links/${id}`);
    expect((await shop.get<ProgramRecord>(`/programs/${id}`)).body.code).toBe(body.slug);
  });
});

describe('a referral link', () => {
  test('is a short link of the campaign with ref=<slug>, and keeps it when its slug changes', async ({
    api,
    shop,
  }) => {
    await merchant(shop).program();
    const { ref, referral_link } = await merchant(shop).enroll('r');
    expect(referral_link).toBe(`https://hop.example/${ref}`);
    const id = await linkIdOf(api, ref);
    const stored = async () =>
      (await api.stores.pool.query('SELECT slug, channel, extra_query FROM links WHERE id = $1', [id]))
        .rows[0];
    expect(await stored()).toEqual({ slug: ref, channel: 'referral', extra_query: `ref=${ref}` });
    await shop.patch(`/links/${id}`, { slug: `jane-${ref}` });
    expect(await stored()).toMatchObject({ slug: `jane-${ref}`, extra_query: `ref=jane-${ref}` });
    expect((await merchant(shop).enroll('r')).ref).toBe(`jane-${ref}`);
    // Visitors may still have the old one.
    for (const code of [ref, `jane-${ref}`, ref.toUpperCase()]) {
      expect((await merchant(shop).signup(`n-${code}`, { ref_code: code })).body.matched).toBe(true);
    }
  });

  test('that was deleted is created again at the next call, and the old one still names its referrer', async ({
    api,
    shop,
  }) => {
    await merchant(shop).program();
    const first = await merchant(shop).enroll('r');
    await shop.delete(`/links/${await linkIdOf(api, first.ref)}`);
    const { referral_link } = await merchant(shop).stats('r');
    expect(referral_link).not.toBe(first.referral_link);
    expect((await merchant(shop).enroll('r')).referral_link).toBe(referral_link);
    expect((await merchant(shop).signup('n', { ref_code: first.ref })).body).toMatchObject({ matched: true });
  });

  test('does not count toward the limit of links', async ({ shop }) => {
    await merchant(shop).program();
    await merchant(shop).enroll('r');
    const { body } = await shop.get<{ plan: { limits: { links: { used: number } } } }>('/me');
    expect(body.plan.limits.links.used).toBe(0);
  });
});
