import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../cli/embedded/free-port.ts';
import type { Pool } from '../sql/database/pool.ts';
import { createKey } from '../sql/workspaces/keys.ts';
import { createWorkspace } from '../sql/workspaces/workspaces.ts';
import { ingestHealth } from './kafka/deployment.ts';
import { bound } from './support/bound-process.ts';
import { LOCAL_ROOT, localCaddyfile, NO_CERTIFICATE, visitOverTls } from './support/caddy.ts';
import { makeDomain } from './support/domains.ts';
import { type ServedWorkspace, servedWorkspace } from './support/shared-service.ts';
import { until } from './support/until.ts';

/**
 * The shipped Caddyfile in a real Caddy (Debian's package), with certificates of Caddy's local authority instead of a
 * public one.
 */
const hasCaddy = (() => {
  try {
    execFileSync('caddy', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();
const NO_CADDY = 'caddy is not installed';

let served: ServedWorkspace;
let pool: Pool;
let stopCaddy: (() => Promise<unknown>) | undefined;
let dir: string;
let port: number;
let asked: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'hoplog-caddy-'));
  served = await servedWorkspace();
  pool = served.pool;
  const { service, dataDir } = served;
  asked = new URL('/tls/allowed', ingestHealth(dataDir)).href;
  if (!hasCaddy) return;
  port = await freePort();
  const config = join(dir, 'Caddyfile');
  const ports = [`https_port ${port}`, `http_port ${await freePort()}`];
  // No HTTP/3: `freePort` holds the UDP port.
  await writeFile(config, localCaddyfile(['admin off', ...ports, 'servers {\nprotocols h1 h2\n}']));
  const { file, args } = bound('caddy', ['run', '--adapter', 'caddyfile', '--config', config]);
  const caddy = spawn(file, args, {
    stdio: 'ignore',
    env: {
      PATH: process.env.PATH,
      HOME: dir,
      XDG_DATA_HOME: dir,
      XDG_CONFIG_HOME: dir,
      SHORT_HOST: 'short.test',
      API_HOST: 'api.test',
      REDIRECTS: new URL(service.short_url).host,
      API: new URL(service.api_url).host,
      TLS_ALLOWED: asked,
      EMAIL: 'ops@example.com',
    },
  });
  const exited = once(caddy, 'exit');
  stopCaddy = () => {
    caddy.kill('SIGTERM');
    return exited;
  };
  await until(
    'Caddy serves the deployment’s own host',
    () => visit('short.test', '/nowhere'),
    (answer) => answer.startsWith('404'),
  );
});
afterAll(async () => {
  await stopCaddy?.();
  await served?.close();
  if (dir) await rm(dir, { recursive: true, force: true });
});

/** Visits a host through Caddy over TLS and returns the status and where it leads, or the error's code. */
async function visit(host: string, path: string): Promise<string> {
  const ca = await readFile(join(dir, LOCAL_ROOT), 'utf8').catch(() => undefined);
  return (await visitOverTls({ host, path, port, ca })).split('?')[0] ?? '';
}

async function allowed(domain: string): Promise<number> {
  const response = await fetch(`${asked}?domain=${domain}`);
  await response.body?.cancel();
  return response.status;
}

test('a proxy may get a certificate for a proven domain, and for nothing else', async () => {
  const workspace = (await createWorkspace(pool, { name: 'Brand', plan: 'pro' })).id;
  const domain = await makeDomain(pool, workspace, 'ask.tls-brand.example', { status: 'pending' });
  expect(await allowed('ask.tls-brand.example')).toBe(404);
  for (const status of ['verified', 'failing']) {
    await pool.query('UPDATE domains SET status = $2 WHERE id = $1', [domain.id, status]);
    await expect.poll(() => allowed('ask.tls-brand.example')).toBe(200);
  }
  expect(await allowed('ASK.tls-brand.example')).toBe(200);
  for (const other of ['tls-brand.example', 'x.ask.tls-brand.example', 'short.test', '']) {
    expect([other, await allowed(other)]).toEqual([other, 404]);
  }
  await pool.query('DELETE FROM domains WHERE id = $1', [domain.id]);
  await expect.poll(() => allowed('ask.tls-brand.example')).toBe(404);
});

