import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ErrorBody, type TestApi, type TestWorkspace, testApi } from '../support/api.ts';
import {
  countRows,
  linkIdOf,
  type Merchant,
  merchant,
  queuedEvents,
  type SignupAnswer,
  storeClicks,
} from './support.ts';

let api: TestApi;
let shop: TestWorkspace;
let m: Merchant;

/** Every query to ClickHouse waits for this. */
let store: () => Promise<void>;

beforeAll(async () => {
  api = await testApi(({ clickhouse }) => {
    const rows: typeof clickhouse.queries.rows = async (question) => {
      await store();
      return clickhouse.queries.rows(question);
    };
    return {
      clickhouse: { ...clickhouse, queries: { ...clickhouse.queries, rows } } as typeof clickhouse,
    };
  });
});
beforeEach(async () => {
  store = async () => undefined;
  await api.stores.pool.query('DELETE FROM ingest_streams');
  shop = await api.addWorkspace();
  m = merchant(shop);
});
afterAll(() => api.close());

const CREDITS = { credit_enabled: true, signup_credit: { free: 5, paid: 10 }, referee_credit: 3 };

/** A click of a visitor on a referrer's link, visible at once. */
async function click(ref: string, visitorId: string, ago = 1_000): Promise<void> {
  const linkId = await linkIdOf(api, ref);
  await storeClicks(api, {
    workspaceId: shop.workspace.id,
    linkId,
    visitorId,
    at: new Date(Date.now() - ago),
  });
}

