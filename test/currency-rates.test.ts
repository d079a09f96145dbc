import { Registry } from 'prom-client';
import { expect } from 'vitest';
import { uuidv7 } from '../core/ids.ts';
import { silentLogger } from '../core/tier/log.ts';
import { nowNanos } from '../core/time/timestamps.ts';
import { advanceStreams, registerStream } from '../sql/event-log/streams.ts';
import { upsertOrders } from '../sql/orders/orders.ts';
import type { CurrencyRate } from '../sql/workspaces/currency-rates.ts';
import { attribute } from '../workers/attribution/attribute.ts';
import { createWorkerMetrics } from '../workers/metrics.ts';
import { merchant } from './referrals/support.ts';
import { apiTest as test } from './support/fixtures.ts';
import { operator } from './support/hoplog.ts';
import { storeClicks } from './support/stored-events.ts';

let cli: ReturnType<typeof operator>;

test.beforeAll(async ({ api }) => {
  cli = operator(api.stores);
  const stream = await registerStream(api.stores.pool, 'ingest-0');
  await advanceStreams(api.stores.pool, [{ ...stream, highWater: 0n, visibleBefore: Date.now() * 1_000 }]);
});
test.beforeEach(async ({ api }) => {
  await api.stores.pool.query('DELETE FROM currency_rates');
});

const pair = (currency: string, base: string) => ['--currency', currency, '--base', base];
const set = (currency: string, base: string, rate: string) =>
  cli.json<{ rate: CurrencyRate; orders_reattributed: number }>(
    'rate',
    'set',
    ...pair(currency, base),
    '--rate',
    rate,
  );
const list = async () => (await cli.json<{ rates: CurrencyRate[] }>('rate', 'list')).rates;

test('rates are set, updated, listed by their currencies, and deleted', async () => {
  const { rate: yen } = await set('JPY', 'usd', '0.0067');
  expect(yen).toEqual({
    currency: 'jpy',
    base: 'usd',
    rate: 0.0067,
    updated_at: expect.stringMatching(/^\d{4}-.*Z$/),
  });
  await set('eur', 'usd', '1.08');
  const { rate: euro } = await set('eur', 'usd', '1.0832');
  expect(euro.rate).toBe(1.0832);
  const { rate: dollar } = await set('usd', 'eur', '0.0000000923');
  expect(dollar.rate).toBe(9.23e-8);
  expect(await list()).toEqual([euro, yen, dollar]);
  expect(await cli.json('rate', 'delete', ...pair('EUR', 'USD'))).toEqual({ deleted: euro });
  expect(await list()).toEqual([yen, dollar]);
  await cli.refused(1, /no rate is set for eur in usd/, 'rate', 'delete', ...pair('eur', 'usd'));
});

test('the longest and the shortest rates that fit a number are stored exactly', async () => {
  const most = `1${'0'.repeat(308)}`;
  const least = `0.${'0'.repeat(323)}5`;
  expect((await set('eur', 'usd', most)).rate.rate).toBe(1e308);
  expect((await set('usd', 'eur', least)).rate.rate).toBe(5e-324);
  expect((await list()).map(({ rate }) => rate)).toEqual([1e308, 5e-324]);
});

test('without --json it prints a table, and the help says what a rate means', async () => {
  const { stdout } = await cli.run('rate', 'set', ...pair('eur', 'usd'), '--rate', '1.08');
  expect(stdout).toMatch(/^currency +base +rate +updated\neur +usd +1\.08 +\d{4}-/);
  const help = await cli.run('rate', 'set', '--help');
  expect([help.status, help.stdout]).toEqual([0, expect.stringContaining('converts 1 eur to 1.08 usd')]);
});

test('revenue is converted by the rate, in its direction only, including earlier orders that had none', async ({
  api,
  shop,
}) => {
  const { pool, readers, replicas } = api.stores;
  const workspaceId = shop.workspace.id;
  const metrics = createWorkerMetrics(new Registry());
  const now = nowNanos();
  const visitorId = uuidv7();
  await storeClicks(api.stores, [
    { workspaceId, visitorId, tsNanos: now - 7_200_000_000_000n, channel: 'youtube' },
  ]);
  const order = async (orderId: string) => {
    const ts = Number(now / 1_000n) - 3_600_000_000;
    await upsertOrders(pool, [
      {
        ...{ workspaceId, orderId, source: 'server', ts, streamOrdinal: 0 },
        ...{ visitorId, email: null, externalUserId: null, amountMinor: 10_000, currency: 'eur' },
      },
    ]);
    await attribute({ pool, readers, replicas, metrics, log: silentLogger() }, 'orders');
    const { body } = await shop.get<{ channels: { conversions: number; revenue: number }[] }>('/channels');
    return body.channels.map(({ conversions, revenue }) => ({ conversions, revenue }));
  };
  const withoutRate = async () => (await metrics.ordersWithoutRate.get()).values;

  await set('usd', 'eur', '0.9');
  expect(await order('before')).toEqual([{ conversions: 1, revenue: 0 }]);
  expect(await withoutRate()).toMatchObject([{ value: 1, labels: { currency: 'eur' } }]);
  expect(await set('eur', 'usd', '1.0832')).toMatchObject({ orders_reattributed: 1 });
  expect(await order('after')).toEqual([{ conversions: 2, revenue: 216.64 }]);
  expect(await withoutRate()).toMatchObject([{ value: 1 }]);
  await cli.json('rate', 'delete', ...pair('eur', 'usd'));
  expect(await order('deleted')).toEqual([{ conversions: 3, revenue: 216.64 }]);
  expect(await withoutRate()).toMatchObject([{ value: 2 }]);
  const { stdout } = await cli.run('rate', 'set', ...pair('eur', 'usd'), '--rate', '1');
  expect(stdout).toMatch(/\n\nOrders without revenue to attribute again: 1\.\n/);
});

test("commission is converted into the program's currency by the rate, also what lacked it", async ({
  shop,
}) => {
  const m = merchant(shop);
  await m.program({ commission_rate: 20, currency: 'gbp' });
  const { ref } = await m.enroll('r');
  await m.signup('n', { ref_code: ref });
  const { body } = await m.purchase('n', 'before', 100, { currency: 'eur' });
  expect(body).toMatchObject({ rewarded: false, reason: 'no_currency_rate' });
  await set('eur', 'gbp', '0.85');
  await m.purchase('n', 'after', 100, { currency: 'eur' });
  expect((await m.stats('r')).rewards.cash).toMatchObject({ pending: 34, currency: 'gbp' });
});
