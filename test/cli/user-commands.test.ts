import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { clickLinks } from '../support/clicker.ts';
import { follow, untilClicks } from '../support/first-click.ts';
import { type Ended, hoplog, run } from '../support/hoplog.ts';
import { PROGRAM_ENV, programArguments } from '../support/program.ts';
import { type ServedWorkspace, servedWorkspace } from '../support/shared-service.ts';
import { until } from '../support/until.ts';

/** The commands of users, as processes, against the API of a running service. */

let served: ServedWorkspace;
let directory: string;
let url: string;
let key: string;
/** Settings of a service that can't be used: these commands need none. */
const UNUSABLE = { API_PORT: 'x', DATA_DIR: '/dev/null/data', DATABASE_URL: 'none' };

beforeAll(async () => {
  served = await servedWorkspace();
  url = new URL(served.service.api_url).origin;
  key = served.service.demo.secret_key;
  directory = mkdtempSync(join(tmpdir(), 'hoplog-user-'));
  const file = join(directory, 'broken.env');
  writeFileSync(file, 'this is no setting\n');
  Object.assign(UNUSABLE, { ENV_FILE: file });
});
afterAll(async () => {
  rmSync(directory, { recursive: true, force: true });
  await served.close();
});

const withKey = (...args: string[]): Promise<Ended> =>
  hoplog(args, { ...UNUSABLE, HOPLOG_URL: url, HOPLOG_KEY: key, XDG_CONFIG_HOME: directory });

async function json<T>(...args: string[]): Promise<T> {
  const ended = await withKey(...args, '--json');
  expect(ended).toMatchObject({ status: 0 });
  return JSON.parse(ended.stdout) as T;
}

test('login checks the key, stores it for this user alone, and goes to no other address', async () => {
  const env = { ...UNUSABLE, XDG_CONFIG_HOME: join(directory, 'config') };
  const file = join(directory, 'config', 'hoplog', 'login.json');
  const login = (given: string) => {
    const command = ['hoplog', [process.execPath, ...programArguments('hoplog'), 'login', '--url', url]];
    const words = (command[1] as string[]).map((word) => `'${word}'`).join(' ');
    return run('bash', ['-c', `printf %s '${given}' | ${words}`], env);
  };
  const commands = (...args: string[]) => hoplog(args, env);
  expect(await commands('whoami')).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/no login: run "hoplog login/),
  });
  const altered = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
  expect(await login(altered)).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/refuses the key/),
  });
  const publishable = await login(served.service.demo.publishable_key);
  expect(publishable).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/must be a secret key, lk_live_/),
  });
  expect(existsSync(file)).toBe(false);

  expect(await login(`${key}\n`)).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/workspace demo/),
  });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await commands('whoami')).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/workspace +demo/),
  });

  const elsewhere = { ...env, HOPLOG_URL: 'http://127.0.0.1:9' };
  const refused = await hoplog(['whoami'], elsewhere);
  expect(refused).toMatchObject({ status: 1, stderr: expect.stringMatching(/the stored key is for http/) });
  const wins = await hoplog(['whoami'], { ...env, HOPLOG_KEY: 'lk_live_other' });
  expect(wins).toMatchObject({ status: 1, stderr: expect.stringMatching(/unknown key/) });

  expect(await commands('logout')).toMatchObject({ status: 0 });
  expect(existsSync(file)).toBe(false);
});

test('links are created, found by their address, changed, drawn, and deleted', async () => {
  const made = await withKey('links', 'create', 'https://shop.example/tea', '--slug', 'Tea', '--external');
  expect(made).toMatchObject({ status: 0, stderr: '' });
  const address = made.stdout.trim();
  expect(address).toMatch(/\/Tea$/);
  const named = await json<{ id: string; name: string; smart: boolean }>('links', 'get', address);
  expect(named).toMatchObject({ name: 'shop.example/tea', smart: true });
  expect(await json('links', 'get', 'tea')).toEqual(named);
  expect(await json('links', 'get', named.id)).toEqual(named);
  const data = ['--data', '{"max_clicks":3,"name":"of data"}'];
  const changed = await json('links', 'update', 'tea', '--name', 'Tea, red', ...data);
  expect(changed).toMatchObject({ name: 'Tea, red', max_clicks: 3 });
  const list = await withKey('links', 'list');
  expect(list.stdout).toMatch(/^address +channel +name/);
  expect(list.stdout).toContain('Tea, red');
  const png = join(directory, 'tea.png');
  expect(await json('links', 'qr', 'tea', '--output', png)).toMatchObject({ format: 'png' });
  expect(readFileSync(png).subarray(1, 4).toString()).toBe('PNG');
  expect((await withKey('links', 'qr', 'tea')).stdout).toMatch(/^<svg /);
  expect(await json('links', 'delete', 'tea')).toMatchObject({ deleted: named.id });
  const gone = await withKey('links', 'get', 'tea');
  expect(gone).toMatchObject({
    status: 1,
    stdout: '',
    stderr: expect.stringMatching(/no link has the id, slug, or address "tea"/),
  });
});

