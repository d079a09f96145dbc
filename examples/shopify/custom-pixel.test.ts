import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bytesToUuid } from '../../core/ids.ts';
import { makeWorkspace, startTestIngest, type TestIngest } from '../../test/support/ingest.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';

let stores: TestStores;
let ingest: TestIngest;

beforeAll(async () => {
  stores = await testStores();
  ingest = await startTestIngest(stores);
});
afterAll(async () => {
  await ingest?.close();
  await ingest?.remove();
  await stores?.close();
});

const [NEWEST, EARLIER] = ['3ad086d0-f585-8424-a005-8e248d6c10a2', '4ad086d0-f585-8424-a005-8e248d6c10a3'];

test('an order of the checkout arrives with what was paid, and with the browser’s ids', async () => {
  const { publishable } = await makeWorkspace(stores.pool);
  const code = readFileSync(new URL('custom-pixel.js', import.meta.url), 'utf8')
    .replace('https://go.example.com', ingest.url)
    .replace('pk_live_...', publishable.token);
  const listeners = new Map<string, (event: object) => Promise<void>>();
  // The newest came ten minutes ago; of the other the time is unknown.
  const seconds = Math.floor(Date.now() / 1_000) - 600;
  const cookies: Record<string, string> = {
    ...{ _vid: NEWEST, _vids: EARLIER },
    _vidt: `${NEWEST?.slice(0, 8)}${seconds.toString(36)}`,
  };
  runInNewContext(code, {
    analytics: {
      subscribe: (name: string, run: (event: object) => Promise<void>) => listeners.set(name, run),
    },
    browser: { cookie: { get: async (name: string) => cookies[name] ?? '' } },
    fetch,
  });
  await listeners.get('checkout_completed')?.({
    data: {
      checkout: {
        order: { id: 'gid://shopify/OrderIdentity/450789469' },
        totalPrice: { amount: 108.7, currencyCode: 'EUR' },
        currencyCode: 'EUR',
        email: 'Ada@Example.com',
      },
    },
  });
  const event = (await ingest.events()).at(-1);
  expect(event).toMatchObject({
    ...{ kind: 'order', orderId: '450789469', amountMinor: 10_870, currency: 'eur' },
    email: 'ada@example.com',
  });
  if (event?.kind !== 'order' || !event.visitorId) throw new Error('no order arrived');
  expect([event.visitorId, ...(event.otherVisitorIds ?? [])].map((id) => bytesToUuid(id))).toEqual([
    NEWEST,
    EARLIER,
  ]);
  const [newest = 0, earlier] = event.landedAt ?? [];
  expect(earlier).toBe(0);
  // Seconds are rounded down, and clocks of the test's processes differ by little.
  expect(Math.abs(event.ts / 1_000_000 - newest / 1_000_000 - 600)).toBeLessThan(60);
});