type Row = { dimensions: { domain?: string }; metrics: { clicks: number } };

/** A workspace, and calls of the API with its key through Caddy's TLS. */
async function tenant(name: string) {
  const { id } = await createWorkspace(pool, { name, plan: 'pro' });
  const { token } = await createKey(pool, { workspaceId: id, kind: 'secret', label: 'tls' });
  const call = async <T>(path: string, body?: object) => {
    const response = await fetch(`${served.service.api_url}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${path} returned ${response.status}: ${await response.text()}`);
    return (await response.json()) as T;
  };
  return {
    id,
    call,
    /** Clicks by domain. @param filters of the query */
    async clicks(filters: object[] = []): Promise<[domain: string | undefined, clicks: number][]> {
      const query = { metrics: ['clicks'], dimensions: ['domain'], filters };
      const { rows } = await call<{ rows: Row[] }>('/analytics/query', query);
      return rows
        .map(({ dimensions, metrics }) => [dimensions.domain, metrics.clicks] as const)
        .toSorted() as [string, number][];
    },
  };
}

test('two workspaces with the same slugs on two domains each see the clicks of their own alone', async ({
  skip,
}) => {
  skip(!hasCaddy, NO_CADDY);
  const [brand, rival] = [await tenant('Brand'), await tenant('Rival')];
  /** Visits of each domain, by workspace. */
  const visits = [
    [brand, { 'go.tls-brand.example': 1, 'to.tls-brand.example': 2 }],
    [rival, { 'go.tls-rival.example': 3, 'to.tls-rival.example': 4 }],
  ] as const;
  for (const [{ id, call }, counts] of visits) {
    for (const [domain, count] of Object.entries(counts)) {
      await makeDomain(pool, id, domain);
      const destination_url = `https://shop.example/${domain}`;
      await call('/links', {
        destination_url,
        name: domain,
        channel: 'other',
        external: true,
        domain,
        slug: 'sale',
      });
      await expect.poll(() => visit(domain, '/nowhere')).toBe('404');
      for (let nth = 0; nth < count; nth++) {
        expect(await visit(domain, '/sale')).toBe(`302 ${destination_url}`);
      }
    }
  }
  for (const [{ call, clicks }, counts] of visits) {
    const expected = Object.entries(counts);
    await until(
      'the clicks are reported',
      clicks,
      (rows) => JSON.stringify(rows) === JSON.stringify(expected),
    );
    for (const [domain, count] of [...Object.entries(visits[0][1]), ...Object.entries(visits[1][1])]) {
      const rows = await clicks([{ dimension: 'domain', operator: 'is', values: [domain] }]);
      expect([domain, rows]).toEqual([domain, domain in counts ? [[domain, count]] : []]);
    }
    const { clicks: listed } = await call<{ clicks: { slug: string }[] }>('/clicks?limit=100');
    expect(listed.map(({ slug }) => slug)).toEqual(
      Array(Object.values<number>(counts).reduce((sum, count) => sum + count)).fill('sale'),
    );
    const orphans = await call<{ clicks: { slug: string }[] }>('/clicks?limit=100&orphans=only');
    expect(new Set(orphans.clicks.map(({ slug }) => slug))).toEqual(new Set(['nowhere']));
  }
});

test('Caddy gets no certificate for a host that no workspace has proven', async ({ skip }) => {
  skip(!hasCaddy, NO_CADDY);
  const workspace = (await createWorkspace(pool, { name: 'Brand', plan: 'pro' })).id;
  const domain = await makeDomain(pool, workspace, 'late.tls-brand.example', { status: 'pending' });
  expect(await visit('late.tls-brand.example', '/')).toMatch(NO_CERTIFICATE);
  expect(await visit('nobody.example', '/')).toMatch(NO_CERTIFICATE);
  await pool.query(`UPDATE domains SET status = 'verified' WHERE id = $1`, [domain.id]);
  await expect.poll(() => visit('late.tls-brand.example', '/')).toBe('404');
});