test('an argument that a command or the API refuses is wrong usage, status 2; another failure is 1', async () => {
  const bad = await withKey('links', 'create', 'shop', '--max-clicks', '5', '--data', '{"slug":"a b"}');
  expect(bad).toMatchObject({ status: 2, stdout: '' });
  expect(bad.stderr).toMatch(/`slug` must match .*\n {2}destination_url: must be a full URL/);
  expect(bad.stderr).toMatch(/docs\/errors\/bad_request/);
  expect(await withKey('links', 'create', '--max-clicks', '0')).toMatchObject({ status: 2 });
  const near = await withKey('query', '--by', 'contry');
  expect(near).toMatchObject({ status: 2, stderr: expect.stringMatching(/did you mean country/) });
  const listen = ['listen', '--forward-to', 'http://127.0.0.1:9'];
  const refused: [string, 1 | 2, RegExp][] = [
    ['trigger nope', 2, /`type` must be/],
    ['trigger sale.created --data []', 2, /--data must be a JSON object/],
    [`${listen.join(' ')} --events nope`, 2, /`events` must be types of events/],
    ['query --csv --json', 2, /--csv and --json exclude each other/],
    ['query --from yesterday', 2, /window\.from/],
    ['links create', 2, /name a destination/],
    ['links update tea', 2, /nothing to change/],
    ['links qr tea --json', 2, /--json needs --output/],
    ['clicks export --json', 2, /--json needs --output/],
    ['clicks poll --once --since 2026-11-20T10:00:00', 2, /must be an ISO 8601 date.* with Z or an offset/],
    ['clicks poll --once --filter nope=1', 2, /nope/],
    ['clicks tail --filter nope=1', 2, /nope/],
    ['login --url ftp://hop.example', 2, /--url must be the address/],
    ['links list --channel nope', 2, /Allowed choices/],
    ['links', 2, /Usage: hoplog links/],
    ['frobnicate', 2, /unknown command/],
    ['links get nope', 1, /no link has/],
    [
      'links create https://a.example --campaign 019aabf4-3c00-7000-8000-000000000001',
      1,
      /not_found|no such/,
    ],
    [`clicks poll --once --state ${directory}/broken.env`, 1, /not the state of a poll/],
  ];
  const ends = await Promise.all(
    refused.map(async ([line, , why]) => {
      const { status, stdout, stderr } = await withKey(...line.split(' '));
      return [line, status, stdout, why.test(stderr) ? 'says why' : stderr];
    }),
  );
  expect(ends).toEqual(refused.map(([line, status]) => [line, status, '', 'says why']));
});

test('a proxy that answers for the API is an error that shows what it says, and how to go on', async () => {
  const proxy = createServer((_request, response) =>
    response
      .writeHead(404, { 'content-type': 'text/html' })
      .end('<html>\r\n<h1>404 Not Found</h1>\r\n<hr>nginx\r\n</html>\r\n'),
  );
  onTestFinished(() => void proxy.close());
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo;
  const env = { ...UNUSABLE, HOPLOG_URL: `http://127.0.0.1:${port}`, HOPLOG_KEY: key };
  for (const args of [['listen', '--forward-to', 'http://127.0.0.1:9'], ['whoami']]) {
    expect(await hoplog(args, env)).toEqual({
      status: 1,
      stdout: '',
      stderr:
        'hoplog: HTTP 404 is not a response of Hoplog: 404 Not Found nginx\n  a proxy, or another program, answered: check the address, which "hoplog whoami" calls\n',
    });
  }
});

