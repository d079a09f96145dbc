import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { clickLinks, firstVisits } from '../support/clicker.ts';
import { descendantsOf } from '../support/descendants.ts';
import { makeLink } from '../support/first-click.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { accountFor } from './accounting.ts';
import { killEverything, postmaster } from './processes.ts';

let directory: string;
let dataDir: string;
let service: Service;
let key: string;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-back-'));
  dataDir = join(directory, 'data');
  service = await startService({ dataDir });
});

afterEach(async () => {
  if (service.process.exitCode === null) await service.stop();
  rmSync(directory, { recursive: true, force: true });
});

async function call<T>(method: string, path: string, body?: object): Promise<T> {
  const response = await fetch(`${service.api_url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok)
    throw new Error(`${method} ${path} returned ${response.status}: ${await response.text()}`);
  return (await response.json()) as T;
}

/** Keeps owners and modes, because PostgreSQL refuses others. */
const copyFiles = (from: string, to: string) => execFileSync('cp', ['-a', from, to]);

/** Copies PostgreSQL's files as of one moment, while its processes are paused. */
function copyPostgres(to: string): void {
  const root = postmaster(dataDir);
  const processes = [root, ...descendantsOf(root)];
  for (const pid of processes) process.kill(pid, 'SIGSTOP');
  copyFiles(join(dataDir, 'postgres'), to);
  for (const pid of processes) process.kill(pid, 'SIGCONT');
}

type Totals = { clicks: number; leads: number; conversions: number; revenue: number };

async function totals(linkId: string): Promise<Totals> {
  const { totals } = await call<{ totals: Totals }>('POST', '/analytics/query', {
    metrics: ['clicks', 'leads', 'conversions', 'revenue'],
    dimensions: [],
    filters: [{ dimension: 'link', operator: 'is', values: [linkId] }],
    window: { days: 1 },
  });
  return totals;
}

test('PostgreSQL alone goes back to an earlier state: every click, lead, and order counts once, and the log says so', async () => {
  key = service.demo?.secret_key ?? '';
  const link = await makeLink(service, key, 'back');
  const urls = () => [`${service.short_url}/${link.slug}`];
  const visit = async (count: number) => {
    const first = await firstVisits(urls());
    const rest = await clickLinks({ urls: urls(), count: count - 1, connections: 4, paceMs: 5, seconds: 60 });
    return [...first, ...rest.answered];
  };
  const visitors: string[] = [];
  visitors.push(...(await visit(100)));
  await accountFor(service, key, visitors);
  const copy = join(directory, 'copy');
  copyPostgres(copy);

  visitors.push(...(await visit(200)));
  const buyer = visitors.at(-1);
  await call('POST', '/track/identify', { visitor_id: buyer, email: 'ann@mail.example' });
  await call('POST', '/track/order', { visitor_id: buyer, order_id: 'o-1', amount: 10, currency: 'usd' });
  const expected = { clicks: 300, leads: 1, conversions: 1, revenue: 10 };
  const seen = () => totals(link.id);
  await until('the figures before the kill', seen, (found) => found.conversions === 1 && found.leads === 1);
  expect(await seen()).toEqual(expected);
  await accountFor(service, key, visitors);

  await killEverything(service);
  rmSync(join(dataDir, 'postgres'), { recursive: true });
  copyFiles(copy, join(dataDir, 'postgres'));
  service = await startService({ dataDir });
  visitors.push(...(await visit(20)));
  expect(await accountFor(service, key, visitors)).toBe(320);
  await until('the order is known again', seen, (found) => found.conversions > 0 && found.leads > 0);
  expect(await seen()).toEqual({ ...expected, clicks: 320 });
  expect(service.log()).toMatch(/"events":2\d\d.*PostgreSQL had no record of events that ClickHouse has/);
});
