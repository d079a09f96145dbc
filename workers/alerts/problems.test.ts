import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { silentLogger } from '../../core/tier/log.ts';
import { createRedirectHealth } from '../../core/tier/redirect-health.ts';
import { insertDomain } from '../../sql/domains/domains.ts';
import { createOutbox } from '../../sql/mail/outbox.ts';
import { unsubscribe } from '../../sql/mail/unsubscribes.ts';
import type { TestWorkspace } from '../../test/support/api.ts';
import { makeLink } from '../../test/support/ingest.ts';
import { type Mailer, startMailer } from '../../test/support/mail-bench.ts';
import { type MailServer, startMailServer } from '../../test/support/mail-server.ts';
import { signedInAs } from '../../test/support/members.ts';
import { startReceiver } from '../../test/support/receiver.ts';
import { createWebhookBench, type WebhookBench } from '../../test/support/webhook-bench.ts';
import { createDestinationChecks } from '../destinations/check-destinations.ts';
import { checkDomains } from '../jobs/check-domains.ts';
import { checkProblems, PROBLEM_LEASE_MS, type ProblemDependencies } from './check-problems.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let bench: WebhookBench;
let server: MailServer;
let mailer: Mailer;
/** A site whose pages respond with a status, and ingest. */
const statuses = new Map<string, number>();
const requested: string[] = [];
let ingestState = 'ready';
const site = createServer((request, response) => {
  const path = request.url ?? '';
  requested.push(path);
  if (path === '/health/ready') response.end(JSON.stringify({ status: ingestState }));
  else if (statuses.get(path) === 302) response.writeHead(302, { location: '/moved' }).end();
  else response.writeHead(statuses.get(path) ?? 200).end('page');
});
let origin: string;

beforeAll(async () => {
  bench = await createWebhookBench();
  server = await startMailServer();
  mailer = startMailer(bench.api.stores.pool, server.url);
  site.listen(0, '127.0.0.1');
  await once(site, 'listening');
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await mailer.stop();
  await server.close();
  await bench.close();
  site.close();
});
/** Later tests look at their own workspace alone. */
afterEach(() => bench.api.stores.pool.query("UPDATE problem_checks SET due_at = 'infinity'"));

/** Looks for problems. @param after milliseconds from now; each check must be later than the last one by five minutes */
const check = (after: number, changes: Partial<ProblemDependencies> = {}) =>
  checkProblems(
    {
      ...bench.api.stores,
      log: silentLogger(),
      outbox: createOutbox(true),
      appUrl: 'https://app.example',
      redirects: createRedirectHealth(origin),
      ...changes,
    },
    Date.now() + after,
  );

async function shopWithOwner(options: Parameters<typeof bench.api.addWorkspace>[0] = {}) {
  const shop = await bench.api.addWorkspace(options);
  const { email } = await signedInAs(bench.api, shop, 'owner');
  await signedInAs(bench.api, shop, 'operator');
  return { shop, email, id: shop.workspace.id };
}

/** The subjects of a workspace's mails about problems, in the outbox. */
async function mailsOf(id: string): Promise<number> {
  const { rowCount } = await bench.api.stores.pool.query(
    "SELECT FROM mails WHERE workspace_id = $1 AND kind = 'problem'",
    [id],
  );
  return rowCount ?? 0;
}

