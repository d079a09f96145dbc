import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { transform } from 'esbuild';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { bundleOf } from '../../cli/programs/programs.ts';
import type { Hoplog } from '../../sdk/typescript/src/index.ts';
import { blocksOf, readDocument } from '../docs/markdown.ts';
import { clickLinks, firstVisits } from '../support/clicker.ts';
import { descendantsOf } from '../support/descendants.ts';
import { follow, makeLink } from '../support/first-click.ts';
import { startReceiver } from '../support/receiver.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { installTypeScriptSdk, type TypeScriptSdk } from './packed.ts';

/** The packed SDK against the whole service, whose API is killed in the middle of what the SDK does. */

const run = promisify(execFile);

let directory: string;
let app: string;
let service: Service;
let key: string;
let sdk: TypeScriptSdk;
let hoplog: Hoplog;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-sdk-'));
  app = join(directory, 'app');
  [sdk, service] = await Promise.all([
    installTypeScriptSdk(app),
    startService({ dataDir: join(directory, 'data'), env: { WEBHOOK_ALLOW_PRIVATE: 'true' } }),
  ]);
  key = service.demo?.secret_key ?? '';
  hoplog = new sdk.Hoplog({ key, baseUrl: service.api_url, retries: 8 });
});
afterAll(async () => {
  await service?.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** Returns the process of the API: the supervisor starts another one when it ends. */
function apiProcess(): number | undefined {
  return descendantsOf(service.process.pid ?? 0).find((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(bundleOf('api'));
    } catch {
      return false;
    }
  });
}

/** Sends `kill -9` to the API. */
function killApi(): void {
  const pid = apiProcess();
  if (pid === undefined) throw new Error('no API runs');
  process.kill(pid, 'SIGKILL');
}

const environment = () => ({ ...process.env, HOPLOG_URL: service.api_url, HOPLOG_KEY: key });

test('a list has every row once when the API is killed between its pages', async () => {
  const row = (nth: number) => ({
    destination_url: 'https://example.com/',
    name: `Row ${nth}`,
    channel: 'slack' as const,
  });
  const { results } = await hoplog.links.createBulk({
    links: Array.from({ length: 400 }, (_, nth) => row(nth)),
  });
  const made = results.flatMap(({ body }) => ('links' in body ? body.links.map(({ id }) => id) : []));
  expect(made).toHaveLength(400);
  const listed: string[] = [];
  let pages = 0;
  for await (const page of hoplog.links.list({ channel: 'slack', limit: 25 }).pages()) {
    listed.push(...page.links.map(({ id }) => id));
    pages += 1;
    // A link that is newer than the walk is not in it.
    if (pages % 5 === 0) await hoplog.links.create(row(1_000 + pages));
    if (pages === 3 || pages === 9) killApi();
  }
  expect(pages).toBe(16);
  expect(listed.toSorted()).toEqual(made.toSorted());
});

test('a poll has every click once, while clicks arrive, and API and poller are killed', async () => {
  const link = await makeLink(service, key, 'polled');
  const file = join(directory, 'clicks.db');
  const program = join(app, 'poller.mjs');
  writeFileSync(program, POLLER);
  const pollClicks = () =>
    spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, link.id, file], {
      env: environment(),
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  const database = new DatabaseSync(file);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA busy_timeout = 5000');
  database.exec(
    'CREATE TABLE clicks (id TEXT PRIMARY KEY, visitor TEXT NOT NULL); CREATE TABLE states (state TEXT)',
  );
  const stored = () => Number(database.prepare('SELECT count(*) AS n FROM clicks').get()?.n);

  const urls = [link.short_url];
  const answered = await firstVisits(urls);
  // More than two pages, so that the first round is killed between them.
  answered.push(...(await clickLinks({ urls, count: 1_200, connections: 8 })).answered);
  const load = clickLinks({ urls, count: 800, connections: 4, paceMs: 20 });
  let poller = pollClicks();
  let ended = once(poller, 'exit');
  onTestFinished(() => void poller.kill('SIGKILL'));
  for (const part of [1, 600, 1_300, 1_600]) {
    await until(`${part} stored clicks`, stored, (count) => count >= part, { intervalMs: 5 });
    killApi();
    poller.kill('SIGKILL');
    expect(await ended).toEqual([null, 'SIGKILL']);
    poller = pollClicks();
    ended = once(poller, 'exit');
    await until('another API', apiProcess, (pid) => pid !== undefined);
  }
  const last = await load;
  expect([last.refused, last.unanswered]).toEqual([new Map(), []]);
  answered.push(...last.answered);
  await until('every click', stored, (count) => count >= answered.length);
  // A click that came twice would have broken the primary key, and ended the poller.
  expect(poller.exitCode).toBeNull();
  const visitors = database
    .prepare('SELECT visitor FROM clicks')
    .all()
    .map(({ visitor }) => visitor);
  expect(visitors.toSorted()).toEqual(answered.toSorted());
  const { state } = database.prepare('SELECT state FROM states').get() as { state: string };
  expect(state.length).toBeLessThan(50_000);
});

/** A program that stores clicks with the state after them, as the guide says. A fault of it ends it with a status. */
const POLLER = `
import { DatabaseSync } from 'node:sqlite';
import { Hoplog } from '@hoplog/sdk';

const [, , linkId, file] = process.argv;
const database = new DatabaseSync(file);
database.exec('PRAGMA busy_timeout = 5000');
const stored = database.prepare('SELECT state FROM states').get();
const insert = database.prepare('INSERT INTO clicks VALUES (?, ?)');
const hoplog = new Hoplog({ key: process.env.HOPLOG_KEY, retries: 8 });
const poll = hoplog.clicks.poll({
  linkIds: [linkId],
  intervalMs: 100,
  ...(stored && { state: JSON.parse(stored.state) }),
});
for await (const { clicks, state } of poll.batches()) {
  database.exec('BEGIN IMMEDIATE');
  for (const { id, visitor_id } of clicks) insert.run(id, visitor_id);
  database.exec('DELETE FROM states');
  database.prepare('INSERT INTO states VALUES (?)').run(JSON.stringify(state));
  database.exec('COMMIT');
}
`;

test('live clicks resume after the API was killed', async () => {
  const link = await makeLink(service, key, 'live');
  await firstVisits([link.short_url]);
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const seen: string[] = [];
  const reading = (async () => {
    for await (const { id } of hoplog.clicks.live({ linkIds: [link.id], signal: stop.signal })) seen.push(id);
  })();
  reading.catch(() => undefined);
  // A stream begins with its next click: until it is open, clicks are before it.
  const clicked = async () => expect((await follow(link)).status).toBe(302);
  const firstClick = async () => {
    if (seen.length === 0) await clicked();
    return seen.length > 0;
  };
  await until('the first live click', firstClick, Boolean, { intervalMs: 500 });
  const before = (await hoplog.clicks.list({ link_id: link.id }).page()).clicks.length;
  killApi();
  for (let nth = 0; nth < 5; nth++) await clicked();
  const newest = async () => (await hoplog.clicks.list({ link_id: link.id }).page()).clicks;
  const all = await until('five more', newest, (rows) => rows.length >= before + 5);
  const first = seen[0];
  const since = all.slice(0, all.findIndex(({ id }) => id === first) + 1).map(({ id }) => id);
  await until(
    'the same live',
    () => seen.length,
    (count) => count >= since.length,
  );
  expect(seen.toSorted()).toEqual(since.toSorted());
});

test('a create whose response was lost is made once', async () => {
  let lost = 0;
  const proxy = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = '', url = '' } = request;
    const body = chunks.length > 0 ? Buffer.concat(chunks) : undefined;
    const { 'content-type': type, authorization = '', 'idempotency-key': idempotencyKey } = request.headers;
    const answer = await fetch(`${new URL(service.api_url).origin}${url}`, {
      method,
      headers: {
        authorization,
        ...(type !== undefined && { 'content-type': type }),
        ...(typeof idempotencyKey === 'string' && { 'idempotency-key': idempotencyKey }),
      },
      ...(body && { body }),
    });
    const text = await answer.text();
    // The API has responded: the client must not learn it twice in a row.
    if (lost++ < 2) response.destroy();
    else response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => void proxy.close());
  const baseUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const behind = new sdk.Hoplog({ key, baseUrl });
  const created = await behind.folders.create({ name: 'Once' });
  expect(lost).toBe(3);
  const named = [];
  for await (const folder of hoplog.folders.list()) if (folder.name === 'Once') named.push(folder.id);
  expect(named).toEqual([created.id]);
});

