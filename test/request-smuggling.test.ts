import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect } from 'vitest';
import { freePort } from '../cli/embedded/free-port.ts';
import { type LocalNginx, NO_NGINX, runNginx, writeMainConfig } from './deploy/nginx.ts';
import type { TestApi } from './support/api.ts';
import { bound } from './support/bound-process.ts';
import { apiTest as test } from './support/fixtures.ts';
import { makeLink, makeWorkspace, startTestIngest, type TestIngest } from './support/ingest.ts';
import { until } from './support/until.ts';

/** Requests whose end a proxy may see elsewhere (RFC 9112, sections 5, 6, 7, and 11.2), at both ports. */

let ingest: TestIngest;
let directory: string;
const ports: Record<'ingest' | 'api' | 'nginx' | 'caddy' | 'nginxApi' | 'caddyApi', number> = {
  ingest: 0,
  api: 0,
  nginx: 0,
  caddy: 0,
  nginxApi: 0,
  caddyApi: 0,
};
let nginx: LocalNginx | undefined;
let caddy: ChildProcess | undefined;

const hasCaddy = (() => {
  try {
    execFileSync('caddy', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

test.beforeAll(async ({ api }) => {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-smuggling-'));
  ingest = await startTestIngest(api.stores);
  await api.app.listen({ host: '127.0.0.1', port: 0 });
  ports.ingest = Number(new URL(ingest.url).port);
  const address = api.app.server.address();
  ports.api = typeof address === 'object' && address !== null ? address.port : 0;
  for (const name of ['nginx', 'nginxApi', 'caddy', 'caddyApi'] as const) ports[name] = await freePort();
  if (NO_NGINX === false) nginx = await runNginx(nginxConfig(), () => isUp(ports.nginx));
  if (!hasCaddy) return;
  const { file, args } = bound('caddy', ['run', '--adapter', 'caddyfile', '--config', caddyConfig()]);
  caddy = spawn(file, args, { stdio: 'ignore', env: { PATH: process.env.PATH, HOME: directory } });
  await until('Caddy responds', () => isUp(ports.caddy), Boolean);
});
afterAll(async () => {
  caddy?.kill('SIGTERM');
  await nginx?.stop();
  await ingest?.close();
  await ingest?.remove();
  rmSync(directory, { recursive: true, force: true });
});

/**
 * Keeps connections to both ports open, as a proxy in production does: a smuggled request would remain in one of them.
 */
function nginxConfig(): string {
  const site = (name: string, listen: number, to: number) => `
    upstream ${name} { server 127.0.0.1:${to}; keepalive 4; }
    server {
      listen 127.0.0.1:${listen};
      location / { proxy_pass http://${name}; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_request_buffering off; }
    }`;
  const both = site('redirects', ports.nginx, ports.ingest) + site('api', ports.nginxApi, ports.api);
  writeFileSync(join(directory, 'site.conf'), `access_log off;${both}`);
  return writeMainConfig(directory, 'site.conf');
}

function caddyConfig(): string {
  const site = (listen: number, to: number) =>
    `http://127.0.0.1:${listen} {\n\treverse_proxy 127.0.0.1:${to}\n}\n`;
  const path = join(directory, 'Caddyfile');
  const options = '{\n\tadmin off\n\tauto_https off\n}\n';
  writeFileSync(path, options + site(ports.caddy, ports.ingest) + site(ports.caddyApi, ports.api));
  return path;
}

const isUp = (port: number) =>
  fetch(`http://127.0.0.1:${port}/`).then(
    () => true,
    () => false,
  );

type Seen = { statuses: string[]; closed: boolean };

/** Sends bytes. @returns what came back until the server closed, or until `withinMs` were over */
function send(port: number, bytes: string, withinMs: number): Promise<Seen> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    const end = (closed: boolean) => {
      clearTimeout(late);
      socket.destroy();
      resolve({
        statuses: [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => String(status)),
        closed,
      });
    };
    const late = setTimeout(() => end(false), withinMs);
    socket.setEncoding('latin1').on('data', (part: string) => {
      text += part;
    });
    socket.on('close', () => end(true)).on('error', () => undefined);
    socket.write(bytes, 'latin1');
  });
}

/** A request behind the one of a case: it must not be read. */
const NEXT = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n';
const post = (headers: string[], body: string) =>
  `${['POST /collect HTTP/1.1', 'Host: a', 'Content-Type: text/plain', ...headers].join('\r\n')}\r\n\r\n${body}`;
const get = (...headers: string[]) => `${['GET /x HTTP/1.1', 'Host: a', ...headers].join('\r\n')}\r\n\r\n`;
/** A visit of a link, whose click would show that it was read. */
const visitOfLink = async (api: TestApi) => {
  const { slug } = await makeLink(
    api.stores.pool,
    (await makeWorkspace(api.stores.pool)).id,
    'https://shop.example/',
  );
  return `GET /${slug} HTTP/1.1\r\nHost: a\r\n\r\n`;
};
const CHUNKED = 'Transfer-Encoding: chunked';

/** Version 2 for TCP over IPv4, from 9.8.7.6 (haproxy.org, "The PROXY protocol"). */
const PROXY_HEADER = '\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\x09\x08\x07\x06\x7f\0\0\x01\x04\xd2\x1f\x90';

/** Refused with 400 at once, at both ports. */
const REFUSED: [what: string, bytes: string][] = [
  ['two lengths', post(['Content-Length: 2', 'Content-Length: 30'], '{}')],
  ['two lengths of a GET', get('Content-Length: 0', 'Content-Length: 35')],
  ['a length and chunks', post(['Content-Length: 5', CHUNKED], '0\r\n\r\n')],
  ['chunks and a length', post([CHUNKED, 'Content-Length: 50'], '0\r\n\r\n')],
  ['an encoding that only ends as chunked', post(['Transfer-Encoding: xchunked'], '2\r\n{}\r\n0\r\n\r\n')],
  ['no encoding at all', post(['Transfer-Encoding: identity', 'Content-Length: 2'], '{}')],
  ['a signed length', post(['Content-Length: +2'], '{}')],
  ['a negative length', post(['Content-Length: -2'], '{}')],
  ['a list of lengths', post(['Content-Length: 2, 30'], '{}')],
  ['a length that no integer holds', post(['Content-Length: 99999999999999999999'], '{}')],
  ['a length in hexadecimal', post(['Content-Length: 0x2'], '{}')],
  ['a chunk whose size is no number', post([CHUNKED], 'zz\r\n{}\r\n0\r\n\r\n')],
  ['a chunk with a signed size', post([CHUNKED], '+2\r\n{}\r\n0\r\n\r\n')],
  ['no Host', 'GET /x HTTP/1.1\r\nAccept: */*\r\n\r\n'],
  ['the same length twice', post(['Content-Length: 2', 'Content-Length: 2'], '{}')],
  ['an empty length', post(['Content-Length:'], '{}')],
  ['an empty length of a GET', get('Content-Length: ')],
  ['an empty Host', 'GET /x HTTP/1.1\r\nHost:\r\n\r\n'],
  ['an empty Host of a POST', 'POST /collect HTTP/1.1\r\nHost: \r\nContent-Length: 2\r\n\r\n{}'],
  ...['a b', 'a/b', 'a@b', 'a?b', 'a#b', 'a\\b', '<a>', 'a:b', ':80', '[a', 'm\xfc.example'].map(
    (host): [string, string] => [`the Host ${host}`, `GET /x HTTP/1.1\r\nHost: ${host}\r\n\r\n`],
  ),
  ['two Host lines', get('Host: b')],
  ['the same Host twice', get('Accept: */*', 'host: a')],
  ['two Host lines of a POST', post(['Host: b', 'Content-Length: 2'], '{}')],
  ['a header of the PROXY protocol', PROXY_HEADER + get()],
];

/** Chunks whose end violates the standard. The API refuses them; the parser of uWebSockets.js takes them. */
const LOOSE_CHUNKS: [what: string, bytes: string][] = [
  ['a bare line feed behind a size', post([CHUNKED], '2\n{}\r\n0\r\n\r\n')],
  ['bare line feeds', post([CHUNKED], '2\n{}\n0\n\n')],
  ['a chunk without its line break', post([CHUNKED], '2\r\n{}0\r\n\r\n')],
  ['a chunk with two other bytes for its line break', post([CHUNKED], '2\r\n{}xx0\r\n\r\n')],
  ['loose chunks of a GET', `GET /x HTTP/1.1\r\nHost: a\r\n${CHUNKED}\r\n\r\n2\n{}\n0\n\n`],
];

/**
 * Malformed headers. The API refuses them with 400 at once. The parser of uWebSockets.js waits for their end, so ingest
 * closes the connection after its timeout, without a response.
 */
const MALFORMED: [what: string, bytes: string][] = [
  ['a blank in a name', get('Acc ept: a')],
  ['a blank before the colon', post(['Content-Length : 2'], '{}')],
  ['a folded line', get('Accept: a,', ' b')],
  ['a line without a colon', get('no colon')],
  ['a control character', get('Accept: a\x01b')],
  ['NUL', get('Accept: a\0b')],
  ['a bare carriage return', get('Accept: a\rContent-Length: 30')],
];

/** What the standard lets a server skip (RFC 9112, sections 2.2 and 7.1.1), and uWebSockets.js does not. */
const NOT_SKIPPED: [what: string, bytes: string][] = [
  ['an empty line before the request', `\r\n${get('Connection: close')}`],
  ['a chunk extension', post([CHUNKED, 'Connection: close'], '2;name=value\r\n{}\r\n0\r\n\r\n')],
];

describe.each(['ingest', 'api'] as const)('%s', (name) => {
  test.each(REFUSED)('refuses %s with 400, closes, and reads nothing behind it', async (_, bytes) => {
    expect(await send(ports[name], bytes + NEXT, 5_000)).toEqual({ statuses: ['400'], closed: true });
    expect(await send(ports[name], bytes + NEXT + NEXT + NEXT, 5_000)).toEqual({
      statuses: ['400'],
      closed: true,
    });
  });
});

test.each(LOOSE_CHUNKS)('the API refuses %s, closes, and reads nothing behind it', async (_, bytes) => {
  const { statuses, closed } = await send(ports.api, bytes + NEXT, 5_000);
  // A response may come before the body is read.
  expect([statuses.at(-1), statuses.length <= 2, closed]).toEqual(['400', true, true]);
  expect(statuses.filter((status) => status === '404').length).toBeLessThanOrEqual(1);
});

test.for(LOOSE_CHUNKS)(
  'ingest closes behind %s, and answers nothing behind it',
  async ([_, bytes], { api }) => {
    const visit = await visitOfLink(api);
    for (const next of [visit, visit + visit]) {
      const { statuses, closed } = await send(ports.ingest, bytes + next, 15_000);
      expect([statuses.includes('302'), statuses.length <= 1, closed]).toEqual([false, true, true]);
    }
    expect(await ingest.events()).toEqual([]);
  },
);

test('a request with chunks is answered, as the last one of its connection', async () => {
  const chunks = post([CHUNKED], '2\r\n{}\r\n0\r\n\r\n');
  expect(await send(ports.ingest, chunks, 5_000)).toEqual({ statuses: ['401'], closed: true });
  const get = chunks.replace('POST /collect', 'GET /x');
  expect(await send(ports.ingest, get, 5_000)).toEqual({ statuses: ['404'], closed: true });
  const head = chunks.replace('POST /collect', 'HEAD /x');
  expect(await send(ports.ingest, head, 5_000)).toEqual({ statuses: ['404'], closed: true });
});

test.each(MALFORMED)('the API refuses %s with 400, closes, and reads nothing behind it', async (_, bytes) => {
  expect(await send(ports.api, bytes + NEXT, 5_000)).toEqual({ statuses: ['400'], closed: true });
});

test('ingest closes a connection with malformed headers, answers nothing, and counts no click', async ({
  api,
}) => {
  const visit = await visitOfLink(api);
  const cases = [...MALFORMED, ...NOT_SKIPPED];
  const seen = await Promise.all(cases.map(([, bytes]) => send(ports.ingest, bytes + visit, 30_000)));
  const withoutRefusals = seen.map(({ statuses, closed }) => ({
    statuses: statuses.filter((status) => status !== '400'),
    closed,
  }));
  expect(withoutRefusals).toEqual(cases.map(() => ({ statuses: [], closed: true })));
  expect(await ingest.events()).toEqual([]);
});

test.each(NOT_SKIPPED)('the API skips %s', async (_, bytes) => {
  expect(await send(ports.api, bytes, 5_000)).toEqual({ statuses: ['404'], closed: true });
});

test('a header of the PROXY protocol that names no address changes nothing', async () => {
  // LOCAL, and a connection whose family is not known.
  for (const command of ['\x20', '\x21']) {
    const header = `\r\n\r\n\0\r\nQUIT\n${command}\0\0\0`;
    expect((await send(ports.ingest, header + get(), 1_000)).statuses).toEqual(['404']);
  }
});

describe.each(['nginx', 'caddy'] as const)('behind %s', (proxy) => {
  test('no case puts a request into another visitor’s connection', async ({ skip }) => {
    skip(proxy === 'nginx' && NO_NGINX !== false, String(NO_NGINX));
    skip(proxy === 'caddy' && !hasCaddy, 'caddy is not installed');
    const targets = [
      { port: ports[proxy], path: '/robots.txt', shows: 'User-agent' },
      { port: ports[`${proxy}Api`], path: '/api/v1/me', shows: 'unauthorized' },
    ];
    for (const { port, path, shows } of targets) {
      for (const [what, bytes] of [...REFUSED, ...LOOSE_CHUNKS, ...MALFORMED]) {
        const { statuses } = await send(port, bytes + NEXT, 300);
        // The request itself, and the one behind it where the proxy reads it as the next one.
        expect([what, statuses.length <= 2]).toEqual([what, true]);
        for (let other = 0; other < 3; other++) {
          const response = await fetch(`http://127.0.0.1:${port}${path}`);
          expect([what, await response.text()]).toEqual([what, expect.stringContaining(shows)]);
        }
      }
    }
  });
});
