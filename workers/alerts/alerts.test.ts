import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { AlertCondition } from '../../core/alerts/condition.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { alertById, insertAlert, listAlertChanges } from '../../sql/alerts/alerts.ts';
import { advanceStreams, registerStream } from '../../sql/event-log/streams.ts';
import { confirmAddress } from '../../sql/mail/confirmations.ts';
import { createOutbox } from '../../sql/mail/outbox.ts';
import { createWorkspace } from '../../sql/workspaces/workspaces.ts';
import { startMailer } from '../../test/support/mail-bench.ts';
import { startMailServer } from '../../test/support/mail-server.ts';
import { storeClicks } from '../../test/support/stored-events.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { checkAlerts } from './check-alerts.ts';

const HOUR = 3_600_000;
const WEEK = 168 * HOUR;
/** Noon in UTC, after the clocks of Berlin went back on October 25. */
const NOON = Date.parse('2026-11-05T12:00:00Z');

let stores: TestStores;
beforeAll(async () => {
  stores = await testStores();
});
afterAll(() => stores.close());
afterEach(() => stores.pool.query('DELETE FROM alerts; DELETE FROM mails'));

const check = (now: number) =>
  checkAlerts(
    { ...stores, log: silentLogger(), outbox: createOutbox(true), appUrl: 'https://app.example' },
    now,
  );

async function alertOf(condition: AlertCondition) {
  const { id: workspaceId } = await createWorkspace(stores.pool, { name: 'Corner Shop', plan: 'pro' });
  await stores.pool.query("UPDATE workspaces SET time_zone = 'Europe/Berlin' WHERE id = $1", [workspaceId]);
  await confirmAddress(stores.pool, { workspaceId, email: 'grace@shop.example' });
  const { id } = await insertAlert(stores.pool, workspaceId, {
    name: 'Clicks',
    saved_view_id: null,
    query: { filters: [{ dimension: 'country', operator: 'is', values: ['DE'] }] },
    condition,
    recipients: [{ type: 'email', address: 'grace@shop.example' }],
    quiet_hours: 12,
    is_active: true,
  });
  await stores.pool.query("UPDATE alerts SET due_at = '2026-11-01', since = '2026-11-01'");
  return { workspaceId, id };
}

const clicksAt = (workspaceId: string, at: number, count: number, country = 'DE') =>
  storeClicks(
    stores,
    Array.from({ length: count }, (_, n) => ({
      workspaceId,
      tsNanos: BigInt(at) * 1_000_000n + BigInt(n) * 1_000n,
      country,
    })),
  );

const told = async () => (await stores.pool.query("SELECT kind FROM mails WHERE kind = 'alert'")).rows.length;

test('a start and an end are told once, also by two workers at once, and are in the history', async () => {
  const { pool } = stores;
  const { workspaceId, id } = await alertOf({ metric: 'clicks', type: 'over', value: 2, window_hours: 1 });
  await clicksAt(workspaceId, NOON - HOUR, 2);
  await clicksAt(workspaceId, NOON - HOUR, 9, 'FR');
  await check(NOON + 60_000);
  expect(await told()).toBe(0);
  // The same hour is not checked again.
  await clicksAt(workspaceId, NOON - HOUR + 1, 5);
  await check(NOON + 120_000);
  expect(await told()).toBe(0);
  await clicksAt(workspaceId, NOON, 3);
  const server = await startMailServer();
  const mailer = startMailer(pool, server.url);
  await Promise.all([check(NOON + HOUR + 60_000), check(NOON + HOUR + 60_000)]);
  expect(await alertById(pool, workspaceId, id)).toMatchObject({
    state: 'firing',
    checked_until: '2026-11-05T13:00:00.000000Z',
  });
  const mail = await server.untilMailTo('grace@shop.example', 'Alert: Clicks');
  expect(mail.text).toContain('Condition: Clicks: over 2 in an hour');
  expect(mail.text).toContain('Clicks: 3');
  expect(mail.text).toContain('https://app.example/console/?f=country%3Ais%3ADE');
  // The end is told in the language that the workspace has by then.
  await pool.query("UPDATE workspaces SET language = 'ar' WHERE id = $1", [workspaceId]);
  await check(NOON + 2 * HOUR + 60_000);
  const ended = await server.untilMailTo('grace@shop.example', 'انتهى: Clicks');
  expect(ended.text).toContain('النقرات: أكثر من 2 خلال ساعة');
  expect(ended.html).toContain('dir="rtl"');
  expect(await told()).toBe(2);
  const history = await listAlertChanges(pool, workspaceId, id, { before: null, limit: 10 });
  expect(history.map(({ state, value, is_told }) => [state, value, is_told])).toEqual([
    ['ok', 0, true],
    ['firing', 3, true],
  ]);
  await mailer.stop();
  await server.close();
});

test('a change is against the same local hours of four weeks, across a change of clocks', async () => {
  const { workspaceId, id } = await alertOf({
    metric: 'clicks',
    type: 'change',
    percent: 50,
    window_hours: 1,
  });
  for (let week = 1; week <= 4; week++) {
    // Three and four weeks before, the local hour was an hour earlier in UTC.
    const local = NOON - week * WEEK - (week >= 2 ? HOUR : 0);
    await clicksAt(workspaceId, local - HOUR, 200);
  }
  await clicksAt(workspaceId, NOON - HOUR, 30);
  await check(NOON + 60_000);
  expect(await told()).toBe(1);
  const [change] = await listAlertChanges(stores.pool, workspaceId, id, { before: null, limit: 1 });
  expect(change).toMatchObject({ state: 'firing', value: 30, expected: 200 });
});

test('none for some hours, and a check that waits for the last clicks of the hour', async () => {
  const { pool } = stores;
  const { workspaceId } = await alertOf({ metric: 'clicks', type: 'none', window_hours: 3 });
  await clicksAt(workspaceId, NOON - 3 * HOUR, 1);
  await check(NOON + 60_000);
  expect(await told()).toBe(0);
  const { streamId, ordinal } = await registerStream(pool, 'late');
  const visibleBefore = (NOON + HOUR - 1) * 1_000;
  await advanceStreams(pool, [{ streamId, ordinal, highWater: 1n, visibleBefore }]);
  await check(NOON + HOUR + 60_000);
  expect(await told()).toBe(0);
  await advanceStreams(pool, [{ streamId, ordinal, highWater: 2n, visibleBefore: (NOON + HOUR) * 1_000 }]);
  await check(NOON + HOUR + 120_000);
  expect(await told()).toBe(1);
  await pool.query("UPDATE ingest_streams SET state = 'retired'");
});
