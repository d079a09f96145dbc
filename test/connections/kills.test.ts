import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { invoice, stripeEvent } from '../../core/connections/stripe/fixtures/events.ts';
import { apiTest as test } from '../support/fixtures.ts';
import { ago, stripeShop } from './rig.ts';

const SCRIPT = fileURLToPath(new URL('killed-processor.ts', import.meta.url));

test.beforeAll(async ({ api }) => {
  await api.stores.createTables();
});

/** Begins of the statements before which the worker is killed; the last one never comes. */
const STEPS = [
  'SELECT FROM connection_events', // the event is stored, and read
  'INSERT INTO connection_payments',
  'INSERT INTO purchases',
  'UPDATE connection_events SET status = $2, reason = $3, payment_id',
  'COMMIT',
  'NOTHING',
];

test('an event is applied once, whenever kill -9 ends the worker between store and work', async ({ api }) => {
  const shop = await stripeShop(api);
  await shop.referral({ commission_rate: 20, hold_days: 0 });
  const bought = invoice('in_1', 5_000, { metadata: { hoplog_user_id: 'n' } });
  expect((await shop.send(stripeEvent('invoice.paid', bought, ago(10)))).status).toBe(200);
  const { databaseUrl, clickhouseUrl, clickhouseDatabase } = api.stores;
  for (const step of STEPS) {
    expect(await shop.outcomes()).toEqual([['invoice.paid', 'pending', null]]);
    const args = [SCRIPT, databaseUrl, clickhouseUrl, clickhouseDatabase, step];
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
      stdio: 'inherit',
    });
    expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
  }
  await shop.work();
  expect(await shop.outcomes()).toEqual([['invoice.paid', 'recorded', null]]);
  const { purchases, balances } = await shop.ledger();
  expect(purchases.map((one) => [one.order_id, one.amount_minor, one.earned])).toEqual([
    ['stripe:in_1', 5_000, 1_000],
  ]);
  expect(balances).toEqual([{ external_user_id: 'r', account: 'cash_eligible', unit: 'usd', amount: 1_000 }]);
});