test('a real delivery is verified, and an altered one is not', async () => {
  const receiver = await startReceiver();
  onTestFinished(() => receiver.close());
  const hook = await hoplog.webhooks.create({ url: receiver.url, events: ['sale.created'] });
  await hoplog.webhooks.test(hook.id);
  const [delivery] = await receiver.until(1);
  const { body = '', headers = {} } = delivery ?? {};
  expect((await sdk.verifyWebhook(body, headers, hook.secret ?? '')).type).toBe('webhook.test');
  const altered = sdk.verifyWebhook(body.replace('webhook.test', 'sale.created'), headers, hook.secret ?? '');
  await expect(altered).rejects.toBeInstanceOf(sdk.WebhookVerificationError);
  await hoplog.webhooks.delete(hook.id);
});

describe('README of the package', () => {
  const readme = readDocument('sdk/typescript/README.md');
  const [first = '', ...others] = blocksOf(readme, 'ts');
  const client = first.slice(0, first.indexOf('const { links }'));
  /** Other Node.js versions of this machine. */
  const NODES = [
    process.execPath,
    ...['/usr/bin/node', '/usr/local/bin/node'].filter((path) => existsSync(path)),
  ];

  /** Writes an example as a user's file. Those after the first have its client. */
  async function write(name: string, example: string): Promise<string> {
    const text = example.includes('new Hoplog') || !example.includes('hoplog.') ? example : client + example;
    writeFileSync(join(app, `${name}.ts`), text);
    const { code } = await transform(text, { loader: 'ts', format: 'esm' });
    writeFileSync(join(app, `${name}.mjs`), code);
    return `${name}.mjs`;
  }
  const play = async (file: string, node = process.execPath) =>
    (await run(node, [file], { cwd: app, env: environment() })).stdout;

  test('its examples compile, also for `require`', { tags: 'nightly' }, async () => {
    for (const [nth, example] of [first, ...others].entries()) await write(`compiled-${nth}`, example);
    writeFileSync(
      join(app, 'required.cts'),
      "import { Hoplog } from '@hoplog/sdk';\nnew Hoplog({ key: 'k' }).me.get();\n",
    );
    const types = join(import.meta.dirname, '../../node_modules/@types');
    const options = `--noEmit --strict --target es2022 --module nodenext --typeRoots ${types} --types node`;
    const files = [...[first, ...others].map((_, nth) => `compiled-${nth}.ts`), 'required.cts'];
    await run(join(import.meta.dirname, '../../node_modules/.bin/tsc'), [...options.split(' '), ...files], {
      cwd: app,
    });
  });

  test.each(NODES)('its first example creates a link with %s', async (node) => {
    const file = await write('first', first);
    expect(await play(file, node)).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\w+\n$/);
  });

  test('the package can be required', async () => {
    const program =
      "const { Hoplog } = require('@hoplog/sdk'); console.log(typeof new Hoplog({ key: 'k' }).links.create)";
    writeFileSync(join(app, 'required.cjs'), program);
    for (const node of NODES) expect(await play('required.cjs', node)).toBe('function\n');
  });

  test('its examples of lists, polls, webhooks, and errors do what they say', async () => {
    const find = (text: string) => others.find((example) => example.includes(text)) ?? '';
    const listed = await play(await write('list', find('links.list')));
    expect(listed.split('\n').length).toBeGreaterThan(1);
    expect(await play(await write('error', find('HoplogError')))).toMatch(/^404 not_found \S+\n$/);

    const poller = spawn(process.execPath, [await write('poll', find('clicks.poll'))], {
      cwd: app,
      env: environment(),
    });
    let printed = '';
    poller.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
    onTestFinished(() => void poller.kill('SIGKILL'));
    await until(
      'printed clicks',
      () => printed,
      (text) => /^\d{4}-\S+Z /m.test(text),
    );
    await until('a stored state', () => existsSync(join(app, 'state.json')));

    const file = await write('webhook', find('verifyWebhook'));
    const { POST } = (await import(join(app, file))) as { POST(request: Request): Promise<Response> };
    expect((await POST(new Request('http://h', { method: 'POST', body: '{}' }))).status).toBe(400);
  });
});
