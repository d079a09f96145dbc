import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { forgetVisitors } from '../../sql/erasure/erasures.ts';
import { registerStream, WATERMARK } from '../../sql/event-log/streams.ts';
import { upsertOrders } from '../../sql/orders/orders.ts';
import { createSignupResolver } from '../../workers/referrals/pending-signups.ts';
import { type TestApi, type TestWorkspace, testApi } from '../support/api.ts';
import { countRows, linkIdOf, type Merchant, merchant, queuedEvents, storeClicks } from './support.ts';

let api: TestApi;
let shop: TestWorkspace;
let m: Merchant;

/** Runs after the API has checked whether the click is visible, and before it checks again. */
let afterLook: () => Promise<void>;

beforeAll(async () => {
  api = await testApi(({ pool }) => ({
    pool: new Proxy(pool, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        if (name !== 'query') return value.bind(target);
        return async (...given: unknown[]) => {
          const result = await Reflect.apply(value, target, given);
          if (given[0] === WATERMARK) await afterLook();
          return result;
        };
      },
    }),
  }));
});
beforeEach(async () => {
  afterLook = async () => undefined;
  await api.stores.pool.query('DELETE FROM ingest_streams');
  shop = await api.addWorkspace();
  m = merchant(shop);
});
afterAll(() => api.close());

const CREDITS = { credit_enabled: true, signup_credit: { free: 5, paid: 10 }, referee_credit: 3 };

/** Stores a click of a visitor on a referrer's link. `at`: milliseconds since the epoch. */
async function click(ref: string, visitorId: string, at: number): Promise<void> {
  const linkId = await linkIdOf(api, ref);
  await storeClicks(api, {
    workspaceId: shop.workspace.id,
    linkId,
    visitorId,
    at: new Date(at),
  });
}