test('owners are told when a webhook fails, and when it works again, and are left alone for 12 hours', async () => {
  const { shop, email, id } = await shopWithOwner({ name: 'Corner Shop' });
  const receiver = await startReceiver();
  const hook = await bench.hook(shop, receiver.url, ['credit.earned']);
  bench.work();
  const deliver = async (status: number) => {
    receiver.answerWith(status);
    await bench.credit(shop);
    await receiver.until(receiver.received.length + 1);
    await bench.untilDelivery(shop, hook, ({ response_status }) => response_status === status);
    // The webhook's own state follows its delivery.
    const isFailing = async () =>
      (
        await bench.api.stores.pool.query(
          'SELECT FROM webhooks WHERE id = $1 AND failing_since IS NOT NULL',
          [hook.id],
        )
      ).rowCount === 1;
    await expect.poll(isFailing).toBe(status !== 200);
  };
  await deliver(500);
  await check(0);
  // A retry may succeed.
  expect(await mailsOf(id)).toBe(0);
  await check(20 * MINUTE);
  const host = new URL(receiver.url).host;
  const began = await server.untilMailTo(email, `Problem: The webhook to ${shown(host)} fails`);
  expect(began.text).toContain('https://app.example/console/problems');
  expect(began.text).not.toContain('/hook');
  expect(began.raw).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click/im);
  await check(26 * MINUTE);
  expect(await mailsOf(id)).toBe(1);
  bench.ahead = HOUR;
  await bench.untilDelivery(shop, hook, ({ attempts }) => attempts > 1);
  await deliver(200);
  await check(2 * HOUR);
  await server.untilMailTo(email, `Resolved: The webhook to ${shown(host)} fails`);
  // It fails again within the quiet hours.
  await deliver(500);
  await check(3 * HOUR);
  expect(await mailsOf(id)).toBe(2);
  await check(13 * HOUR);
  expect(await mailsOf(id)).toBe(3);
  // A receiver that is gone disables the webhook: the failure became something else, and has not ended.
  await deliver(410);
  await check(14 * HOUR);
  await server.untilMailTo(email, `Problem: The webhook to ${shown(host)} is disabled`);
  expect(server.mails.filter(({ subject }) => subject?.startsWith('Resolved'))).toHaveLength(1);
  await bench.rest();
  await receiver.close();
});

test('a domain without its record, lost clicks, and a plan that is nearly used come in one mail', async () => {
  const { pool } = bench.api.stores;
  const { shop, email, id } = await shopWithOwner({ name: 'Corner Shop', plan: 'free' });
  const { id: domain, proof } = await insertDomain(pool, id, {
    ...{ domain: 'go.shop.example', root_url: null, not_found_url: null, expired_url: null },
    ...{ apple_app_site_association: null, assetlinks: null },
  });
  let records = [proof];
  const lookUp = () =>
    checkDomains({
      pool,
      log: silentLogger(),
      lookUpTxt: async () => ({ kind: 'records', values: records }),
    });
  await lookUp();
  for (let n = 0; n < 20; n++) await makeLink(pool, id, 'https://shop.example/');
  await check(0);
  expect(await mailsOf(id)).toBe(1);
  const near = await server.untilMailTo(email, 'Problem: 80% of the plan’s links are used');
  expect(near.text).toContain('Corner Shop');
  records = ['something else'];
  await pool.query("UPDATE domains SET last_checked_at = now() - interval '2 days' WHERE id = $1", [domain]);
  await lookUp();
  ingestState = 'degraded';
  await check(6 * MINUTE);
  const both = await server.untilMailTo(email, 'New problems in Corner Shop');
  expect(both.text).toContain('Clicks are lost');
  expect(both.text).toContain(`The domain ${shown('go.shop.example')} fails its check`);
  ingestState = 'ready';
  // The usage is looked at once an hour: until then it stays as it was.
  await pool.query('UPDATE links SET deleted_at = now() WHERE workspace_id = $1', [id]);
  await check(12 * MINUTE);
  await server.untilMailTo(email, 'Resolved: Clicks are lost');
  await check(2 * HOUR);
  await server.untilMailTo(email, 'Resolved: 80% of the plan’s links are used');
  expect((await shop.get('/workspace')).body).toMatchObject({ problem_mails: true });
});

