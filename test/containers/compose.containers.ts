import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT, readComposeFile } from '../deploy/compose-file.ts';
import { readStages } from '../deploy/dockerfile-stages.ts';
import { blocksOf, readDocument } from '../docs/markdown.ts';
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
const FILES = (environment.COMPOSE_FILE ?? 'docker-compose.yml').split(':').map((file) => join(ROOT, file));
environment.COMPOSE_FILE = FILES.join(':');

async function docker(...words: string[]): Promise<string> {
  const { stdout } = await run('docker', words, { cwd: ROOT, env: environment, maxBuffer: 64 * 2 ** 20 });
  return stdout.trim();
}
/** Returns the id of a service's container. A recreated container has another one. */
const containerOf = (name: string) => docker('compose', 'ps', '--quiet', name);
const compose = (...words: string[]) => docker('compose', '--progress', 'quiet', ...words);

/** Runs commands of the guide as an operator would, and returns their output. `$name` is the backup's name, which goes into this test's directory. */
async function shell(commands: string): Promise<string> {
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', commands], {
    cwd: directory,
    maxBuffer: 64 * 2 ** 20,
    env: { ...environment, name: 'backup' },
  });
  return stdout;
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

/** Makes passwords with characters that URLs and shells treat specially. @returns their directory */
function makeSecrets(): string {
  const secrets = join(directory, 'secrets');
  mkdirSync(secrets);
  for (const name of ['postgres', 'postgres-service', 'clickhouse', 'grafana']) {
    const file = join(secrets, `${name}-password`);
    writeFileSync(file, `${name} of/our:own@%20"$HOME'#?\n`);
    chmodSync(file, 0o444);
  }
  return secrets;
}

/** Makes the next `docker compose build` build another image, as a new version would. */
function changeImage(): void {
  const file = join(directory, 'new-version.yml');
  writeFileSync(file, 'services: { migrate: { build: { labels: { new: version } } } }\n');
  environment.COMPOSE_FILE = [...FILES, file].join(':');
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-containers-'));
  environment.SECRETS_DIR = makeSecrets();
  await compose('down', '--volumes', '--remove-orphans');
});
afterAll(async () => {
  environment.COMPOSE_FILE = FILES.join(':');
  // A deployment that stays needs its passwords.
  if (process.env.KEEP === 'true') return;
  await compose('down', '--volumes');
  rmSync(directory, { recursive: true, force: true });
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

test('its health check fails while its process is not ready', async () => {
  const settings = ['DATABASE_URL=postgres://none@127.0.0.1:9/none', 'CLICKHOUSE_URL=http://127.0.0.1:9'];
  for (const tier of ['ingest', 'workers', 'api']) {
    const words = ['--rm', '--detach', '--network', 'none', ...settings.flatMap((one) => ['--env', one])];
    const id = await docker('run', ...words, 'hoplog:local', `dist/${tier}.js`);
    try {
      await expect(docker('exec', id, 'node', 'dist/health.js'), tier).rejects.toMatchObject({ code: 1 });
    } finally {
      await docker('rm', '--force', id);
    }
  }
});

test('the passwords of the checkout are rejected where other machines reach the ports', async () => {
  const { SECRETS_DIR: _own, ...rest } = environment;
  const words = ['compose', 'run', '--rm', '--no-deps', 'migrate'];
  const started = run('docker', words, { cwd: ROOT, env: { ...rest, LISTEN: '0.0.0.0' } });
  await expect(started).rejects.toThrow(
    /postgres-password in SECRETS_DIR is "laptop-only": must be a password of your own while LISTEN=0\.0\.0\.0/,
  );
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
  changeImage();
  const ids = () =>
    Promise.all(['ingest-0', 'workers-1', 'api-1', 'nginx', 'postgres', 'kafka-1'].map(containerOf));
  const before = await ids();
  const clicked = await clickDuring(() => shell(commands));
  expect(clicked.answered.length).toBeGreaterThan(0);
  expect(clicked).toMatchObject({ refused: new Map(), unanswered: [] });
  await accountFor(service, key, answered);
  const isNew = (await ids()).map((id, at) => id !== before[at]);
  expect(isNew).toEqual([true, true, true, false, false, false]);
});

test('after the upgrade up recreates nothing, and with a new image the processes of the image alone', async () => {
  const services = Object.entries(readComposeFile().services).filter(([name]) => name !== 'grafana');
  const names = services.map(([name]) => name).filter((name) => name !== 'migrate');
  const ids = () => Promise.all(names.map(containerOf));
  const before = await ids();
  await compose('up', '--detach', '--wait', '--build');
  expect(await ids()).toEqual(before);
  environment.COMPOSE_FILE = FILES.join(':');
  await compose('up', '--detach', '--wait', '--build');
  const recreated = (await ids()).flatMap((id, at) => (id === before[at] ? [] : [names[at]]));
  const own = services.flatMap(([name, { image }]) =>
    image === 'hoplog:local' && name !== 'migrate' ? [name] : [],
  );
  expect(recreated).toEqual(own);
  await accountFor(service, key, answered);
});

test('the commands of the guide work', async () => {
  const blocks = blocksOf(readDocument('docs/operations/cluster.md'), 'sh');
  const commands = blocks.flatMap((block) => block.match(/^docker compose (?:exec|logs)(?:\\\n|.)*/gm) ?? []);
  // Its stream is one that this test needs.
  const tried = commands.filter((command) => !command.includes('stream retire'));
  expect(tried).toHaveLength(5);
  const printed = await shell(tried.join('\n'));
  expect(printed).toMatch(/migrate-1 .* up to date/);
  expect(printed).toMatch(/^redirects +up/m);
  expect(printed).toMatch(/lk_live_[\s\S]*http:\/\/127\.0\.0\.1:3000\/.*/);
  const topic =
    '/opt/kafka/bin/kafka-topics.sh --bootstrap-server kafka-1:9092 --describe --topic hoplog.events.v1';
  expect(await compose('exec', '-T', 'kafka-1', ...topic.split(' '))).toContain('PartitionCount: 8');
  const clicked = await clickDuring(() => delay(2_000));
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