describe('report-signup', () => {
  test('matches by ref_code and returns exactly the documented fields', async () => {
    await m.program(CREDITS);
    const { ref, partner_id, program_id } = await m.enroll('r');
    const response = await m.signup('n', { ref_code: ref, email: 'n@mail.example' });
    expect([response.status, response.body]).toEqual([
      200,
      { matched: true, program_id, partner_id, blocked: false, block_reason: null },
    ]);
  });

  test('with no matching referrer returns 200 { matched: false }; only a server leaves that it is so', async () => {
    await m.program(CREDITS);
    for (const fields of [
      {},
      { ref_code: 'unknown' },
      { ref_code: '' },
      { _vid: crypto.randomUUID() },
      { referrer_external_user_id: 'nobody' },
    ]) {
      const response = await m.signup('n', fields, shop.publishableKey);
      expect([response.status, response.body]).toEqual([200, { matched: false }]);
    }
    expect(await countRows(api, shop, 'signups')).toBe(0);
    expect((await m.signup('n')).body).toEqual({ matched: false });
    expect(await countRows(api, shop, 'signups')).toBe(1);
    expect((await shop.get<{ signups: object[] }>('/signups')).body.signups).toEqual([]);
    expect((await shop.get<{ signups: object[] }>('/signups?status=unmatched')).body.signups).toMatchObject([
      { external_user_id: 'n', status: 'unmatched', by_server: true, partner_id: null },
    ]);
    expect(await queuedEvents(api, shop)).toEqual([]);
  });

  test('with a program code, a common link or a link of another workspace has no referrer', async () => {
    const { code } = await m.program(CREDITS);
    const other = merchant(await api.addWorkspace());
    await other.program();
    const foreign = await other.enroll('r');
    await shop.post('/links', {
      destination_url: 'https://shop.example',
      name: 'N',
      smart: true,
      slug: `s-${code}`,
    });
    for (const ref_code of [code, foreign.ref, `s-${code}`]) {
      expect((await m.signup('n', { ref_code })).body).toEqual({ matched: false });
    }
  });

  test('resolves ref_code, then _vid, then referrer_external_user_id', async () => {
    await m.program(CREDITS);
    const [a, b, c] = [await m.enroll('a'), await m.enroll('b'), await m.enroll('c')];
    const visitor = crypto.randomUUID();
    await click(b.ref, visitor);
    const all = { ref_code: a.ref, _vid: visitor, referrer_external_user_id: 'c' };
    expect((await m.signup('n1', all)).body.partner_id).toBe(a.partner_id);
    expect((await m.signup('n2', { ...all, ref_code: 'unknown' })).body.partner_id).toBe(b.partner_id);
    const stranger = { ...all, ref_code: null, _vid: crypto.randomUUID() };
    expect((await m.signup('n3', stranger)).body.partner_id).toBe(c.partner_id);
  });

  test('takes the most recent referral click of all ids of the browser', async () => {
    await m.program();
    const a = await m.enroll('a');
    const b = await m.enroll('b');
    const [elsewhere, newer, older] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
    await click(a.ref, older, 60_000);
    await click(b.ref, newer, 30_000);
    const response = await m.signup('n', { _vid: [elsewhere, newer, older] });
    expect(response.body).toMatchObject({ matched: true, partner_id: b.partner_id });
    expect((await m.signup('n2', { _vid: [elsewhere] })).body).toEqual({ matched: false });
    expect((await m.signup('n3', { _vid: ['x'] })).status).toBe(400);
  });

  test("takes the visitor's most recent referral click, not a bot's, not of a common link", async () => {
    const { id: programId } = await m.program(CREDITS);
    const [a, b] = [await m.enroll('a'), await m.enroll('b')];
    const visitor = crypto.randomUUID();
    await click(a.ref, visitor, 60_000);
    await click(b.ref, visitor, 30_000);
    await click(a.ref, visitor, 90_000);
    const clicks = { workspaceId: shop.workspace.id, visitorId: visitor, at: new Date() };
    await storeClicks(api, { ...clicks, linkId: programId });
    await storeClicks(api, { ...clicks, linkId: await linkIdOf(api, a.ref), isBot: true });
    expect((await m.signup('n', { _vid: visitor })).body.partner_id).toBe(b.partner_id);
  });

  test('is idempotent per new user: a matched user stays with the referrer', async () => {
    await m.program(CREDITS);
    const [a, b] = [await m.enroll('a'), await m.enroll('b')];
    const first = await m.signup('n', { ref_code: a.ref });
    expect((await m.signup('n', { ref_code: b.ref })).body).toEqual(first.body);
    expect((await m.signup('n')).body).toEqual(first.body);
    expect(await countRows(api, shop, 'grants')).toBe(2);
  });

  test('called fifty times at once with the same body writes once', async () => {
    await m.program(CREDITS);
    const { ref } = await m.enroll('r');
    const responses = await Promise.all(Array.from({ length: 50 }, () => m.signup('n', { ref_code: ref })));
    expect(new Set(responses.map((response) => response.text)).size).toBe(1);
    expect(await countRows(api, shop, 'signups')).toBe(1);
    expect(await countRows(api, shop, 'grants')).toBe(2);
    expect(await countRows(api, shop, 'ledger_entries')).toBe(2);
    expect((await queuedEvents(api, shop)).map((event) => event.type)).toEqual([
      'lead.created',
      'credit.earned',
      'credit.earned',
    ]);
  });

  test('called fifty times at once for one user by different referrers matches one of them', async () => {
    await m.program(CREDITS);
    const refs = await Promise.all(Array.from({ length: 5 }, (_, n) => m.enroll(`r${n}`)));
    const responses = await Promise.all(
      Array.from({ length: 50 }, (_, n) => m.signup('n', { ref_code: refs[n % 5]?.ref })),
    );
    expect(new Set(responses.map((response) => response.text)).size).toBe(1);
    expect(await countRows(api, shop, 'ledger_entries')).toBe(2);
  });

  test('fires lead.created and credit.earned with their data', async () => {
    const { id } = await m.program(CREDITS);
    const { ref, partner_id } = await m.enroll('r', { tier: 'paid' });
    const visitor = crypto.randomUUID();
    await m.signup('n', { ref_code: ref, email: 'n@mail.example', _vid: visitor });
    const { grants } = await m.credits(`partner_id=${partner_id}`);
    expect(await queuedEvents(api, shop)).toEqual([
      {
        type: 'lead.created',
        data: {
          external_user_id: 'n',
          email: 'n@mail.example',
          visitor_id: visitor,
          partner_id,
          program_id: id,
          created_at: expect.any(String),
        },
      },
      { type: 'credit.earned', data: grants.find((grant) => grant.external_user_id === 'r') },
      { type: 'credit.earned', data: grants.find((grant) => grant.external_user_id === 'n') },
    ]);
  });

  test.each<[string, object]>([
    ['new_user_external_user_id', { new_user_external_user_id: undefined }],
    ['new_user_external_user_id', { new_user_external_user_id: 5 }],
    ['email', { email: 'nobody' }],
    ['_vid', { _vid: 'visitor' }],
  ])('with a wrong %s returns 400: %j', async (path, fields) => {
    const response = await shop.post('/referrals/report-signup', {
      new_user_external_user_id: 'n',
      ...fields,
    });
    expect([response.status, response.body.error.details?.[0]?.path]).toEqual([400, path]);
  });

  test('honors an Idempotency-Key', async () => {
    await m.program(CREDITS);
    const { ref } = await m.enroll('r');
    const body = { new_user_external_user_id: 'n', ref_code: ref };
    const options = { headers: { 'idempotency-key': 'signup' } };
    const first = await shop.post('/referrals/report-signup', body, options);
    const second = await shop.post('/referrals/report-signup', body, options);
    expect([second.body, second.headers['idempotent-replayed']]).toEqual([first.body, 'true']);
    const other = await shop.post('/referrals/report-signup', { ...body, ref_code: 'x' }, options);
    expect(other.body.error.code).toBe('idempotency_key_reused');
  });

  const withKey = (key: string) => ({ headers: { 'idempotency-key': key } });
  const report = (key: string, fields: object) =>
    shop.post<SignupAnswer & ErrorBody>(
      '/referrals/report-signup',
      { new_user_external_user_id: 'n', ...fields },
      withKey(key),
    );

  test('holds its Idempotency-Key while it looks for the click', async () => {
    await m.program(CREDITS);
    const [a, b] = [await m.enroll('a'), await m.enroll('b')];
    const visitor = crypto.randomUUID();
    await click(a.ref, visitor);
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    store = async () => {
      store = async () => undefined;
      asked.resolve();
      await answered.promise;
    };
    const first = report('held', { _vid: visitor });
    await asked.promise;
    for (const fields of [{ _vid: visitor }, { ref_code: b.ref }]) {
      const second = await report('held', fields);
      expect([second.status, second.body.error.code]).toEqual([409, 'idempotency_in_progress']);
    }
    expect((await shop.post('/folders', { name: 'F' }, withKey('held'))).status).toBe(409);
    answered.resolve();
    const { status, body } = await first;
    expect([status, body.partner_id]).toEqual([200, a.partner_id]);
    // Stored: ClickHouse is not queried again, even while it is down.
    store = async () => {
      throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' });
    };
    const replay = await report('held', { _vid: visitor });
    expect([replay.status, replay.headers['idempotent-replayed'], replay.body]).toEqual([200, 'true', body]);
    expect((await report('held', { ref_code: b.ref })).body.error.code).toBe('idempotency_key_reused');
  });

  test('releases its Idempotency-Key when it fails, and when its process died', async () => {
    await m.program(CREDITS);
    const { ref } = await m.enroll('r');
    const visitor = crypto.randomUUID();
    await click(ref, visitor);
    // An error that is not an outage of ClickHouse, during which the report would be accepted.
    store = async () => {
      throw new Error('a fault of the test');
    };
    expect((await report('failed', { _vid: visitor })).status).toBe(500);
    store = async () => {
      // Acts as if the holder had ended long ago; another request takes the key over.
      await api.stores.pool.query('UPDATE idempotency_reservations SET ends_at = now()');
      store = async () => undefined;
      expect((await report('failed', { _vid: visitor, email: 'n@mail.example' })).status).toBe(200);
    };
    const overtaken = await report('failed', { _vid: visitor });
    expect([overtaken.status, overtaken.body.error.code]).toEqual([422, 'idempotency_key_reused']);
    expect(await countRows(api, shop, 'idempotency_reservations')).toBe(0);
  });
});

