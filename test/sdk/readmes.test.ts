import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { transform } from 'esbuild';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { NO_CHROMIUM, sharedChromium } from '../browser/chromium.ts';
import { blocksOf, readDocument } from '../docs/markdown.ts';
import { follow, makeLink, untilClicks } from '../support/first-click.ts';
import { type Received, startReceiver } from '../support/receiver.ts';
import { type ServedWorkspace, servedWorkspace } from '../support/shared-service.ts';
import { until } from '../support/until.ts';
import { installPythonSdk, installTypeScriptSdk, NO_PYTHON, type Runtime } from './packed.ts';

/** Every example of the packages' READMEs, as a new user runs it with the packed SDK. */

const run = promisify(execFile);
const bin = (name: string) => join(import.meta.dirname, '../../node_modules/.bin', name);

let directory: string;
let served: ServedWorkspace;
let delivery: Received;
let secret: string;
let typescript: Runtime;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-readmes-'));
  typescript = await installTypeScriptSdk(join(directory, 'typescript'));
  served = await servedWorkspace();
  const { service } = served;
  const link = await makeLink(service, service.demo.secret_key, 'readme');
  const { location } = await until(
    'a redirect',
    () => follow(link),
    ({ status }) => status === 302,
  );
  const visitor_id = new URL(location).searchParams.get('_vid');
  await untilClicks(service, service.demo.secret_key, link, 1);
  const receiver = await startReceiver();
  const create = async <T>(path: string, body: object): Promise<T> => {
    const response = await fetch(`${service.api_url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.demo.secret_key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`POST ${path} returned ${response.status}: ${await response.text()}`);
    return (await response.json()) as T;
  };
  const hook = await create<{ secret: string }>('/webhooks', { url: receiver.url, events: ['sale.created'] });
  await create('/track/order', { order_id: 'o-1', amount: 12.5, currency: 'eur', visitor_id });
  [delivery] = (await receiver.until(1)) as [Received];
  secret = hook.secret;
  await receiver.close();
});
afterAll(async () => {
  await served?.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Runs the examples of a README. Those after the first begin with the lines of the first up to its client. */
function examplesOf(readme: string, language: string, endOfClient: string) {
  const [first = '', ...others] = blocksOf(readDocument(readme), language);
  const client = first.slice(0, first.indexOf(endOfClient));
  const find = (text: string): string => {
    const example = others.find((one) => one.includes(text));
    if (example === undefined) throw new Error(`${readme} has no example with ${text}`);
    return client + example;
  };
  return { first, others: others.map((example) => client + example), find };
}

type Play = (file: string) => { command: string; args: string[]; cwd: string; env: NodeJS.ProcessEnv };

const player =
  ({ command, flags, env }: Runtime, cwd: string): Play =>
  (file) => ({
    command,
    args: [...flags, file],
    cwd,
    env: {
      ...process.env,
      ...env,
      HOPLOG_URL: served.service.api_url,
      HOPLOG_KEY: served.service.demo.secret_key,
      HOPLOG_WEBHOOK_SECRET: secret,
    },
  });

async function outputOf(play: Play, file: string): Promise<string> {
  const { command, args, cwd, env } = play(file);
  return (await run(command, args, { cwd, env })).stdout;
}

/** An example without an end prints clicks, and stores its state. */
async function expectPoll(play: Play, file: string): Promise<void> {
  const { command, args, cwd, env } = play(file);
  const poller = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void poller.kill('SIGKILL'));
  let printed = '';
  poller.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  await until(
    'printed clicks',
    () => printed,
    (text) => /^\d{4}-\S+Z /m.test(text),
  );
  await until('a stored state', () => existsSync(join(cwd, 'state.json')));
}

describe('README of the package for TypeScript', () => {
  const { first, others, find } = examplesOf('sdk/typescript/README.md', 'ts', 'const { links }');
  /** Also another Node.js of this machine. */
  const NODES = [
    process.execPath,
    ...['/usr/bin/node', '/usr/local/bin/node'].filter((path) => existsSync(path)),
  ];
  let folder: string;
  let play: Play;

  beforeAll(() => {
    folder = join(directory, 'typescript');
    play = player(typescript, folder);
  });

  async function write(name: string, example: string): Promise<string> {
    const { code } = await transform(example, { loader: 'ts', format: 'esm' });
    writeFileSync(join(folder, `${name}.mjs`), code);
    return `${name}.mjs`;
  }

  test('its examples compile, also for `require`', { tags: 'nightly' }, async () => {
    const files = [first, ...others].map((example, nth) => {
      // An example that imports the client again is complete.
      writeFileSync(join(folder, `compiled-${nth}.ts`), example);
      return `compiled-${nth}.ts`;
    });
    writeFileSync(
      join(folder, 'required.cts'),
      "import { Hoplog } from '@hoplog/sdk';\nnew Hoplog({ key: 'k' });\n",
    );
    const types = join(import.meta.dirname, '../../node_modules/@types');
    const options = `--noEmit --strict --target es2022 --module nodenext --typeRoots ${types} --types node`;
    await run(bin('tsc'), [...options.split(' '), ...files, 'required.cts'], { cwd: folder });
  });

  test.for(NODES)('its first example creates a link with %s', async (node) => {
    const of = (file: string) => ({ ...play(file), command: node, args: [file] });
    expect(await outputOf(of, await write('first', first))).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\w+\n$/);
    writeFileSync(
      join(folder, 'required.cjs'),
      "const { Hoplog } = require('@hoplog/sdk'); console.log(typeof new Hoplog({ key: 'k' }).links.create)",
    );
    expect(await outputOf(of, 'required.cjs')).toBe('function\n');
  });

  test('its other examples do what they say', async () => {
    expect(await outputOf(play, await write('first', first))).not.toBe('');
    expect(
      (await outputOf(play, await write('list', find('links.list')))).split('\n').length,
    ).toBeGreaterThan(1);
    expect(await outputOf(play, await write('error', find('HoplogError')))).toMatch(/^404 not_found \S+\n$/);
    await expectPoll(play, await write('poll', find('clicks.poll')));
    const { body, headers } = delivery;
    const call = (text: string) =>
      `console.log((await POST(new Request('http://h', { method: 'POST', body: ${JSON.stringify(text)}, headers: ${JSON.stringify(headers)} }))).status);\n`;
    const example = find('verifyWebhook');
    const file = await write('webhook', example + call(body) + call(body.replace('12.5', '99.5')));
    expect(await outputOf(play, file)).toBe('12.5\n204\n400\n');
  });
});

test('the package for TypeScript works in a page of another origin', async ({ skip }) => {
  skip(Boolean(NO_CHROMIUM), String(NO_CHROMIUM));
  const script = readFileSync(join(directory, 'typescript/node_modules/@hoplog/sdk/dist/esm/index.js'));
  const site = createServer(({ url }, response) => {
    const isScript = url === '/sdk.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? script : '<title>Page</title>');
  });
  site.listen(0, '127.0.0.1');
  await once(site, 'listening');
  const page = await (await sharedChromium()).newPage();
  onTestFinished(async () => {
    await page.close();
    site.close();
  });
  await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
  const { api_url: baseUrl, demo } = served.service;
  const options = JSON.stringify({ baseUrl, key: demo.secret_key });
  const headers = JSON.stringify(delivery.headers);
  const found = await page.evaluate(`(async () => {
    const { Hoplog, verifyWebhook } = await import('/sdk.js');
    const hoplog = new Hoplog(${options});
    const { id } = await hoplog.folders.create({ name: 'From a page' });
    for await (const click of hoplog.clicks.poll()) {
      const event = await verifyWebhook(${JSON.stringify(delivery.body)}, ${headers}, ${JSON.stringify(secret)});
      return [typeof id, typeof click.id, event.type];
    }
  })()`);
  expect(found).toEqual(['string', 'string', 'sale.created']);
});

describe('README of the package for Python', () => {
  const { first, find } = examplesOf('sdk/python/README.md', 'python', 'created =');
  let folder: string;
  let play: Play;

  beforeAll(async () => {
    if (NO_PYTHON !== null) return;
    folder = join(directory, 'python');
    mkdirSync(folder);
    play = player(await installPythonSdk(folder), folder);
  });

  function write(name: string, example: string): string {
    writeFileSync(join(folder, `${name}.py`), example);
    return `${name}.py`;
  }

  test('its examples do what they say', async ({ skip }) => {
    skip(NO_PYTHON !== null, NO_PYTHON ?? '');
    expect(await outputOf(play, write('first', first))).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\w+\n$/);
    expect(
      (await outputOf(play, write('lists', find('links.list(channel')))).split('\n').length,
    ).toBeGreaterThan(1);
    expect(await outputOf(play, write('failed', find('HoplogError')))).toMatch(/^404 not_found \S+\n$/);
    expect(await outputOf(play, write('asynchronous', find('AsyncHoplog')))).toMatch(/^demo\n\S/);
    await expectPoll(play, write('polled', find('clicks.poll')));
    const { body, headers } = delivery;
    const call = (text: string) =>
      `print(receive(${JSON.stringify(text)}.encode(), ${JSON.stringify(headers)}), flush=True)\n`;
    const example = find('verify_webhook') + call(body) + call(body.replace('12.5', '99.5'));
    expect(await outputOf(play, write('webhook', example))).toBe('12.5\n204\n400\n');
  });
});
