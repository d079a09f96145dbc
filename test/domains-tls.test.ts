import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../cli/embedded/free-port.ts';
import { serveMetrics } from '../core/tier/metrics.ts';
import { bound } from './support/bound-process.ts';
import { makeDomain } from './support/domains.ts';
import { makeLink, makeWorkspace, startTestIngest, type TestIngest } from './support/ingest.ts';
import { type TestStores, testStores } from './support/stores.ts';
import { until } from './support/until.ts';
import { BROWSER } from './support/visitors.ts';

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
/** Global options of the test, put into the shipped file. No HTTP/3: `freePort` holds the UDP port. */
const localOptions = (https: number, http: number) => `
  local_certs
  skip_install_trust
  admin off
  https_port ${https}
  http_port ${http}
  servers {
    protocols h1 h2
  }
`;

let stores: TestStores;
let ingest: TestIngest;
let closeMetrics: (() => Promise<void>) | undefined;
let stopCaddy: (() => Promise<unknown>) | undefined;
let dir: string;
let port: number;
let asked: string;

beforeAll(async () => {
  stores = await testStores();
  ingest = await startTestIngest({ ...stores, env: { TRUST_PROXY: '127.0.0.1' } });
  dir = await mkdtemp(join(tmpdir(), 'hoplog-caddy-'));
  const metrics = await freePort();
  closeMetrics = await serveMetrics(new Registry(), '127.0.0.1', metrics, undefined, ingest.hasDomain);
  asked = `http://127.0.0.1:${metrics}/tls/allowed`;
  if (!hasCaddy) return;
  port = await freePort();
  const shipped = await readFile(new URL('../deploy/caddy/Caddyfile', import.meta.url), 'utf8');
  const [head = '', rest = ''] = shipped.split(/^\{\n/m, 2);
  const config = join(dir, 'Caddyfile');
  await writeFile(config, `${head}{${localOptions(port, await freePort())}${rest}`);
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
      REDIRECTS: new URL(ingest.url).host,
      API: '127.0.0.1:1',
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
  await closeMetrics?.();
  await ingest?.close();
  await ingest?.remove();
  await stores?.close();
  if (dir) await rm(dir, { recursive: true, force: true });
});

/** Visits a host through Caddy over TLS and returns the status and where it leads, or the error's code. */
async function visit(host: string, path: string): Promise<string> {
  const ca = await readFile(join(dir, 'caddy/pki/authorities/local/root.crt')).catch(() => undefined);
  const headers = { host: `${host}:${port}`, 'user-agent': BROWSER };
  return new Promise((resolve) => {
    request({ host: '127.0.0.1', port, path, servername: host, ca, agent: false, headers }, (response) => {
      response.resume();
      resolve(`${response.statusCode} ${response.headers.location?.split('?')[0] ?? ''}`.trim());
    })
      .on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
      .end();
  });
}

async function allowed(domain: string): Promise<number> {
  const response = await fetch(`${asked}?domain=${domain}`);
  await response.body?.cancel();
  return response.status;
}

test('a proxy may get a certificate for a proven domain, and for nothing else', async () => {
  const workspace = (await makeWorkspace(stores.pool)).id;
  const domain = await makeDomain(stores.pool, workspace, 'ask.brand.example', { status: 'pending' });
  expect(await allowed('ask.brand.example')).toBe(404);
  for (const status of ['verified', 'failing']) {
    await stores.pool.query('UPDATE domains SET status = $2 WHERE id = $1', [domain.id, status]);
    await expect.poll(() => allowed('ask.brand.example')).toBe(200);
  }
  expect(await allowed('ASK.brand.example')).toBe(200);
  for (const other of ['brand.example', 'x.ask.brand.example', 'short.test', '']) {
    expect([other, await allowed(other)]).toEqual([other, 404]);
  }
  await stores.pool.query('DELETE FROM domains WHERE id = $1', [domain.id]);
  await expect.poll(() => allowed('ask.brand.example')).toBe(404);
});

test('two workspaces with the same slugs on two domains each are told apart behind Caddy', async ({
  skip,
}) => {
  skip(!hasCaddy, NO_CADDY);
  for (const owner of ['brand', 'rival']) {
    const workspace = (await makeWorkspace(stores.pool)).id;
    for (const name of ['go', 'to']) {
      const { number } = await makeDomain(stores.pool, workspace, `${name}.${owner}.example`);
      await makeLink(stores.pool, workspace, `https://example.com/${owner}/${name}`, {
        domain_number: number,
        slug: 'sale',
      });
    }
  }
  for (const owner of ['brand', 'rival']) {
    for (const name of ['go', 'to']) {
      await expect
        .poll(() => visit(`${name}.${owner}.example`, '/sale'))
        .toBe(`302 https://example.com/${owner}/${name}`);
    }
  }
});

test('Caddy gets no certificate for a host that no workspace has proven', async ({ skip }) => {
  skip(!hasCaddy, NO_CADDY);
  const workspace = (await makeWorkspace(stores.pool)).id;
  const domain = await makeDomain(stores.pool, workspace, 'late.brand.example', { status: 'pending' });
  expect(await visit('late.brand.example', '/')).toMatch(/EPROTO|ECONNRESET|SSL/);
  expect(await visit('nobody.example', '/')).toMatch(/EPROTO|ECONNRESET|SSL/);
  await stores.pool.query(`UPDATE domains SET status = 'verified' WHERE id = $1`, [domain.id]);
  await expect.poll(() => visit('late.brand.example', '/')).toBe('404');
});
