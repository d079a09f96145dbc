import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get as getPlain, type IncomingHttpHeaders } from 'node:http';
import { get as getSecure } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../cli/embedded/free-port.ts';
import { blocksOf, readDocument } from '../docs/markdown.ts';
import { type Service, startService } from '../support/service.ts';
import { type LocalNginx, NO_NGINX, runNginx, writeMainConfig } from './nginx.ts';

const BROWSER =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';
/** In the United States, by the database of the packages. */
const FAR_AWAY = '8.8.8.8';

const guide = readDocument('docs/operations/one-machine.md');
const blockOf = (language: string) => blocksOf(guide, language)[0] ?? '';

/** The reason why the test is skipped, or false where it can run. */
const MISSING = NO_NGINX || (!hasOpenssl() && 'no openssl is installed, which makes the certificate');

let directory: string;
let ports: { api: number; ingest: number; secure: number; plain: number };
let service: Service;
let nginx: LocalNginx;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-one-machine-'));
  if (MISSING !== false) return;
  const [api, ingest, secure, plain] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  ports = { api, ingest, secure, plain };
  service = await startService({
    dataDir: join(directory, 'data'),
    env: { ...parseEnv(blockOf('sh')), API_PORT: String(api), INGEST_PORT: String(ingest) },
  });
  nginx = await runNginx(writeConfig(), () =>
    ask('http', 'go.example.com', '/').then(
      () => true,
      () => false,
    ),
  );
});

afterAll(async () => {
  await nginx?.stop();
  await service?.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** The guide's configuration with this test's ports and certificate. */
function writeConfig(): string {
  const [key, certificate] = [join(directory, 'key.pem'), join(directory, 'certificate.pem')];
  const subject = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=go.example.com'];
  execFileSync('openssl', ['req', ...subject, '-keyout', key, '-out', certificate], { stdio: 'pipe' });
  const site = blockOf('nginx')
    .replaceAll('listen 443 ssl;', `listen 127.0.0.1:${ports.secure} ssl;`)
    .replaceAll('listen 80;', `listen 127.0.0.1:${ports.plain};`)
    .replaceAll('http://127.0.0.1:8080;', `http://127.0.0.1:${ports.ingest};`)
    .replaceAll('http://127.0.0.1:3000;', `http://127.0.0.1:${ports.api};`)
    .replaceAll(/(ssl_certificate +)\S+;/g, `$1${certificate};`)
    .replaceAll(/(ssl_certificate_key +)\S+;/g, `$1${key};`);
  writeFileSync(join(directory, 'site.conf'), `access_log off;\n${site}`);
  return writeMainConfig(directory, 'site.conf');
}

type Answer = { status: number; headers: IncomingHttpHeaders; text: string };

/** Requests a path of one of the names from nginx, as a browser. */
function ask(
  scheme: 'http' | 'https',
  host: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const [get, port] = scheme === 'https' ? [getSecure, ports.secure] : [getPlain, ports.plain];
  const given = { host, 'user-agent': BROWSER, ...headers };
  return new Promise((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port,
      path,
      servername: host,
      rejectUnauthorized: false,
      agent: false,
    };
    get({ ...options, headers: given }, async (response) => {
      const text = (await response.toArray()).join('');
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
    }).once('error', reject);
  });
}

test('the nginx and the settings of the guide put npm start behind TLS on names of its own', async (context) => {
  context.skip(MISSING !== false, String(MISSING));
  expect(service.short_url).toBe('https://go.example.com');
  expect(new URL(service.console_url ?? '').origin).toBe('https://app.example.com');
  const api = async (path: string, body?: object) => {
    const response = await fetch(`http://127.0.0.1:${ports.api}/api/v1${path}`, {
      headers: { authorization: `Bearer ${service.demo?.secret_key}`, 'content-type': 'application/json' },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
    return (await response.json()) as { links: { short_url: string }[]; clicks: { country: string }[] };
  };
  const { links } = await api('/links', {
    destination_url: 'https://example.com/',
    name: 'Spring',
    channel: 'newsletter',
    slug: 'spring',
  });
  expect(links[0]?.short_url).toBe('https://go.example.com/spring');

  // A visitor's claim about its address is ignored, and the longest request that ingest accepts passes.
  const forged = { 'x-forwarded-for': FAR_AWAY };
  const visited = await ask(
    'https',
    'go.example.com',
    `/spring?q=${'ä'.repeat(600)}`.replaceAll('ä', '%C3%A4'),
    forged,
  );
  expect(visited.status).toBe(302);
  expect(visited.headers.location).toMatch(/^https:\/\/example\.com\/\?utm_source=newsletter&/);
  // The proxy's claim counts: this request is sent as nginx sends it.
  const asProxy = { 'x-forwarded-for': FAR_AWAY, 'user-agent': BROWSER };
  const direct = await fetch(`http://127.0.0.1:${ports.ingest}/spring`, {
    redirect: 'manual',
    headers: asProxy,
  });
  expect(direct.status).toBe(302);
  await expect
    .poll(async () => (await api('/clicks')).clicks.map(({ country }) => country).sort())
    .toEqual(['', 'US']);

  const authorization = `Bearer ${service.demo?.secret_key}`;
  expect((await ask('https', 'app.example.com', '/api/v1/me', { authorization })).status).toBe(200);
  const console = await ask('https', 'app.example.com', '/console');
  expect([console.status, console.text]).toEqual([200, expect.stringContaining('<html')]);
  expect((await ask('https', 'app.example.com', '/embed.js')).status).toBe(200);

  const plain = await ask('http', 'go.example.com', '/spring');
  expect([plain.status, plain.headers.location]).toEqual([301, 'https://go.example.com/spring']);
});

function hasOpenssl(): boolean {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
