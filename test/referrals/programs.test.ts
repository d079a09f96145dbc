import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ProgramRecord } from '../../api/programs/schemas.ts';
import { type TestApi, type TestWorkspace, testApi } from '../support/api.ts';
import { linkIdOf, merchant } from './support.ts';

let api: TestApi;
let shop: TestWorkspace;

beforeAll(async () => {
  api = await testApi();
});
beforeEach(async () => {
  shop = await api.addWorkspace();
});
afterAll(() => api.close());

const BODY = { name: 'Refer a friend', code: 'friends', destination_url: 'https://shop.example/join?plan=a' };
let codes = 0;
const freshCode = () => `prog-${++codes}`;

describe('a programme', () => {
  test('is made with defaults, read, listed newest first and changed', async () => {
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
        currency: 'usd',
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

  test('takes its currency from the workspace', async () => {
    const tokyo = await api.addWorkspace({ currency: 'jpy' });
    expect((await merchant(tokyo).program()).currency).toBe('jpy');
  });

  test('has a code that redirects as a link of its campaign, and follows changes', async () => {
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

  test('shares the slugs of links and pages, without regard to case', async () => {
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

  test('gets a generated code when none is given', async () => {
    const { code: _, ...body } = BODY;
    expect((await shop.post<ProgramRecord>('/programs', body)).body.code).toMatch(/^\w{7}$/);
  });

  test('is safe to retry', async () => {
    const options = { headers: { 'idempotency-key': 'programme' } };
    const body = { ...BODY, code: freshCode() };
    const first = await shop.post('/programs', body, options);
    const second = await shop.post('/programs', body, options);
    expect([second.status, second.body, second.headers['idempotent-replayed']]).toEqual([
      201,
      first.body,
      'true',
    ]);
  });

  test('needs a secret key and a paid plan, and stays in its workspace', async () => {
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

  test.each<[string, object]>([
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
  ])('with a wrong %s is 400: %j', async (path, fields) => {
    const answer = await shop.post('/programs', { ...BODY, code: freshCode(), ...fields });
    expect([answer.status, answer.body.error.details?.[0]?.path]).toEqual([400, path]);
  });

  test('keeps its currency once a commission was earned in it', async () => {
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
});

describe('a referral link', () => {
  test('is a short link of the campaign with ref=<slug>, and keeps it when its slug changes', async () => {
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
    // Visitors may still hold the old one.
    for (const code of [ref, `jane-${ref}`, ref.toUpperCase()]) {
      expect((await merchant(shop).signup(`n-${code}`, { ref_code: code })).body.matched).toBe(true);
    }
  });

  test('that was deleted is minted anew at the next call, and the old one still names its referrer', async () => {
    await merchant(shop).program();
    const first = await merchant(shop).enroll('r');
    await shop.delete(`/links/${await linkIdOf(api, first.ref)}`);
    const { referral_link } = await merchant(shop).stats('r');
    expect(referral_link).not.toBe(first.referral_link);
    expect((await merchant(shop).enroll('r')).referral_link).toBe(referral_link);
    expect((await merchant(shop).signup('n', { ref_code: first.ref })).body).toMatchObject({ matched: true });
  });

  test('takes no place under the cap of links', async () => {
    await merchant(shop).program();
    await merchant(shop).enroll('r');
    const { body } = await shop.get<{ plan: { limits: { links: { used: number } } } }>('/me');
    expect(body.plan.limits.links.used).toBe(0);
  });
});
