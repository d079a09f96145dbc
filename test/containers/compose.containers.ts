import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT, readComposeFile } from '../deploy/compose-file.ts';
import { readStages } from '../deploy/dockerfile-stages.ts';
import { accountFor } from '../faults/accounting.ts';
import { clickLinks } from '../support/clicker.ts';
import { type Link, makeLink } from '../support/first-click.ts';

/** Size of the image's layers over its base, bytes. */
const LIMIT = 250e6;
const CLICKS = 500;
/** Clicks while a part is killed: 15 a second over three connections. */
const LIGHT = { connections: 3, paceMs: 200, newConnections: true };

const service = { api_url: 'http://127.0.0.1:3000/api/v1', short_url: 'http://127.0.0.1:8080' };
let key = '';
let link: Link;
let directory: string;
/** Visitors that were redirected, over all tests. */
const answered: string[] = [];

const run = promisify(execFile);

/** Vitest sets a `BASE_URL` of its own, which Compose would use as a setting. */
const { BASE_URL: _, ...environment } = process.env;

async function docker(...words: string[]): Promise<string> {
  const { stdout } = await run('docker', words, { cwd: ROOT, env: environment, maxBuffer: 64 * 2 ** 20 });
  return stdout.trim();
}
const compose = (...words: string[]) => docker('compose', '--progress', 'quiet', ...words);

/** Runs commands of the guide as an operator would. `$name` is the backup's name, which goes into this test's directory. */
async function shell(commands: string): Promise<void> {
  const files = (process.env.COMPOSE_FILE ?? 'docker-compose.yml').split(':').map((file) => join(ROOT, file));
  await run('bash', ['-euo', 'pipefail', '-c', commands], {
    cwd: directory,
    maxBuffer: 64 * 2 ** 20,
    env: { ...environment, COMPOSE_FILE: files.join(':'), name: 'backup' },
  });
}

/** Returns the shell commands of a section of the guide. */
function guide(file: string, heading: string): string[] {
  const section = readFileSync(`${ROOT}docs/operations/${file}`, 'utf8')
    .split(`\n## ${heading}\n`)[1]
    ?.split('\n## ')[0];
  return [...(section ?? '').matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block);
}

/** Clicks until the given work ends. @returns the clicker's result */
async function clickDuring(happening: () => Promise<unknown>) {
  const ended = new AbortController();
  const clicking = clickLinks({ urls: [link.short_url], signal: ended.signal, ...LIGHT });
  try {
    await happening();
  } finally {
    ended.abort();
  }
  const clicked = await clicking;
  answered.push(...clicked.answered);
  return clicked;
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-containers-'));
  await compose('down', '--volumes', '--remove-orphans');
});
afterAll(async () => {
  rmSync(directory, { recursive: true, force: true });
  if (process.env.KEEP !== 'true') await compose('down', '--volumes');
});

test('the image is built by one service, and is small', async () => {
  await compose('build');
  const sizeOf = async (image: string) =>
    Number(await docker('image', 'inspect', image, '--format', '{{.Size}}'));
  const base = await sizeOf(readStages().at(-1)?.from ?? '');
  const over = (await sizeOf('hoplog:local')) - base;
  console.info(`the image is ${(over / 1e6).toFixed(0)} MB over its base`);
  expect(over).toBeLessThan(LIMIT);
});

test('the image runs hoplog, and as a numeric user that is not root', async () => {
  const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
  expect(await docker('run', '--rm', 'hoplog:local', 'hoplog', '--version')).toBe(version);
  const failed = docker('run', '--rm', '--network', 'none', 'hoplog:local', 'hoplog', 'status');
  await expect(failed).rejects.toThrow(/no running service in DATA_DIR/);
  expect(await docker('image', 'inspect', 'hoplog:local', '--format', '{{.Config.User}}')).toBe('1000:1000');
});

test('the whole file starts on empty volumes', async () => {
  const began = performance.now();
  await compose('up', '--detach', '--wait', '--wait-timeout', '600', '--no-build');
  console.info(`ready after ${((performance.now() - began) / 1_000).toFixed(0)} s`);
  const printed = await compose('logs', '--no-log-prefix', '--no-color', 'migrate');
  key = /secret key\s+(lk_live_\w+)/.exec(printed)?.[1] ?? '';
  expect(key).not.toBe('');
});

test(`${CLICKS} clicks through nginx are stored once each`, async () => {
  link = await makeLink(service, key, 'containers');
  const clicked = await clickLinks({ urls: [link.short_url], count: CLICKS, connections: 8 });
  answered.push(...clicked.answered);
  expect(clicked).toMatchObject({ refused: new Map(), unanswered: [] });
  expect(await accountFor(service, key, answered)).toBe(CLICKS);
});

const PARTS = Object.keys(readComposeFile().services).filter(
  (name) => !['migrate', 'nginx', 'prometheus', 'grafana'].includes(name),
);

test.each(PARTS)('killing %s: every visitor is redirected and every click stored once', async (part) => {
  const clicked = await clickDuring(async () => {
    await compose('kill', part);
    await delay(2_000);
    await compose('up', '--detach', '--wait', '--no-build', '--no-recreate', part);
    await delay(1_000);
  });
  expect(clicked.answered.length).toBeGreaterThan(0);
  expect(clicked).toMatchObject({ refused: new Map(), unanswered: [] });
  await accountFor(service, key, answered);
});

test('the upgrade of the guide fails no redirect', async () => {
  const [commands = ''] = guide('upgrades.md', 'Cluster, without downtime');
  expect(commands).toContain('docker compose build');
  const clicked = await clickDuring(() => shell(commands));
  expect(clicked.answered.length).toBeGreaterThan(0);
  expect(clicked).toMatchObject({ refused: new Map(), unanswered: [] });
  await accountFor(service, key, answered);
});

test('the backup and the restore of the guide lose no later click', async () => {
  const [backup = ''] = guide('backup.md', 'Cluster');
  const [restore = ''] = guide('backup.md', 'Restore a cluster');
  await clickDuring(() => shell(backup.replace(/^name=.*\n/m, '')));
  await clickDuring(() => delay(3_000));
  await accountFor(service, key, answered);

  const [before = '', after = ''] = restore.split(/# now wait until .*\n/);
  await shell(before);
  await untilNoLag();
  await shell(after);
  await compose('up', '--detach', '--wait', '--no-build', '--no-recreate');
  const clicked = await clickDuring(() => delay(2_000));
  expect(clicked).toMatchObject({ refused: new Map(), unanswered: [] });
  await accountFor(service, key, answered);
});

async function untilNoLag(): Promise<void> {
  const url = `http://127.0.0.1:9090/api/v1/query?query=${encodeURIComponent('sum(hoplog_worker_lag_offsets)')}`;
  for (let quiet = 0; quiet < 3; ) {
    const response = (await (await fetch(url)).json()) as { data: { result: { value: [number, string] }[] } };
    quiet = Number(response.data.result[0]?.value[1] ?? Number.NaN) === 0 ? quiet + 1 : 0;
    await delay(5_000);
  }
}
