import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { bundleOf } from '../../cli/programs/programs.ts';
import { clickLinks, firstVisits } from '../support/clicker.ts';
import { descendantsOf } from '../support/descendants.ts';
import { clicksOf, follow, makeLink } from '../support/first-click.ts';
import { PROGRAM_ENV, programArguments } from '../support/program.ts';
import { isGenuine, startReceiver } from '../support/receiver.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { installPythonSdk, installTypeScriptSdk, NO_PYTHON, type Runtime } from './packed.ts';

/** Programs with the packed SDKs, against a service whose API is killed in the middle of what they do. */

type Language = 'TypeScript' | 'Python';
const LANGUAGES: Language[] = ['TypeScript', ...(NO_PYTHON === null ? (['Python'] as const) : [])];

let directory: string;
let service: Service;
let key: string;
const runtimes = new Map<Language, Runtime & { folder: string }>();

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-sdk-'));
  const install = async (language: Language) => {
    const folder = join(directory, language);
    mkdirSync(folder);
    const runtime = await (language === 'TypeScript' ? installTypeScriptSdk : installPythonSdk)(folder);
    runtimes.set(language, { ...runtime, folder });
  };
  const started = startService({ dataDir: join(directory, 'data') });
  [service] = await Promise.all([started, ...LANGUAGES.map(install)]);
  key = service.demo?.secret_key ?? '';
});
afterAll(async () => {
  await service?.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** Both SDKs have the same parts. Every run kills the API under all of one, and under the polls of the other. */
const ofEachRun = (language: Language) => (language === 'TypeScript' ? {} : { tags: 'nightly' });

test('both SDKs are tested', ({ skip }) => skip(NO_PYTHON !== null, NO_PYTHON ?? ''));

/** Starts one of `programs/` until the end of the test. */
function start(
  language: Language,
  name: string,
  args: string[],
  url = service.api_url,
): { child: ChildProcess; lines: string[]; ended: Promise<unknown[]> } {
  const runtime = runtimes.get(language);
  if (runtime === undefined) throw new Error(`no SDK for ${language} is installed`);
  const { command, extension, flags, env, folder } = runtime;
  const program = join(folder, `${name}.${extension}`);
  copyFileSync(join(import.meta.dirname, `programs/${name}.${extension}`), program);
  const child = spawn(command, [...flags, program, ...args], {
    env: { ...process.env, ...env, HOPLOG_URL: url, HOPLOG_KEY: key },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  let rest = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const all = (rest + text).split('\n');
    rest = all.pop() ?? '';
    lines.push(...all);
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return { child, lines, ended: once(child, 'close') };
}

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

const create = async <T>(path: string, body: object): Promise<T> => {
  const response = await fetch(`${service.api_url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`POST ${path} returned ${response.status}: ${await response.text()}`);
  return (await response.json()) as T;
};

for (const language of LANGUAGES)
  test(
    `a list in ${language} has every row once when the API is killed between its pages`,
    ofEachRun(language),
    async () => {
      const rows = Array.from({ length: 400 }, (_, nth) => ({
        destination_url: 'https://example.com/',
        name: `${language} ${nth}`,
        channel: 'slack',
      }));
      const { results } = await create<{ results: { body: { links: { id: string }[] } }[] }>('/links/bulk', {
        links: rows,
      });
      const { child, lines, ended } = start(language, 'list', []);
      await until(
        'three pages',
        () => lines.length,
        (count) => count >= 3,
        { intervalMs: 5 },
      );
      killApi();
      const printed = lines.length;
      expect(await ended).toEqual([0, null]);
      const pages = lines.map((line) => JSON.parse(line) as string[]);
      expect(printed).toBeLessThan(pages.length);
      expect(child.exitCode).toBe(0);
      const listed = pages.flat();
      expect(new Set(listed).size).toBe(listed.length);
      const newest = results.flatMap(({ body }) => body.links.map(({ id }) => id));
      expect(newest.filter((id) => !listed.includes(id))).toEqual([]);
    },
  );

test.for(LANGUAGES)('a poll in %s has every click once while API and poller are killed', async (language) => {
  const link = await makeLink(service, key, `polled in ${language}`);
  const file = join(directory, `${language}.db`);
  const database = new DatabaseSync(file);
  onTestFinished(() => database.close());
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
  let poller = start(language, 'poll', [link.id, file]);
  for (const part of [1, 600, 1_300, 1_600]) {
    await until(`${part} stored clicks`, stored, (count) => count >= part, { intervalMs: 5 });
    killApi();
    poller.child.kill('SIGKILL');
    expect(await poller.ended).toEqual([null, 'SIGKILL']);
    poller = start(language, 'poll', [link.id, file]);
    await until('another API', apiProcess, (pid) => pid !== undefined);
  }
  const last = await load;
  expect([last.refused, last.unanswered]).toEqual([new Map(), []]);
  answered.push(...last.answered);
  await until('every click', stored, (count) => count >= answered.length);
  // A click that came twice would have broken the primary key, and ended the poller.
  expect(poller.child.exitCode).toBeNull();
  const visitors = database.prepare('SELECT visitor FROM clicks').all();
  expect(visitors.map(({ visitor }) => visitor).toSorted()).toEqual(answered.toSorted());
  const { state } = database.prepare('SELECT state FROM states').get() as { state: string };
  expect(state.length).toBeLessThan(50_000);
});

for (const language of LANGUAGES)
  test(`live clicks in ${language} resume after the API was killed`, ofEachRun(language), async () => {
    const link = await makeLink(service, key, `live in ${language}`);
    await firstVisits([link.short_url]);
    const { lines } = start(language, 'live', [link.id]);
    const clicked = async () => expect((await follow(link)).status).toBe(302);
    // A stream begins with its next click: until it is open, clicks are before it.
    const firstLine = async () => {
      if (lines.length === 0) await clicked();
      return lines.length > 0;
    };
    await until('the first live click', firstLine, Boolean, { intervalMs: 500 });
    const before = (await clicksOf(service, key, link)).length;
    killApi();
    for (let nth = 0; nth < 5; nth++) await clicked();
    const read = () => clicksOf(service, key, link).catch(() => []);
    const all = await until('five more', read, (rows) => rows.length >= before + 5);
    const ids = all.map(({ id }) => id);
    const since = ids.slice(0, ids.indexOf(lines[0] ?? '') + 1);
    await until(
      'the same live',
      () => lines.length,
      (count) => count >= since.length,
    );
    expect(lines.toSorted()).toEqual(since.toSorted());
  });

test('hoplog listen forwards the events that happen while the API is killed, signed, under one id each', async () => {
  const receiver = await startReceiver();
  onTestFinished(() => receiver.close());
  const link = await makeLink(service, key, 'listened to');
  await firstVisits([link.short_url]);
  const command = [
    'listen',
    '--forward-to',
    receiver.url,
    '--events',
    'click.created,link.created',
    '--json',
  ];
  const child = spawn(process.execPath, [...programArguments('hoplog'), ...command], {
    env: { ...PROGRAM_ENV, HOPLOG_URL: service.api_url, HOPLOG_KEY: key },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [first] = (await once(child.stdout, 'data')) as [Buffer];
  const { secret } = JSON.parse(first.toString()) as { secret: string };

  const load = clickLinks({ urls: [link.short_url], count: 600, connections: 2, paceMs: 15 });
  const clicks = () => receiver.received.filter(({ event }) => event.type === 'click.created');
  for (const part of [1, 200, 400]) {
    await until(
      `${part} clicks`,
      () => clicks().length,
      (count) => count >= part,
      { intervalMs: 5 },
    );
    killApi();
    await until('another API', apiProcess, (pid) => pid !== undefined);
  }
  const { answered, refused, unanswered } = await load;
  expect([refused, unanswered]).toEqual([new Map(), []]);
  const visitors = () => new Set(clicks().map(({ event }) => event.data.visitor_id));
  await until(
    'every click',
    () => visitors().size,
    (count) => count >= answered.length,
  );
  expect([...visitors()].toSorted()).toEqual(answered.toSorted());
  expect(new Set(clicks().map(({ id }) => id)).size).toBe(answered.length);
  expect(receiver.received.every((one) => isGenuine(secret, one))).toBe(true);

  const event = await create<{ id: string }>('/webhooks/trigger', {
    type: 'sale.created',
    data: { amount: 12.5 },
  });
  await create('/webhooks/trigger', { type: 'link.created', data: { name: 'Test' } });
  await until(
    'the example',
    () => receiver.received.find(({ event: { type } }) => type === 'link.created'),
    Boolean,
  );
  // Only the types that it asked for.
  expect(receiver.received.some(({ id }) => id === event.id)).toBe(false);
  expect(receiver.received.at(-1)?.event).toMatchObject({ test: true, data: { name: 'Test' } });
});

test.for(LANGUAGES)('a create in %s whose response was lost is made once', async (language) => {
  let calls = 0;
  const proxy = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const headers = new Headers();
    for (const name of ['authorization', 'content-type', 'idempotency-key']) {
      const value = request.headers[name];
      if (typeof value === 'string') headers.set(name, value);
    }
    const url = `${new URL(service.api_url).origin}${request.url}`;
    const answer = await fetch(url, { method: 'POST', headers, body: Buffer.concat(chunks) });
    const text = await answer.text();
    calls += 1;
    // The API has responded. The client does not learn it, twice.
    if (calls <= 2) response.destroy();
    else response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => void proxy.close());
  const name = `Once in ${language}`;
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const { lines, ended } = start(language, 'create', [name], url);
  expect(await ended).toEqual([0, null]);
  expect(calls).toBe(3);
  const response = await fetch(`${service.api_url}/folders`, { headers: { authorization: `Bearer ${key}` } });
  const { folders } = (await response.json()) as { folders: { id: string; name: string }[] };
  expect(folders.filter((folder) => folder.name === name).map(({ id }) => id)).toEqual(lines);
});