test('clicks are tailed, polled once each over two runs, exported, and queried', async () => {
  const { links } = await json<{ links: [{ id: string; short_url: string; slug: string }] }>(
    ...['links', 'create', 'https://shop.example/clicks', '--external', '--channel', 'newsletter'],
  );
  const [link] = links;
  const state = join(directory, 'state.json');
  const poll = async () => {
    const ended = await withKey('clicks', 'poll', '--once', '--json', '--link', link.slug, '--state', state);
    expect(ended).toMatchObject({ status: 0 });
    return ended.stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => (JSON.parse(line) as { id: string }).id);
  };
  expect(await poll()).toEqual([]);

  const tail = spawn(process.execPath, [...programArguments('hoplog'), 'clicks', 'tail', '--link', link.id], {
    env: { ...PROGRAM_ENV, HOPLOG_URL: url, HOPLOG_KEY: key },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void tail.kill('SIGKILL'));
  let tailed = '';
  tail.stdout.setEncoding('utf8').on('data', (text: string) => {
    tailed += text;
  });
  // The stream begins with the next click, and the command says nothing before it.
  await until(
    'a click in the tail',
    () => follow(link).then(() => tailed),
    (text) => text !== '',
    {
      intervalMs: 500,
    },
  );
  expect(tailed).toMatch(new RegExp(`^20[-\\d]+ [\\d:]+ +${link.slug} +newsletter +desktop, Chrome, Linux`));
  const { answered } = await clickLinks({ urls: [link.short_url], count: 600 });
  const all = new Set((await untilClicks(served.service, key, link, 100)).map(({ id }) => id));
  expect(answered.length).toBe(600);

  const seen = new Set<string>();
  await until(
    'every click once',
    async () => {
      for (const id of await poll()) {
        expect(seen.has(id), id).toBe(false);
        seen.add(id);
      }
      return seen.size;
    },
    (count) => count >= 601,
    { intervalMs: 500 },
  );
  for (const id of all) expect(seen.has(id)).toBe(true);

  const file = join(directory, 'clicks.ndjson');
  const exported = ['--format', 'ndjson', '--link', link.slug, '--output', file, '--days', '1'];
  expect(await withKey('clicks', 'export', ...exported)).toMatchObject({ status: 0 });
  expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(seen.size);
  const csv = await withKey('query', '--by', 'slug,day', '--filter', `slug=${link.slug}`, '--csv');
  const total = csv.stdout
    .trim()
    .split('\r\n')
    .slice(1)
    .reduce((sum, row) => sum + Number(row.split(',')[2]), 0);
  expect(total).toBe(seen.size);
  const shown = await withKey(
    'query',
    '--by',
    'link',
    '--filter',
    `slug=${link.slug}`,
    '--metrics',
    'clicks',
  );
  expect(shown.stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
    ['link', 'clicks'],
    [`${link.slug} (shop.example/clicks)`, String(seen.size)],
    ['total', String(seen.size)],
    [''],
  ]);
});

test('call knows every operation of the OpenAPI document', async () => {
  const document = (await (await fetch(`${url}/api/v1/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { operationId?: string }>>;
  };
  const ids = Object.values(document.paths)
    .flatMap((path) => Object.values(path).map(({ operationId }) => operationId))
    .filter((id) => id !== undefined);
  const { operations } = await json<{ operations: { id: string; method: string; path: string }[] }>('call');
  const split = 'links.listPerformance';
  expect(
    operations
      .map(({ id }) => id)
      .filter((id) => id !== split)
      .sort(),
  ).toEqual(ids.sort());

  expect(await json('call', 'me.get')).toMatchObject({ workspace: { name: 'demo' } });
  const data = join(directory, 'folder.json');
  writeFileSync(data, '{ "name": "From a file" }');
  const { id } = await json<{ id: string }>('call', 'folders.create', '--data', `@${data}`);
  await json('call', 'folders.update', '--param', `id=${id}`, '--data', '{"name":"Renamed"}');
  expect(await json('call', 'folders.list')).toMatchObject({ folders: [{ id, name: 'Renamed' }] });
  const refused: [string[], 1 | 2, RegExp][] = [
    [['folders.lits'], 2, /did you mean folders.list/],
    [['folders.delete'], 2, /needs --param id=/],
    [['me.get', '--param', 'x=1'], 2, /has no parameter x/],
    [['me.get', '--data', '{}'], 2, /takes no --data/],
    [['folders.create', '--data', '{name}'], 2, /--data must be JSON/],
    [['clicks.list', '--param', 'limit=0'], 2, /`limit` must be/],
  ];
  for (const [args, status, stderr] of refused) {
    expect(await withKey('call', ...args)).toMatchObject({
      status,
      stdout: '',
      stderr: expect.stringMatching(stderr),
    });
  }
});

test('mcp serves the tools on standard input and output, and says why a key is refused', async () => {
  const connected = async (given: string) => {
    const client = new Client({ name: 'test', version: '1' });
    onTestFinished(() => client.close());
    const env = { ...PROGRAM_ENV, PATH: PROGRAM_ENV.PATH ?? '', HOPLOG_URL: url, HOPLOG_KEY: given };
    const args = [...programArguments('hoplog'), 'mcp'];
    const transport = new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' });
    await client.connect(transport);
    return client;
  };
  const client = await connected(key);
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('query_analytics');
  const result = await client.callTool({ name: 'whoami', arguments: {} });
  expect(result.structuredContent).toMatchObject({ untrusted: { workspace: { name: 'demo' } } });
  await expect(connected('lk_live_other')).rejects.toThrow('unknown key');
});

test('the help has the commands of users and of operators in groups of their own', async () => {
  const { stdout } = await hoplog(['--help'], {});
  const [, users = '', operators = ''] =
    /Your workspace.*?:\n(.*?)\n\nOperation of a service.*?:\n(.*)/s.exec(stdout) ?? [];
  expect(users).toMatch(/^ +links /m);
  expect(users).not.toMatch(/^ +backup /m);
  expect(operators).toMatch(/^ +backup /m);
  expect(operators).not.toMatch(/^ +links /m);
});
