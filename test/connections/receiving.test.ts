import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { invoice, stripeEvent } from '../../core/connections/stripe/fixtures/events.ts';
import { lockConnection } from '../../sql/connections/connections.ts';
import { createPool } from '../../sql/database/pool.ts';
import { testApi } from '../support/api.ts';
import { apiTest } from '../support/fixtures.ts';
import { heldTransaction } from '../support/held-transaction.ts';
import { ago, SECRET, stripeCall, stripeShop } from './rig.ts';

const paid = () => stripeEvent('invoice.paid', invoice('in_1', 1000), ago(0));

apiTest('an event with a right signature is stored once, however often it is sent', async ({ api }) => {
  const shop = await stripeShop(api);
  const event = paid();
  const answers = await Promise.all([shop.send(event), shop.send(event), shop.send(event)]);
  expect(answers.map(({ status, body }) => [status, body])).toEqual(Array(3).fill([200, { received: true }]));
  expect(await shop.outcomes()).toEqual([['invoice.paid', 'pending', null]]);
});

apiTest(
  'a wrong or missing signature, another body and an old timestamp are 400 and store nothing',
  async ({ api }) => {
    const shop = await stripeShop(api);
    const event = paid();
    const wrong = await Promise.all([
      shop.send(event, { secret: 'whsec_other' }),
      shop.send(event, { headers: { 'stripe-signature': 't=1,v1=00' } }),
      shop.send(event, { headers: { 'stripe-signature': '' } }),
      shop.send(event, { timestamp: ago(301) }),
      shop.send('not JSON'),
      shop.send('[1]'),
      shop.send(JSON.stringify({ id: 'evt_x' })),
      shop.send(`{"id":"evt_\u0000","type":"a","data":{"object":{}}}`),
    ]);
    expect(wrong.map(({ status, body }) => [status, body.error?.code])).toEqual(
      Array(8).fill([400, 'bad_request']),
    );
    for (const { text } of wrong) expect(text).not.toContain(SECRET);
    expect(wrong[3]?.body.error?.message).toContain('Timestamp outside the tolerance zone');
    expect((await shop.send(event, { timestamp: ago(240) })).status).toBe(200);
    expect(await shop.events()).toHaveLength(1);
  },
);

apiTest('a refused signature is noted at the connection until it has another secret', async ({ api }) => {
  const shop = await stripeShop(api);
  const path = `/connections/${shop.connectionId}`;
  type Shown = { last_event_at: string | null; last_refused_at: string | null };
  expect((await shop.shop.get<Shown>(path)).body.last_refused_at).toBeNull();
  await shop.send('not JSON');
  expect((await shop.shop.get<Shown>(path)).body.last_refused_at).toBeNull();
  await shop.send(paid(), { secret: 'whsec_other' });
  const noted = (await shop.shop.get<Shown>(path)).body;
  expect(noted).toMatchObject({ last_event_at: null, last_refused_at: expect.any(String) });
  await shop.send(paid(), { secret: 'whsec_other' });
  expect((await shop.shop.get<Shown>(path)).body).toEqual(noted);
  const kept = await shop.shop.patch<Shown>(path, { settings: { mode: 'test' } });
  expect(kept.body.last_refused_at).toBe(noted.last_refused_at);
  const mended = await shop.shop.patch<Shown>(path, { signing_secret: 'whsec_other' });
  expect(mended.body.last_refused_at).toBeNull();
});

apiTest('an unknown connection is 404, one without a secret is 503 until it is set', async ({ api }) => {
  const unset = await stripeShop(api, { signing_secret: null });
  const event = paid();
  const refused = await unset.send(event);
  expect([refused.status, refused.body.error?.code, refused.headers['retry-after']]).toEqual([
    503,
    'unavailable',
    '1',
  ]);
  const path = `/connections/${unset.connectionId}`;
  expect((await unset.shop.get<{ status: string }>(path)).body.status).toBe('incomplete');
  const set = await unset.shop.patch<Record<string, unknown>>(path, { signing_secret: SECRET });
  expect(set.body).toMatchObject({ status: 'waiting', signing_secret_set: true, restricted_key_set: false });
  expect((await unset.send(event)).status).toBe(200);
  expect((await unset.shop.get<{ status: string }>(path)).body.status).toBe('active');
  await unset.shop.delete(path);
  expect((await unset.send(event)).status).toBe(404);
  expect((await unset.shop.get(path)).status).toBe(404);
  const unknown = await api.app.inject({
    method: 'POST',
    url: `/api/v1/connections/${crypto.randomUUID()}/webhook`,
    payload: event,
  });
  expect(unknown.statusCode).toBe(404);
  const noId = await api.app.inject({ method: 'POST', url: '/api/v1/connections/x/webhook', payload: event });
  expect([noId.statusCode, noId.json().error.details]).toEqual([
    400,
    [{ path: 'id', message: 'must be a UUID' }],
  ]);
});

