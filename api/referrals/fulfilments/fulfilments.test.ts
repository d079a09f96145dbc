import { describe, expect } from 'vitest';
import { merchant } from '../../../test/referrals/support.ts';
import type { TestWorkspace } from '../../../test/support/api.ts';
import { sharedShopTest } from '../../../test/support/fixtures.ts';
import type { FulfilmentRecord } from './schemas.ts';

type Made = FulfilmentRecord & { secret?: string };

const URL_OF_RECEIVER = 'https://8.8.8.8/credits';
const newProgram = async (shop: TestWorkspace) =>
  (await merchant(shop).program({ credit_enabled: true, currency: 'jpy' })).id;
const create = (shop: TestWorkspace, body: object, headers: Record<string, string> = {}) =>
  shop.post<Made>('/fulfilments', body, { headers });
const ofWebhook = (program_id: string, settings: object = { url: URL_OF_RECEIVER }) => ({
  provider: 'webhook',
  program_id,
  settings,
});

describe('creating a fulfilment', () => {
  sharedShopTest(
    'shows the secret of a webhook once: not in a replay, and not when it is read',
    async ({ shop }) => {
      const body = ofWebhook(await newProgram(shop));
      const made = await create(shop, body, { 'idempotency-key': 'fulfilment-1' });
      expect(made.status).toBe(201);
      expect(made.body.secret).toMatch(/^whsec_/);
      const replay = await create(shop, body, { 'idempotency-key': 'fulfilment-1' });
      expect(replay).toMatchObject({ status: 201, headers: { 'idempotent-replayed': 'true' } });
      const { secret: _, ...shown } = made.body;
      expect(replay.body).toEqual({ ...shown, secret_shown: false });
      expect((await shop.get(`/fulfilments/${shown.id}`)).body).toEqual(shown);
      expect(shown).toEqual({
        id: expect.any(String),
        provider: 'webhook',
        program_id: body.program_id,
        settings: { url: URL_OF_RECEIVER },
        deliveries: { pending: 0, delivered: 0, failed: 0, canceled: 0 },
        created_at: expect.any(String),
        updated_at: expect.any(String),
      });
      const list = await shop.get<{ fulfilments: Made[] }>(`/fulfilments?program_id=${body.program_id}`);
      expect(list.body).toEqual({ fulfilments: [shown], next_cursor: null });
    },
  );

  sharedShopTest("takes the program's currency, and never shows the key of Stripe", async ({ shop }) => {
    const program_id = await newProgram(shop);
    const key = 'rk_test_secret_of_stripe';
    const made = await create(shop, {
      provider: 'stripe_balance',
      program_id,
      settings: { restricted_key: key },
    });
    expect(made.body).toMatchObject({
      settings: { currency: 'jpy', credit_value: 1, restricted_key_set: true },
    });
    expect(made.text).not.toContain(key);
    expect(made.body.secret).toBeUndefined();
    const path = `/fulfilments/${made.body.id}`;
    const changed = await shop.patch(path, { settings: { credit_value: 120, restricted_key: `${key}_2` } });
    expect(changed.body).toMatchObject({ settings: { currency: 'jpy', credit_value: 120 } });
    expect(changed.text + (await shop.get('/audit-log')).text).not.toContain(key);
    expect((await shop.post(`${path}/rotate-secret`)).status).toBe(409);
  });

  sharedShopTest('refuses a second one for a program, until the first is deleted', async ({ shop }) => {
    const body = ofWebhook(await newProgram(shop));
    const made = await create(shop, body);
    expect(await create(shop, body)).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
    const rotated = await shop.post<Made>(`/fulfilments/${made.body.id}/rotate-secret`);
    expect(rotated.status).toBe(200);
    expect(rotated.body.secret).not.toBe(made.body.secret);
    expect((await shop.delete(`/fulfilments/${made.body.id}`)).body).toEqual({ ok: true });
    expect((await shop.get(`/fulfilments/${made.body.id}`)).status).toBe(404);
    expect((await create(shop, body)).status).toBe(201);
  });

  sharedShopTest('names what is wrong with a setting', async ({ shop }) => {
    const program_id = await newProgram(shop);
    const wrong: [object, string][] = [
      [ofWebhook(program_id, {}), 'settings.url'],
      [ofWebhook(program_id, { url: 'ftp://8.8.8.8/' }), 'settings.url'],
      [ofWebhook(program_id, { url: 'http://127.0.0.1:9/' }), 'settings.url'],
      [ofWebhook(program_id, { url: URL_OF_RECEIVER, currency: 'usd' }), 'settings.currency'],
      [{ provider: 'stripe_balance', program_id, settings: { url: URL_OF_RECEIVER } }, 'settings.url'],
      [{ provider: 'stripe_balance', program_id, settings: { currency: 'xau' } }, 'settings.currency'],
      [{ provider: 'stripe_balance', program_id, settings: { credit_value: 0 } }, 'settings.credit_value'],
      [
        { provider: 'stripe_balance', program_id, settings: { restricted_key: 'x' } },
        'settings.restricted_key',
      ],
      [{ provider: 'paypal', program_id, settings: {} }, 'provider'],
    ];
    for (const [body, path] of wrong) {
      const answer = await shop.post('/fulfilments', body);
      expect([body, answer.status, answer.body.error.details?.[0]?.path]).toEqual([body, 400, path]);
    }
    const nowhere = ofWebhook('01900000-0000-7000-8000-000000000000');
    expect((await create(shop, nowhere)).status).toBe(404);
  });

  sharedShopTest('leaves entries in the audit log', async ({ shop }) => {
    const { body } = await shop.get<{ entries: { action: string; details: object }[] }>(
      '/audit-log?limit=500',
    );
    const actions = body.entries.filter(({ action }) => action.startsWith('fulfilment.'));
    expect(new Set(actions.map(({ action }) => action))).toEqual(
      new Set(['fulfilment.create', 'fulfilment.update', 'fulfilment.rotate_secret', 'fulfilment.delete']),
    );
  });
});
