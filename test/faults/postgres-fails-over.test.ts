import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../cli/embedded/free-port.ts';
import { serviceUrlOf } from '../../cli/embedded/postgres.ts';
import { postgresHosts } from '../../core/databases/postgres-hosts.ts';
import { createPool } from '../../sql/database/pool.ts';
import { untilLinksSynced } from '../kafka/deployment.ts';
import { clickLinks, firstVisits } from '../support/clicker.ts';
import { exposedFigure } from '../support/exposed-figure.ts';
import { makeLink } from '../support/first-click.ts';
import { NIGHTLY } from '../support/nightly.ts';
import { type ReplicatedPostgres, startReplicatedPostgres } from '../support/replicated-postgres.ts';
import { type Service, startService } from '../support/service.ts';
import { LIMIT_MS, until } from '../support/until.ts';
import { accountFor } from './accounting.ts';

/**
 * From the death of the primary until a purchase is confirmed again, the promotion included. Only the nightly run,
 * which has the machine for itself, compares it: beside other tests, their load decides.
 */
const BACK_MS = NIGHTLY ? 10_000 : LIMIT_MS;
const BUYERS = 4;

let directory: string;
let postgres: ReplicatedPostgres;
let service: Service;
let dataDir: string;
let metricsPort: number;

beforeAll(async () => {
  metricsPort = await freePort('127.0.0.1', 4);
  directory = mkdtempSync(join(tmpdir(), 'hoplog-failover-'));
  dataDir = join(directory, 'data');
  postgres = await startReplicatedPostgres(directory);
  service = await startService({
    dataDir,
    env: {
      METRICS_PORT: String(metricsPort),
      DATABASE_URL: postgres.urlOf(serviceUrlOf),
      DATABASE_OWNER_URL: postgres.urlOf((url) => url),
      // The least: no process may need more connections than this at once.
      DATABASE_POOL_INGEST: '2',
      DATABASE_POOL_WORKERS: '2',
      DATABASE_POOL_API: '2',
    },
  });
});

afterAll(async () => {
  if (service?.process.exitCode === null) await service.stop();
  await postgres?.stop();
  rmSync(directory, { recursive: true, force: true });
});

