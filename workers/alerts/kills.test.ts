import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { silentLogger } from '../../core/tier/log.ts';
import { alertById, insertAlert, listAlertChanges } from '../../sql/alerts/alerts.ts';
import { confirmAddress } from '../../sql/mail/confirmations.ts';
import { createOutbox } from '../../sql/mail/outbox.ts';
import { createWorkspace } from '../../sql/workspaces/workspaces.ts';
import { startMailer } from '../../test/support/mail-bench.ts';
import { startMailServer } from '../../test/support/mail-server.ts';
import { untilRolledBack } from '../../test/support/rolled-back.ts';
import { storeClicks } from '../../test/support/stored-events.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { MAIL_LEASE_MS } from '../mail/mail.ts';
import { ALERT_LEASE_MS, type AlertDependencies, checkAlerts } from './check-alerts.ts';

const scriptAt = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const ALERTER = scriptAt('../test-support/killed-alerter.ts');
const MAILER = scriptAt('../../test/support/killed-mailer.ts');
const HOUR = 3_600_000;
const NOON = Date.parse('2026-11-05T12:00:00Z');
const STEPS = ['claimed', 'found', 'queued', 'committed'];
/** Before these an end is as a start. */
const ENDS_KILLED_AT = ['queued', 'committed'];

let stores: TestStores;
beforeAll(async () => {
  stores = await testStores();
});
afterAll(() => stores.close());

const check = (now: number, changes: Partial<AlertDependencies> = {}) =>
  checkAlerts(
    {
      ...stores,
      log: silentLogger(),
      outbox: createOutbox(true),
      appUrl: 'https://app.example',
      ...changes,
    },
    now,
  );

/** Makes an alert over two clicks an hour, with three clicks in the hour before noon alone. */
async function alertOf(name: string) {
  const { pool } = stores;
  const { id: workspaceId } = await createWorkspace(pool, { name: 'Corner Shop', plan: 'pro' });
  const email = `${name}@shop.example`;
  await confirmAddress(pool, { workspaceId, email });
  const { id } = await insertAlert(pool, workspaceId, {
    name,
    saved_view_id: null,
    query: {},
    condition: { metric: 'clicks', type: 'over', value: 2, window_hours: 1 },
    recipients: [{ type: 'email', address: email }],
    quiet_hours: 12,
    is_active: true,
  });
  await pool.query("UPDATE alerts SET due_at = '2026-11-01', since = '2026-11-01' WHERE id = $1", [id]);
  const tsNanos = BigInt(NOON - HOUR) * 1_000_000n;
  await storeClicks(
    stores,
    [0n, 1n, 2n].map((n) => ({ workspaceId, tsNanos: tsNanos + n * 1_000n })),
  );
  return { workspaceId, id, email };
}

const queuedTo = async (email: string) =>
  (await stores.pool.query('SELECT FROM mails WHERE recipient = $1', [email])).rowCount;

async function killed(script: string, ...args: string[]): Promise<void> {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', script, stores.databaseUrl, ...args],
    { stdio: 'inherit' },
  );
  expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
}

/** Kills a worker at a step, then lets two at once do what is left. @returns the mails right after the kill */
async function checkedWithKill(step: string, now: number, email: string): Promise<number | null> {
  await killed(ALERTER, inject('clickhouseUrl'), stores.clickhouseDatabase, String(now), step);
  await untilRolledBack(stores.pool);
  const left = await queuedTo(email);
  // The claim of the dead one holds.
  await check(now + 1_000);
  expect(await queuedTo(email), step).toBe(left);
  const later = now + ALERT_LEASE_MS + 1_000;
  await Promise.all([check(later), check(later)]);
  return left;
}

test('workers that are killed at any step, and two at once, tell each start and each end once', async () => {
  const { pool } = stores;
  const server = await startMailServer();
  for (const step of STEPS) {
    const { workspaceId, id, email } = await alertOf(step);
    const isQueued = step === 'committed' ? 1 : 0;
    expect(await checkedWithKill(step, NOON + 60_000, email), step).toBe(isQueued);
    expect(await queuedTo(email), step).toBe(1);
    expect(await alertById(pool, workspaceId, id), step).toMatchObject({ state: 'firing' });
    const end = NOON + HOUR + 60_000;
    if (ENDS_KILLED_AT.includes(step))
      expect(await checkedWithKill(step, end, email), step).toBe(1 + isQueued);
    else await Promise.all([check(end), check(end)]);
    expect(await queuedTo(email), step).toBe(2);
    const history = await listAlertChanges(pool, workspaceId, id, { before: null, limit: 10 });
    expect(history.map(({ state, value, is_told }) => [state, value, is_told])).toEqual([
      ['ok', 0, true],
      ['firing', 3, true],
    ]);
    await pool.query('UPDATE alerts SET is_active = false, due_at = NULL');
  }
  // A mailer dies when the server has accepted a mail and PostgreSQL does not know it yet: that mail comes twice.
  await killed(MAILER, server.url, 'answered');
  const mailer = startMailer(pool, server.url, { now: () => Date.now() + MAIL_LEASE_MS });
  for (const step of STEPS) await server.untilMailTo(`${step}@shop.example`, `Resolved: ${step}`);
  await expect
    .poll(async () => (await pool.query("SELECT FROM mails WHERE status <> 'delivered'")).rowCount)
    .toBe(0);
  const ids = new Map(server.mails.map(({ messageId, subject }) => [messageId, subject]));
  expect([...ids.values()].sort()).toEqual(STEPS.flatMap((s) => [`Alert: ${s}`, `Resolved: ${s}`]).sort());
  const again = server.mails.length - ids.size;
  expect(again).toBeGreaterThanOrEqual(1);
  await mailer.stop();
  await server.close();
});

test('a worker whose claim ended while it looked tells nothing: the other one has told it', async () => {
  const { workspaceId, id, email } = await alertOf('slow');
  let second: Promise<boolean> | null = null;
  await check(NOON + 60_000, {
    onStep(step) {
      if (step === 'found') second ??= check(NOON + 60_000 + ALERT_LEASE_MS + 1_000);
    },
  });
  await second;
  expect(await queuedTo(email)).toBe(1);
  expect(await listAlertChanges(stores.pool, workspaceId, id, { before: null, limit: 10 })).toHaveLength(1);
});