apiTest.for([
  ['stripe', { signing_secret: '  ' }, 'signing_secret'],
  ['shopify', { signing_secret: '\u00a0' }, 'signing_secret'],
  ['paddle', { signing_secret: 'a\nb' }, 'signing_secret'],
  ['stripe', { restricted_key: ' ' }, 'restricted_key'],
  ['stripe', { restricted_key: 'pk_live_of_test' }, 'restricted_key'],
  ['stripe', { restricted_key: 'rk_live_a\r\nx: y' }, 'restricted_key'],
  ['polar', { restricted_key: 'rk_live_of_test' }, 'restricted_key'],
] as const)(
  '%s with the secret %j is refused by a create and by a change',
  async ([provider, fields, path], { api }) => {
    const shop = await api.addWorkspace();
    const kept = await shop.post<{ id: string }>('/connections', {
      provider,
      signing_secret: ` ${SECRET}\n`,
    });
    for (const { status, body } of [
      await shop.post('/connections', { provider, ...fields }),
      await shop.patch(`/connections/${kept.body.id}`, fields),
    ]) {
      expect([status, body.error.details?.[0]?.path]).toEqual([400, path]);
    }
    const listed = await shop.get<{ connections: { id: string }[] }>('/connections');
    expect(listed.body.connections.map(({ id }) => id)).toEqual([kept.body.id]);
  },
);

apiTest('pages of events have each event once, newest first, also of one status', async ({ api }) => {
  const shop = await stripeShop(api);
  for (const nth of [1, 2, 3]) await shop.send(stripeEvent('plan.created', invoice(`in_${nth}`, 1), ago(0)));
  await shop.send(paid());
  await shop.work();
  const path = `/connections/${shop.connectionId}/events?limit=2`;
  type Page = { events: { event_id: string }[]; next_cursor: string | null };
  const walk = async (query: string) => {
    const seen: string[] = [];
    let next: string | null = '';
    while (next !== null) {
      const cursor: string = next === '' ? '' : `&cursor=${next}`;
      const { body } = await shop.shop.get<Page>(`${path}${query}${cursor}`);
      expect(body.events.length).toBeLessThanOrEqual(2);
      seen.push(...body.events.map(({ event_id }) => event_id));
      next = body.next_cursor;
    }
    return seen;
  };
  const ids = (await shop.events()).map(({ event_id }) => event_id);
  expect(ids).toHaveLength(4);
  expect(await walk('')).toEqual(ids);
  expect(await walk('&status=ignored')).toEqual(ids.slice(1));
});

apiTest('a body of 5 MB is stored, a larger one is 413', async ({ api }) => {
  const shop = await stripeShop(api);
  const long = { description: randomBytes(2_490_000).toString('hex') };
  const event = stripeEvent('invoice.paid', invoice('in_1', 1000, long), ago(0));
  expect(JSON.stringify(event).length).toBeGreaterThan(4_980_000);
  expect((await shop.send(event)).status).toBe(200);
  await shop.work();
  expect(await shop.outcomes()).toEqual([['invoice.paid', 'unmatched', 'no_buyer']]);
  const longer = { description: randomBytes(2_700_000).toString('hex') };
  const refused = await shop.send(stripeEvent('invoice.paid', invoice('in_2', 1000, longer), ago(0)));
  expect([refused.status, refused.body.error?.code]).toEqual([413, 'payload_too_large']);
});

apiTest('while the database is down an event is 503; the next try is stored once', async ({ api }) => {
  const shop = await stripeShop(api);
  const event = paid();
  const other = await testApi(() => ({ pool: createPool('postgres://u:p@127.0.0.1:1/none') }));
  try {
    const refused = await stripeCall(other, shop.connectionId, event);
    expect([refused.status, refused.body.error?.code, refused.headers['retry-after']]).toEqual([
      503,
      'unavailable',
      '1',
    ]);
  } finally {
    await other.close();
  }
  expect((await shop.send(event)).status).toBe(200);
  expect((await shop.send(event)).status).toBe(200);
  await shop.work();
  expect(await shop.outcomes()).toEqual([['invoice.paid', 'unmatched', 'no_buyer']]);
});

apiTest('an event is stored while a worker applies another one', async ({ api }) => {
  const shop = await stripeShop(api);
  await heldTransaction(api.stores.pool, async (tx) => {
    await lockConnection(tx, shop.connectionId);
    expect((await shop.send(paid())).status).toBe(200);
  });
  await shop.work();
  expect(await shop.outcomes()).toEqual([['invoice.paid', 'unmatched', 'no_buyer']]);
});

apiTest('secrets are sealed in the database and in no response', async ({ api }) => {
  const shop = await stripeShop(api, { restricted_key: 'rk_test_secret' });
  const { rows } = await api.stores.pool.query(
    'SELECT signing_secret, restricted_key FROM connections WHERE id = $1',
    [shop.connectionId],
  );
  for (const sealed of Object.values(rows[0] ?? {})) {
    expect((sealed as Buffer).includes(SECRET)).toBe(false);
    expect((sealed as Buffer).includes('rk_test')).toBe(false);
  }
  const shown = [
    await shop.shop.get('/connections'),
    await shop.shop.get(`/connections/${shop.connectionId}`),
    await shop.shop.patch(`/connections/${shop.connectionId}`, { restricted_key: 'rk_test_secret' }),
  ];
  for (const { text, status } of shown) {
    expect(status).toBe(200);
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain('rk_test');
  }
});

apiTest('a publishable key, a free plan and unknown providers are refused', async ({ api }) => {
  const shop = await stripeShop(api);
  const key = shop.shop.publishableKey;
  expect((await shop.shop.get('/connections', { key })).status).toBe(403);
  const free = await api.addWorkspace({ plan: 'free' });
  expect((await free.post('/connections', { provider: 'stripe' })).status).toBe(402);
  expect((await shop.shop.post('/connections', { provider: 'square' })).status).toBe(400);
});