async function call<T>(method: string, path: string, body?: object): Promise<{ status: number; body: T }> {
  const response = await fetch(`${service.api_url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${service.demo?.secret_key}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as T };
}

async function made<T>(path: string, body: object): Promise<T> {
  const answer = await call<T>('POST', path, body);
  if (answer.status > 201)
    throw new Error(`POST ${path} returned ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** A referrer, and a user who signed up by them and now buys. */
async function referral(): Promise<void> {
  await made('/programs', {
    name: 'Refer',
    code: 'refer',
    destination_url: 'https://shop.example/join',
    commission_rate: 20,
    hold_days: 0,
    allow_affiliate_upgrade: true,
    payout_methods: ['paypal'],
  });
  const { referral_link } = await made<{ referral_link: string }>('/referrals/enroll', {
    email: 'r@mail.example',
    external_user_id: 'r',
    tier: 'paid',
  });
  await made('/referrals/report-signup', {
    new_user_external_user_id: 'n',
    ref_code: referral_link.split('/').at(-1),
  });
}

type Purchases = { confirmed: { order: string; at: number }[]; statuses: Set<number> };

/** Reports purchases one after the other, each until it is confirmed, as a merchant's queue does. */
async function buy(name: string, signal: AbortSignal, purchases: Purchases): Promise<void> {
  for (let number = 1; !signal.aborted; number += 1) {
    const order = `${name}-${number}`;
    for (;;) {
      const { status } = await call('POST', '/referrals/report-purchase', {
        external_user_id: 'n',
        order_id: order,
        amount: 10,
        currency: 'usd',
      });
      purchases.statuses.add(status);
      if (status === 200) break;
      await delay(50);
    }
    purchases.confirmed.push({ order, at: performance.now() });
    await delay(10);
  }
}

test('a pool connects to the primary, wherever it is in the list', async () => {
  const [first, second] = postgresHosts(postgres.urlOf(serviceUrlOf)).urls;
  const { host } = new URL(first);
  const pool = createPool(`${second}`.replace(/(@[^/]+)/, `$1,${host}`), { max: 1 });
  const { rows } = await pool.query<{ port: number }>('SELECT inet_server_port() AS port');
  await pool.end();
  expect(rows).toEqual([{ port: Number(new URL(first).port) }]);
  const standby = createPool(`${second}?target_session_attrs=read-write`);
  await expect(standby.query('SELECT 1')).rejects.toMatchObject({ code: '25006', kind: 'unavailable' });
  await standby.end();
});

test('the primary is lost and a synchronous standby promoted: each click and purchase is there once', async ({
  onTestFinished,
}) => {
  const key = service.demo?.secret_key ?? '';
  await referral();
  const link = await makeLink(service, key, 'failover');
  const urls = [`${service.short_url}/${link.slug}`];
  const first = await firstVisits(urls);
  await untilLinksSynced(dataDir);
  const stop = new AbortController();
  const load = clickLinks({ urls, connections: 8, paceMs: 20, seconds: 60, signal: stop.signal });
  const purchases: Purchases = { confirmed: [], statuses: new Set() };
  const buyers = Promise.all(
    Array.from({ length: BUYERS }, (_, at) => buy(`b${at}`, stop.signal, purchases)),
  );
  const ended = Promise.allSettled([load, buyers]);
  // Where an assertion fails, they end before the service does.
  onTestFinished(async () => {
    stop.abort();
    await ended;
  });
  await until(
    'purchases before the loss',
    () => purchases.confirmed.length,
    (count) => count > 20,
  );

  const standbys = () => exposedFigure(metricsPort + 2, 'hoplog_postgres_standbys');
  expect(await standbys()).toBe(1);

  const lostAt = performance.now();
  postgres.killPrimary();
  // At least as long as a cluster manager takes to notice the failure.
  await delay(1_000);
  await postgres.promote();
  const { at: backAt } = await until(
    'a purchase after the loss',
    () => purchases.confirmed.find(({ at }) => at > lostAt + 1_000),
    (found) => found !== undefined,
  );
  expect(backAt - lostAt).toBeLessThan(BACK_MS);
  const back = purchases.confirmed.length;
  await until(
    'purchases as before',
    () => purchases.confirmed.length,
    (count) => count > back + 20,
  );
  // A link that is made now redirects: ingest reads changes of the new primary.
  const later = await makeLink(service, key, 'later');
  const afterwards = await firstVisits([`${service.short_url}/${later.slug}`]);
  await expect.poll(standbys, { timeout: 10_000 }).toBe(0);
  const open = await postgres.onStandby<{ name: string; count: number }>(
    `SELECT application_name AS name, count(*)::int AS count FROM pg_stat_activity
     WHERE application_name LIKE 'hoplog-%' GROUP BY 1 ORDER BY 1`,
  );
  stop.abort();
  const clicked = await load;
  await buyers;

  expect(open.map(({ name }) => name)).toEqual(expect.arrayContaining(['hoplog-api', 'hoplog-workers']));
  expect(open.filter(({ count }) => count > 2)).toEqual([]);
  expect([...purchases.statuses].toSorted()).toEqual([200, 503]);
  expect(clicked.refused).toEqual(new Map());
  expect(clicked.unanswered).toEqual([]);
  await accountFor(service, key, [...first, ...clicked.answered, ...afterwards]);
  const kept = await postgres.onStandby<{ order_id: string; commissions: number }>(
    `SELECT o.order_id, count(c.id)::int AS commissions
     FROM purchases p JOIN orders o ON o.internal_id = p.order_internal_id
     LEFT JOIN commissions c ON c.order_internal_id = o.internal_id
     GROUP BY o.internal_id, o.order_id ORDER BY o.order_id`,
  );
  expect(kept).toEqual(
    purchases.confirmed
      .map(({ order }) => ({ order_id: order, commissions: 1 }))
      .toSorted((one, other) => (one.order_id < other.order_id ? -1 : 1)),
  );
  console.log(
    `back ${Math.round(backAt - lostAt)} ms after the loss; ${clicked.answered.length} clicks, ${kept.length} purchases`,
  );
});
