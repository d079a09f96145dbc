import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPool } from '../../sql/database/pool.ts';
import { createTestDeployment, type TestDeployment } from '../deploy/test-deployment.ts';
import { accountFor, untilVisible } from '../faults/accounting.ts';
import { type Backup, backUp } from '../support/backups.ts';
import { clickLinks, firstVisits } from '../support/clicker.ts';
import { type Link, makeLink } from '../support/first-click.ts';
import { operator } from '../support/hoplog.ts';
import { NO_KAFKA } from '../support/kafka.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import type { Ready } from '../support/service.ts';
import { until } from '../support/until.ts';
import { visit } from '../support/visitors.ts';
import { pollClicks } from './deployment.ts';

/** The steps are those of docs/operations/backup.md. */
const LIMIT = 30;
const PARTITIONS = 4;
const PATIENT = { timeout: 60_000, interval: 100 };
/** The second link is created after the backup, so no backup contains it. */
const INGEST = ['ingest-0', 'ingest-1'];

let deployment: TestDeployment;
let service: Ready;
let receiver: Receiver;
let backup: Backup | undefined;
/** Visitors who were redirected, by link. */
const answered = new Map<Link, string[]>();

beforeAll(async () => {
  if (NO_KAFKA !== false) return;
  receiver = await startReceiver();
  deployment = await createTestDeployment({ WEBHOOK_ALLOW_PRIVATE: 'true' });
  await deployment.start(['ingest-0', 'workers-0', 'api-0']);
  service = {
    api_url: `http://${deployment.host('api-0')}:3000/api/v1`,
    short_url: `http://${deployment.host('ingest-0')}:8080`,
  };
}, 240_000);

afterAll(async () => {
  await deployment?.close();
  await backup?.remove();
  await receiver?.close();
});

const at = (ingest: string, { slug }: Link) => `http://${deployment.host(ingest)}:8080/${slug}`;
const statusAt = async (ingest: string, link: Link) => (await visit(at(ingest, link))).status;

/** Sends this many visitors through each of these ingest processes. */
async function click(link: Link, count: number, processes = ['ingest-0']): Promise<void> {
  const urls = processes.map((ingest) => at(ingest, link));
  note(link, await firstVisits(urls));
  const clicked = await clickLinks({ urls, count: (count - 1) * urls.length, connections: 4 });
  expect([clicked.refused, clicked.unanswered]).toEqual([new Map(), []]);
  note(link, clicked.answered);
}

const redirectedBy = (link: Link) => answered.get(link) ?? [];
const note = (link: Link, visitors: string[]) => answered.set(link, [...redirectedBy(link), ...visitors]);

async function clickUntilLimit(link: Link, ingest: string): Promise<void> {
  const click = async () => {
    const { status, location } = await visit(at(ingest, link));
    if (status === 302) note(link, [location?.searchParams.get('_vid') ?? '']);
    return status;
  };
  await until('410 at the limit', click, (status) => status === 410, { intervalMs: 0 });
}

async function ask(status: number, method: string, path: string, body?: object): Promise<void> {
  const headers = { authorization: `Bearer ${deployment.key}`, 'content-type': 'application/json' };
  const sent = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  const response = await fetch(`${service.api_url}${path}`, sent);
  expect([response.status, await response.text()]).toEqual([status, expect.anything()]);
}

const order = (order_id: string) =>
  ask(202, 'POST', '/track/order', { order_id, amount: 10, currency: 'usd', email: `${order_id}@x.example` });

/** Ids of the stored orders. */
async function orders(): Promise<string[]> {
  const pool = createPool(deployment.stores.databaseUrl, { max: 1 });
  const { rows } = await pool.query<{ order_id: string }>('SELECT order_id FROM orders ORDER BY order_id');
  await pool.end();
  return rows.map(({ order_id }) => order_id);
}

/** Returns how many records of the topic workers have not stored; null while that is unknown. */
async function behind(): Promise<number | null> {
  const response = await fetch(`http://${deployment.host('workers-0')}:9464/metrics`);
  const lags = [...(await response.text()).matchAll(/^hoplog_worker_lag_offsets\S* (\d+)$/gm)];
  return lags.length < PARTITIONS ? null : lags.reduce((sum, [, lag]) => sum + Number(lag), 0);
}

/** Returns how many webhooks delivered clicks of the link, each counted once and in order. */
function told({ id }: Link): { events: number; deliveries: number } {
  const ids = receiver.received.filter(({ event }) => event.data.link_id === id).map((one) => one.id);
  return { events: new Set(ids).size, deliveries: ids.length };
}

test('restoring a backup of both databases loses no click that Kafka holds, and counts none twice', {
  tags: 'nightly',
  timeout: 240_000,
}, async (context) => {
  context.skip(NO_KAFKA !== false, String(NO_KAFKA));
  const { key, stores } = deployment;
  await ask(201, 'POST', '/webhooks', { url: receiver.url, events: ['click.created'] });
  const [kept, limited, deleted] = [
    await makeLink(service, key, 'kept'),
    await makeLink(service, key, 'limited'),
    await makeLink(service, key, 'deleted'),
  ];
  await ask(200, 'PATCH', `/links/${limited.id}`, { max_clicks: LIMIT });
  let complete: string[] | null = null;
  const isComplete = (seen: Set<string>) => complete?.every((visitor) => seen.has(visitor)) ?? false;
  const polling = pollClicks(service, key, kept.id, isComplete, Date.now() - 60_000);
  await click(kept, 20);
  await click(limited, 4);
  await order('before');
  await untilVisible(service, key, Date.now());

  await deployment.stop(['workers-0']);
  await click(kept, 20);
  backup = await backUp(stores);
  await click(kept, 20);
  await deployment.start(['workers-0', 'ingest-1']);
  const later = await makeLink(service, key, 'later');
  await click(kept, 20, INGEST);
  await click(limited, 6, INGEST);
  await click(later, 10);
  await order('after');
  await ask(200, 'DELETE', `/links/${deleted.id}`);
  await untilVisible(service, key, Date.now());
  const ofKept = 3 * 20 + 2 * 20;
  await expect.poll(() => told(kept).events, PATIENT).toBe(ofKept);

  await deployment.stop();
  await backup.restore();
  await deployment.start(['workers-0']);
  await expect.poll(behind, PATIENT).toBe(0);
  await deployment.start([...INGEST, 'api-0']);
  expect(await operator(stores).json('dead-letter', 'replay')).toMatchObject({ left: 0 });

  await Promise.all(INGEST.map((one) => clickUntilLimit(limited, one)));
  expect(redirectedBy(limited)).toHaveLength(LIMIT);
  await click(kept, 20, INGEST);
  await click(deleted, 1, INGEST);
  expect([await statusAt('ingest-0', later), await statusAt('ingest-1', later)]).toEqual([404, 404]);
  const all = [...answered.values()].flat();
  expect(await accountFor(service, key, all)).toBe(all.length);
  complete = redirectedBy(kept);
  expect((await polling).size).toBe(complete.length);
  expect(await orders()).toEqual(['after', 'before']);
  expect(told(kept).deliveries).toBeGreaterThan(ofKept);
  await expect.poll(() => told(kept).events, PATIENT).toBe(ofKept + 2 * 20);
});
