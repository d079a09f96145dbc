import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { AppendOutcome, EventLogWriter } from '../../core/event-log/port.ts';
import type { Unstamped } from '../../core/events/types.ts';
import { bytesToUuid, uuidv7 } from '../../core/ids.ts';
import { type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';

let api: TestApi;
let shop: TestWorkspace;
let written: Unstamped[];
let outcome: AppendOutcome;
let answered: boolean;

/** An event log that records events, and settles only after a premature response would have been sent. */
const eventLog: EventLogWriter = {
  stream: { streamId: uuidv7(), ordinal: 0 },
  append(event, settled) {
    setTimeout(() => {
      expect(answered).toBe(false);
      written.push(event);
      settled(outcome);
    }, 20);
    return { sequence: BigInt(written.length), ts: Date.now() * 1_000 };
  },
  flush: () => undefined,
  fill: () => 0,
  loss: () => null,
  ready: () => true,
  close: async () => undefined,
};

beforeAll(async () => {
  api = await testApi(() => ({ eventLog }));
  shop = await api.addWorkspace();
});
beforeEach(() => {
  written = [];
  outcome = 'written';
  answered = false;
});
afterAll(() => api.close());

async function post(path: string, body: object) {
  const answer = await shop.post(path, body);
  answered = true;
  return answer;
}

const visitor = '019a0000-0000-7000-8000-00000000000A';

describe('POST /track/identify', () => {
  test('writes the event before it responds 202', async () => {
    const answer = await post('/track/identify', {
      visitor_id: visitor,
      email: ' Ann@Example.COM ',
      external_user_id: 'u-1',
    });
    expect([answer.status, answer.body]).toEqual([202, { ok: true }]);
    const [event] = written;
    expect(event).toMatchObject({
      kind: 'identify',
      email: 'ann@example.com',
      externalUserId: 'u-1',
      source: 'server',
    });
    if (event?.kind !== 'identify' || !event.visitorId) throw new Error('no identify was written');
    expect(bytesToUuid(event.visitorId)).toBe(visitor.toLowerCase());
    expect(bytesToUuid(event.workspaceId)).toBe(shop.workspace.id);
  });

  test('takes all ids of the browser, newest first, as lists or apart', async () => {
    const [second, third] = ['019a0000-0000-7000-8000-00000000000b', '019a0000-0000-7000-8000-00000000000c'];
    for (const body of [
      { visitor_id: [visitor, second, third] },
      { visitor_ids: [visitor, second, third] },
      { visitor_id: visitor, visitor_ids: [visitor.toLowerCase(), second, third] },
    ]) {
      answered = false;
      expect((await post('/track/identify', body)).status).toBe(202);
      const event = written.pop();
      if (event?.kind !== 'identify' || !event.visitorId) throw new Error('no identify was written');
      expect([event.visitorId, ...(event.otherVisitorIds ?? [])].map((id) => bytesToUuid(id))).toEqual([
        visitor.toLowerCase(),
        second,
        third,
      ]);
    }
  });

  test.each([{ visitor_id: visitor }, { email: 'a@example.com' }, { external_user_id: 'u', email: null }])(
    'takes %o alone',
    async (body) => {
      expect((await post('/track/identify', body)).status).toBe(202);
      expect(written).toHaveLength(1);
    },
  );

  test.each([
    [{}, 'visitor_id'],
    [{ email: null }, 'visitor_id'],
    [{ visitor_id: 'x' }, 'visitor_id'],
    [{ visitor_id: [visitor, 'x'] }, 'visitor_id.1'],
    [{ visitor_id: [] }, 'visitor_id'],
    [{ visitor_ids: 'x' }, 'visitor_ids'],
    [{ visitor_ids: Array(9).fill(visitor) }, 'visitor_ids'],
    [{ email: 'nobody' }, 'email'],
    [{ email: 7 }, 'email'],
    [{ external_user_id: '' }, 'external_user_id'],
    [{ external_user_id: 'x'.repeat(201) }, 'external_user_id'],
  ])('refuses %o', async (body, path) => {
    const answer = await post('/track/identify', body);
    expect(answer.status).toBe(400);
    expect(answer.body.error.details?.[0]?.path).toBe(path);
    expect(written).toEqual([]);
  });
});

describe('POST /track/order', () => {
  test.each([
    [19.99, 'usd', 1_999, 'usd'],
    [500, 'JPY', 500, 'jpy'],
    [1.234, 'kwd', 1_234, 'kwd'],
    [0.1 + 0.2, 'usd', 30, 'usd'],
    [1.1 * 3, 'eur', 330, 'eur'],
    [0.7 + 0.1, 'usd', 80, 'usd'],
    [0, undefined, 0, 'usd'],
    [20, undefined, 2_000, 'usd'],
  ])('takes %d %s in the minor units of its currency', async (amount, currency, amountMinor, stored) => {
    const answer = await post('/track/order', { order_id: 'o-1', amount, currency, email: 'a@example.com' });
    expect([answer.status, answer.body]).toEqual([202, { ok: true }]);
    expect(written).toMatchObject([
      { kind: 'order', orderId: 'o-1', amountMinor, currency: stored, visitorId: null, source: 'server' },
    ]);
  });

  const order = { order_id: 'o-1', amount: 1, email: 'a@example.com' };
  test.each([
    [{ ...order, order_id: undefined }, 'order_id'],
    [{ ...order, order_id: '' }, 'order_id'],
    [{ ...order, order_id: 7 }, 'order_id'],
    [{ ...order, amount: undefined }, 'amount'],
    [{ ...order, amount: '19.99' }, 'amount'],
    [{ ...order, amount: -1 }, 'amount'],
    [{ ...order, amount: 0.005 }, 'amount'],
    [{ ...order, amount: 0.01000001 }, 'amount'],
    [{ ...order, amount: 100 / 3 }, 'amount'],
    [{ ...order, amount: 1.5, currency: 'jpy' }, 'amount'],
    [{ ...order, amount: 1e300 }, 'amount'],
    [{ ...order, currency: 'xyz' }, 'currency'],
    [{ ...order, currency: '' }, 'currency'],
    [{ ...order, email: undefined }, 'visitor_id'],
  ])('refuses %o', async (body, path) => {
    const answer = await post('/track/order', body);
    expect(answer.status).toBe(400);
    expect(answer.body.error.details?.[0]?.path).toBe(path);
    expect(written).toEqual([]);
  });
});

test('an event that the journal refuses is a 503 with Retry-After', async () => {
  outcome = 'lost';
  const answer = await post('/track/identify', { email: 'a@example.com' });
  expect([answer.status, answer.body.error.code]).toEqual([503, 'unavailable']);
  expect(answer.headers['retry-after']).toBeDefined();
});

test('tracking needs a secret key and a paid plan', async () => {
  const free = await api.addWorkspace({ plan: 'free' });
  for (const path of ['/track/identify', '/track/order']) {
    expect((await free.post(path)).status).toBe(402);
    expect((await shop.post(path, {}, { key: shop.publishableKey })).status).toBe(403);
  }
});