describe('a signup by _vid', () => {
  /** A stream whose clicks are visible up to `at`. */
  async function visibleUpTo(at: number): Promise<string> {
    const { streamId } = await registerStream(api.stores.pool, `s-${crypto.randomUUID()}`);
    await moveTo(streamId, at);
    return streamId;
  }
  const moveTo = (streamId: string, at: number) =>
    api.stores.pool.query('UPDATE ingest_streams SET visible_before = $2 WHERE stream_id = $1', [
      streamId,
      at * 1_000,
    ]);
  /** Runs the work once, after the API's next check. */
  const onNextLook = (work: () => Promise<unknown>) => {
    afterLook = async () => {
      afterLook = async () => undefined;
      await work();
    };
  };
  const resolve = () => createSignupResolver(api.stores)(new Date());

  test('waits for a click that becomes visible within a moment', async () => {
    await m.program(CREDITS);
    const { ref, partner_id } = await m.enroll('r');
    const visitor = crypto.randomUUID();
    const at = Date.now();
    const stream = await visibleUpTo(at - 1_000);
    onNextLook(async () => {
      await click(ref, visitor, at);
      await moveTo(stream, Date.now() + 60_000);
    });
    const response = await m.signup('n', { _vid: visitor });
    expect(response.body).toMatchObject({ matched: true, partner_id });
  });

  test('takes the newer of two clicks when it becomes visible last', async () => {
    await m.program(CREDITS);
    const [a, b] = [await m.enroll('a'), await m.enroll('b')];
    const visitor = crypto.randomUUID();
    const at = Date.now();
    const stream = await visibleUpTo(at - 1_000);
    await click(a.ref, visitor, at - 10_000);
    onNextLook(async () => {
      await click(b.ref, visitor, at);
      await moveTo(stream, Date.now() + 60_000);
    });
    expect((await m.signup('n', { _vid: visitor })).body.partner_id).toBe(b.partner_id);
  });

  test('whose click is not visible yet is resolved with its rewards once the watermark has passed it', async () => {
    await m.program({ ...CREDITS, purchase_credit: 20 });
    const { ref, partner_id } = await m.enroll('r');
    const visitor = crypto.randomUUID();
    const at = Date.now();
    const stream = await visibleUpTo(at - 1_000);
    expect((await m.signup('n', { _vid: visitor, email: 'n@mail.example' })).body).toEqual({
      matched: false,
    });
    expect((await m.purchase('n', 'o1', 10)).body).toMatchObject({ matched: false, rewarded: false });
    await click(ref, visitor, at);
    await resolve();
    expect(await countRows(api, shop, 'grants')).toBe(0); // the watermark has not passed it
    await moveTo(stream, Date.now() + 60_000);
    await resolve();
    expect((await m.signup('n')).body).toMatchObject({ matched: true, partner_id, blocked: false });
    // Purchases made meanwhile are rewarded too.
    expect((await m.credits('external_user_id=r')).balance).toEqual({
      credits: { earned: 25, delivered: 0 },
    });
    expect((await queuedEvents(api, shop)).map((event) => event.type)).toEqual([
      'sale.created',
      'lead.created',
      'credit.earned',
      'credit.earned',
      'credit.earned',
    ]);
    await resolve();
    expect(await countRows(api, shop, 'grants')).toBe(3);
  });

  test('waits for the click of any id of the browser', async () => {
    await m.program(CREDITS);
    const { ref, partner_id } = await m.enroll('r');
    const [newest, clicked] = [crypto.randomUUID(), crypto.randomUUID()];
    const at = Date.now();
    const stream = await visibleUpTo(at - 1_000);
    expect((await m.signup('n', { _vid: [newest, clicked] })).body).toEqual({ matched: false });
    await click(ref, clicked, at);
    await moveTo(stream, Date.now() + 60_000);
    await resolve();
    expect((await m.signup('n')).body).toMatchObject({ matched: true, partner_id });
  });

  test('and what was bought meanwhile are qualified by the email that the purchase report gave', async () => {
    await m.program({ commission_rate: 20 });
    const { ref } = await m.enroll('r');
    const visitor = crypto.randomUUID();
    const at = Date.now();
    const stream = await visibleUpTo(at - 1_000);
    await m.signup('n', { _vid: visitor });
    // A server tracked the purchase too, and its report counts.
    const ts = Date.now() * 1_000;
    await upsertOrders(api.stores.pool, [
      {
        workspaceId: shop.workspace.id,
        orderId: 'o1',
        source: 'server',
        ts,
        streamOrdinal: 0,
        visitorId: null,
        email: null,
        externalUserId: 'n',
        amountMinor: 5_000,
        currency: 'usd',
      },
    ]);
    await m.purchase('n', 'o1', 50, { email: 'r+shop@mail.example' });
    const kept = async () => {
      const query = 'SELECT email FROM purchases WHERE workspace_id = $1';
      return (await api.stores.pool.query(query, [shop.workspace.id])).rows;
    };
    expect(await kept()).toEqual([{ email: 'r+shop@mail.example' }]);
    await click(ref, visitor, at);
    await moveTo(stream, Date.now() + 60_000);
    await resolve();
    expect((await m.purchase('n', 'o1', 50)).body).toMatchObject({ matched: true, reason: 'self_referral' });
    expect(await m.balance('r')).toMatchObject({ pending: 0 });
    // The email serves this purpose only, and is not stored for a person who is already erased.
    await moveTo(stream, Date.now() - 1_000);
    const erased = crypto.randomUUID();
    await m.signup('gone', { _vid: erased });
    await m.purchase('gone', 'o2', 50, { email: 'gone@mail.example' });
    await forgetVisitors(api.stores.pool, [
      { workspaceId: shop.workspace.id, kind: 'visitor', targetId: erased },
    ]);
    expect(await kept()).toEqual([{ email: null }, { email: null }]);
  });

  test('is dropped once the watermark has passed it when it has no referrer', async () => {
    await m.program(CREDITS);
    const { ref } = await m.enroll('r');
    const visitor = crypto.randomUUID();
    const stream = await visibleUpTo(Date.now() - 1_000);
    await m.signup('n', { _vid: visitor }, shop.publishableKey);
    await m.purchase('n', 'o1', 10);
    expect(await countRows(api, shop, 'signups')).toBe(1);
    await moveTo(stream, Date.now() + 60_000);
    await resolve();
    expect(await countRows(api, shop, 'signups')).toBe(0);
    expect((await m.purchase('n', 'o1', 10)).body.matched).toBe(false);
    // A later report that names the referrer still counts.
    expect((await m.signup('n', { ref_code: ref })).body.matched).toBe(true);
  });

  test('is not decided by an older click while a newer one may still arrive', async () => {
    await m.program(CREDITS);
    const [a, b] = [await m.enroll('a'), await m.enroll('b')];
    const visitor = crypto.randomUUID();
    const at = Date.now();
    const stream = await visibleUpTo(at - 2_000);
    await click(a.ref, visitor, at - 10_000);
    expect((await m.signup('n', { _vid: visitor })).body).toEqual({ matched: false });
    await click(b.ref, visitor, at);
    await moveTo(stream, Date.now() + 60_000);
    await resolve();
    expect((await m.signup('n')).body).toMatchObject({ matched: true, partner_id: b.partner_id });
  });

  test('falls back to the named referrer only once no click of the visitor can decide', async () => {
    await m.program(CREDITS);
    const [a, b] = [await m.enroll('a'), await m.enroll('b')];
    const [clicker, stranger] = [crypto.randomUUID(), crypto.randomUUID()];
    const at = Date.now();
    const stream = await visibleUpTo(at - 2_000);
    const named = { referrer_external_user_id: 'b' };
    const responses = await Promise.all([
      m.signup('n1', { _vid: clicker, ...named }),
      m.signup('n2', { _vid: stranger, ...named }),
      // Two reports of the same referrer do not conflict.
      m.signup('n3', { _vid: clicker }).then(() => m.signup('n3', named)),
    ]);
    expect(responses.map(({ body }) => body)).toEqual(Array(3).fill({ matched: false }));
    await click(a.ref, clicker, at);
    await moveTo(stream, Date.now() + 60_000);
    await resolve();
    const partners = await Promise.all(['n1', 'n2', 'n3'].map((user) => m.signup(user)));
    expect(partners.map(({ body }) => body.partner_id)).toEqual([a.partner_id, b.partner_id, a.partner_id]);
  });

  test('is qualified with what later reports gave about the user while it was pending', async () => {
    await m.program(CREDITS);
    const { ref } = await m.enroll('r', { email: 'r@mail.example', device_id: 'd1' });
    const clickedAt = Date.now();
    const stream = await visibleUpTo(clickedAt - 2_000);
    const told = { n1: { email: 'r+2@mail.example' }, n2: { device_id: 'd1' }, n3: {} };
    const visitors = Object.keys(told).map(() => crypto.randomUUID());
    await Promise.all(
      Object.entries(told).map(async ([user, fields], at) => {
        await m.signup(user, { _vid: visitors[at] });
        // A server may not know the visitor any more.
        expect((await m.signup(user, fields)).body).toEqual({ matched: false });
      }),
    );
    for (const visitor of visitors) await click(ref, visitor, clickedAt);
    await moveTo(stream, Date.now() + 60_000);
    await resolve();
    const responses = await Promise.all(Object.keys(told).map((user) => m.signup(user)));
    expect(responses.map(({ body }) => body.block_reason)).toEqual(['same_email', 'same_device', null]);
    expect((await m.credits('external_user_id=r')).balance).toEqual({ credits: { earned: 5, delivered: 0 } });
  });

  test('is resolved behind any number of failing ones, which are resolved once they can be', async () => {
    await m.program(CREDITS);
    const { ref } = await m.enroll('r');
    const { pool } = api.stores;
    const visitor = crypto.randomUUID();
    await visibleUpTo(Date.now() + 60_000);
    await click(ref, visitor, Date.now() - 10_000);
    await pool.query(
      `INSERT INTO signups (id, workspace_id, external_user_id, visitor_id, state, reported_at)
       SELECT gen_random_uuid(), $1, CASE WHEN n = 102 THEN 'good' ELSE 'bad-' || n END, $2, 'pending',
         $3::timestamptz + n * interval '1 ms' FROM generate_series(1, 102) AS n`,
      [shop.workspace.id, visitor, new Date(Date.now() - 5_000)],
    );
    await api.stores.admin.query(
      `ALTER TABLE signups ADD CONSTRAINT fails CHECK (state = 'pending' OR external_user_id NOT LIKE 'bad%')`,
    );
    const round = createSignupResolver(api.stores);
    const matched = async () => {
      const { rows } = await pool.query<{ external_user_id: string }>(
        `SELECT external_user_id FROM signups WHERE workspace_id = $1 AND state = 'matched' ORDER BY 1`,
        [shop.workspace.id],
      );
      return rows.map((row) => row.external_user_id);
    };
    await expect(round(new Date())).rejects.toThrow('failed to resolve signup');
    expect(await matched()).toEqual([]);
    await expect(round(new Date())).rejects.toThrow('failed to resolve signup');
    expect(await matched()).toEqual(['good']);
    await api.stores.admin.query(
      `ALTER TABLE signups DROP CONSTRAINT fails;
       DELETE FROM signups WHERE external_user_id LIKE 'bad-%' AND external_user_id <> 'bad-1'`,
    );
    expect(await round(new Date())).toBe(false);
    expect(await matched()).toEqual(['bad-1', 'good']);
  });

  test.each([
    ['the one whose click becomes visible', true],
    ['no one, when there is no click', false],
  ])("of a server corrects a page's match once the watermark has passed: to %s", async (_, isClicked) => {
    await m.program({ ...CREDITS, purchase_credit: 20 });
    const [a, b] = [await m.enroll('a'), await m.enroll('b')];
    const visitor = crypto.randomUUID();
    const at = Date.now();
    const stream = await visibleUpTo(at - 1_000);
    await m.signup('n', { ref_code: a.ref }, shop.publishableKey);
    await m.purchase('n', 'o1', 10);
    const earned = async (user: string) =>
      (await m.credits(`external_user_id=${user}`)).balance.credits?.earned ?? 0;
    // The page's match stays until the click is known, and no page can change it.
    expect((await m.signup('n', { _vid: visitor })).body.partner_id).toBe(a.partner_id);
    expect((await m.signup('n', { ref_code: b.ref }, shop.publishableKey)).body.partner_id).toBe(
      a.partner_id,
    );
    await resolve();
    expect([await earned('a'), await earned('b')]).toEqual([25, 0]);
    if (isClicked) await click(b.ref, visitor, at);
    await moveTo(stream, Date.now() + 60_000);
    await resolve();
    expect([await earned('a'), await earned('b')]).toEqual([0, isClicked ? 25 : 0]);
    expect(await earned('n')).toBe(isClicked ? 3 : 0);
    expect((await m.signup('n')).body.partner_id).toBe(isClicked ? b.partner_id : undefined);
    // A server's report is final: the page's referrer stays out.
    expect((await m.signup('n', { ref_code: a.ref }, shop.publishableKey)).body.partner_id).toBe(
      isClicked ? b.partner_id : undefined,
    );
  });

  test('is resolved by a later report that names the referrer', async () => {
    await m.program(CREDITS);
    const { ref, partner_id } = await m.enroll('r');
    await visibleUpTo(Date.now() - 1_000);
    await m.signup('n', { _vid: crypto.randomUUID(), device_id: 'd9' });
    expect((await m.signup('n', { ref_code: ref })).body).toMatchObject({ matched: true, partner_id });
    expect(await countRows(api, shop, 'signups')).toBe(1);
  });
});