describe('a signup reward', () => {
  test('is the credit of the tier, and the referee gets a credit with the referrer as partner', async () => {
    const { id: program_id } = await m.program({ ...CREDITS, credit_kind: 'tokens' });
    const { ref, partner_id } = await m.enroll('r', { tier: 'paid' });
    await m.signup('n', { ref_code: ref });
    const { grants, balance } = await m.credits(`partner_id=${partner_id}`);
    const common = {
      id: expect.any(Number),
      program_id,
      partner_id,
      commission_id: null,
      credit_kind: 'tokens',
      status: 'earned',
      revoked_reason: null,
      referee_external_user_id: 'n',
      earned_at: expect.any(String),
      delivered_at: null,
      created_at: expect.any(String),
    };
    expect(grants).toEqual([
      { ...common, amount: 3, external_user_id: 'n' },
      { ...common, amount: 10, external_user_id: 'r' },
    ]);
    expect(balance).toEqual({ tokens: { earned: 13, delivered: 0 } });
    expect((await m.credits('external_user_id=r')).balance).toEqual({ tokens: { earned: 10, delivered: 0 } });
    expect((await m.credits('external_user_id=n')).grants.map((grant) => grant.amount)).toEqual([3]);
    expect((await m.stats('r')).rewards.credits).toEqual({
      tokens: { earned: 10, delivered: 0, pending: 10 },
    });
  });

  test('is nothing in a program without credits, in a paused one, and in affiliate mode', async () => {
    const { id } = await m.program({ ...CREDITS, credit_enabled: false, allow_affiliate_upgrade: true });
    const { ref, partner_id } = await m.enroll('r');
    expect((await m.signup('n1', { ref_code: ref })).body).toMatchObject({ matched: true, blocked: false });
    await shop.patch(`/programs/${id}`, { credit_enabled: true, status: 'paused' });
    expect((await m.signup('n2', { ref_code: ref })).body).toMatchObject({ matched: true, blocked: false });
    await shop.patch(`/programs/${id}`, { status: 'active' });
    await m.mode('r', 'affiliate');
    expect((await m.signup('n3', { ref_code: ref })).body).toMatchObject({ matched: true, blocked: false });
    expect((await m.credits(`partner_id=${partner_id}`)).grants).toEqual([]);
    await m.mode('r', 'referrer');
    await m.signup('n4', { ref_code: ref });
    expect((await m.credits(`partner_id=${partner_id}`)).grants).toHaveLength(2);
  });

  test('of the past stays when the program changes', async () => {
    const { id } = await m.program(CREDITS);
    const { ref } = await m.enroll('r');
    await m.signup('n1', { ref_code: ref });
    await shop.patch(`/programs/${id}`, { signup_credit: { free: 7.25 }, credit_kind: 'gems' });
    await m.signup('n2', { ref_code: ref });
    expect((await m.credits('external_user_id=r')).balance).toEqual({
      credits: { earned: 5, delivered: 0 },
      gems: { earned: 7.25, delivered: 0 },
    });
  });
});