test('destinations are requested once a day where the workspace wants it, and never at private addresses', async () => {
  const { pool } = bench.api.stores;
  const { shop, email, id } = await shopWithOwner({ name: 'Corner Shop' });
  for (const path of ['/fine', '/gone?v={visitor_id}', '/broken', '/old', '/refuses'])
    await makeLink(pool, id, `${origin}${path}`);
  await makeLink(pool, id, 'mailto:grace@shop.example');
  const other = await shopWithOwner();
  await makeLink(pool, other.id, `${origin}/unwanted`);
  const set = (pages: Record<string, number>) => {
    for (const [path, status] of Object.entries(pages)) statuses.set(path, status);
  };
  set({ '/gone?v=': 404, '/broken': 503, '/old': 302, '/moved': 200, '/refuses': 403 });
  const log = silentLogger();
  const guarded = createDestinationChecks({ pool, log, options: { allowPrivate: false } });
  const open = createDestinationChecks({ pool, log, options: { allowPrivate: true } });
  const run = async (checks: typeof open, now: number) => {
    while (await checks.run(now));
  };
  const asked = () => requested.filter((path) => path !== '/health/ready');
  requested.length = 0;
  await run(open, Date.now() + MINUTE);
  expect(asked()).toEqual([]);
  await shop.patch('/workspace', { check_destinations: true });
  await run(guarded, Date.now() + 20 * MINUTE);
  expect(asked()).toEqual([]);
  const { rows } = await pool.query('SELECT error FROM destination_checks');
  expect(rows).toEqual(Array(5).fill({ error: null }));
  await run(open, Date.now() + 25 * HOUR);
  expect(asked().sort()).toEqual(['/broken', '/fine', '/gone?v=', '/moved', '/old', '/refuses']);
  // One failure may be a restart. An hour later those that failed are requested again.
  await check(0);
  expect(await mailsOf(id)).toBe(0);
  requested.length = 0;
  await run(open, Date.now() + 27 * HOUR);
  expect(asked().sort()).toEqual(['/broken', '/gone?v=']);
  await pool.query('UPDATE destination_checks SET failing_since = now() WHERE failures > 0');
  await check(6 * MINUTE);
  const mail = await server.untilMailTo(
    email,
    `Problem: Destinations on ${shown(new URL(origin).host)} that do not work: 2`,
  );
  expect(mail.text).toContain('/broken: 503');
  set({ '/gone?v=': 200, '/broken': 200 });
  await run(open, Date.now() + 34 * HOUR);
  await check(12 * MINUTE);
  await server.untilMailTo(
    email,
    `Resolved: Destinations on ${shown(new URL(origin).host)} that do not work: 2`,
  );
  await shop.patch('/workspace', { check_destinations: false });
  await run(open, Date.now() + 35 * HOUR);
  expect((await pool.query('SELECT FROM destination_checks')).rowCount).toBe(0);
  for (const checks of [guarded, open]) checks.close();
});

test('no one is told who ended it, where the setting is off, or where nothing is mailed', async () => {
  const { pool } = bench.api.stores;
  const [{ id: off, shop }, ended] = [await shopWithOwner(), await shopWithOwner()];
  await unsubscribe(pool, { workspaceId: ended.id, email: ended.email });
  await shop.patch('/workspace', { problem_mails: false });
  await brokenWebhook(shop);
  await brokenWebhook(ended.shop);
  await check(0);
  expect([await mailsOf(off), await mailsOf(ended.id)]).toEqual([0, 0]);
  // A problem that lasts is told once the setting is on.
  await shop.patch('/workspace', { problem_mails: true });
  await check(6 * MINUTE, { outbox: createOutbox(false) });
  expect(await mailsOf(off)).toBe(0);
  await check(12 * MINUTE);
  expect(await mailsOf(off)).toBe(1);
});

test('two workers at once, and one whose claim has ended, tell a problem once', async () => {
  const { shop, id } = await shopWithOwner();
  await brokenWebhook(shop);
  await check(0, { redirects: async () => 'ready' });
  await bench.api.stores.pool.query('DELETE FROM problem_alerts; DELETE FROM mails');
  await bench.api.stores.pool.query('UPDATE problem_checks SET due_at = now() WHERE workspace_id = $1', [id]);
  let second: Promise<boolean> | null = null;
  await Promise.all([check(MINUTE), check(MINUTE)]);
  expect(await mailsOf(id)).toBe(1);
  await bench.api.stores.pool.query('DELETE FROM problem_alerts');
  // The claim of the first one ends while it looks.
  await check(7 * MINUTE, {
    async redirects() {
      second ??= check(7 * MINUTE + PROBLEM_LEASE_MS + 1_000);
      await second;
      return 'ready';
    },
  });
  expect(await mailsOf(id)).toBe(2);
});

/** A webhook that the service has disabled. */
async function brokenWebhook(shop: TestWorkspace): Promise<void> {
  const { id } = await bench.hook(shop, 'https://hooks.example/in', ['click.created']);
  await bench.api.stores.pool.query(
    'UPDATE webhooks SET is_active = false, disabled_at = now() WHERE id = $1',
    [id],
  );
}

/** As mails show a host: mail programs make no link of it. */
const shown = (host: string) => host.replaceAll('.', '.\u2060');
