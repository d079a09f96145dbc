import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT, readComposeFile } from '../deploy/compose-file.ts';
import { readStages } from '../deploy/dockerfile-stages.ts';
import { blocksOf, readDocument } from '../docs/markdown.ts';
import { accountFor } from '../faults/accounting.ts';
import { LOCAL_ROOT, NO_CERTIFICATE, visitOverTls } from '../support/caddy.ts';
import { clickLinks } from '../support/clicker.ts';
import { type Link, makeLink } from '../support/first-click.ts';
import { until } from '../support/until.ts';
import { CADDY, createDeployment } from './deployment.ts';

/** Size of the image's layers over its base, bytes. */
const LIMIT = 250e6;
const CLICKS = 500;
/** Clicks while a part is killed: 15 a second over three connections. */
const LIGHT = { connections: 3, paceMs: 200, newConnections: true, timeoutMs: 60_000 };

const service = { api_url: 'http://127.0.0.1:3000/api/v1', short_url: 'http://127.0.0.1:8080' };
let key = '';
let link: Link;
/** Visitors that were redirected, over all tests. */
const answered: string[] = [];

const deployment = createDeployment();
const { docker, compose, containerOf, shell } = deployment;

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

const startsWith = (status: number) => (response: string) => response.startsWith(`${status}`);

/** Sends a request to the API. @returns the body of its response */
async function send(path: string, body: object): Promise<unknown> {
  const response = await fetch(`${service.api_url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (response.status !== 201)
    throw new Error(`${path} returned ${response.status}: ${await response.text()}`);
  return await response.json();
}

beforeAll(() => deployment.down());
afterAll(async () => {
  // A deployment that stays needs its passwords.
  if (process.env.KEEP === 'true') return;
  await deployment.down();
  deployment.removeFiles();
});

test('the image is built by one service, and is small', async () => {
  await compose('build');
  const sizeOf = async (image: string) =>
    Number(await docker(['image', 'inspect', image, '--format', '{{.Size}}']));
  const base = await sizeOf(readStages().at(-1)?.from ?? '');
  const over = (await sizeOf('hoplog:local')) - base;
  console.info(`the image is ${(over / 1e6).toFixed(0)} MB over its base`);
  expect(over).toBeLessThan(LIMIT);
});

test('the image runs hoplog, and as a numeric user that is not root', async () => {
  const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
  expect(await docker(['run', '--rm', 'hoplog:local', 'hoplog', '--version'])).toBe(version);
  const failed = docker(['run', '--rm', '--network', 'none', 'hoplog:local', 'hoplog', 'status']);
  await expect(failed).rejects.toThrow(/no running service in DATA_DIR/);
  expect(await docker(['image', 'inspect', 'hoplog:local', '--format', '{{.Config.User}}'])).toBe(
    '1000:1000',
  );
});

test('its health check fails while its process is not ready', async () => {
  const settings = ['DATABASE_URL=postgres://none@127.0.0.1:9/none', 'CLICKHOUSE_URL=http://127.0.0.1:9'];
  for (const tier of ['ingest', 'workers', 'api']) {
    const words = ['--rm', '--detach', '--network', 'none', ...settings.flatMap((one) => ['--env', one])];
    const id = await docker(['run', ...words, 'hoplog:local', `dist/${tier}.js`]);
    try {
      await expect(docker(['exec', id, 'node', 'dist/health.js']), tier).rejects.toMatchObject({ code: 1 });
      expect(await docker(['inspect', id, '--format', '{{.State.Running}}']), tier).toBe('true');
    } finally {
      await docker(['rm', '--force', id]);
    }
  }
});

test('the passwords of the checkout are rejected where other machines reach the ports', async () => {
  const words = ['compose', 'run', '--rm', '--no-deps', 'migrate'];
  const started = docker(words, { SECRETS_DIR: undefined, LISTEN: '0.0.0.0' });
  await expect(started).rejects.toThrow(
    /postgres-password in SECRETS_DIR is "laptop-only": must be a password of your own while ports listen on 0\.0\.0\.0/,
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
  const clicked = await clickLinks({
    urls: [link.short_url],
    count: CLICKS,
    connections: 8,
    timeoutMs: 60_000,
  });
  answered.push(...clicked.answered);
  expect(clicked).toMatchObject({ refused: new Map(), unanswered: [] });
  expect(await accountFor(service, key, answered)).toBe(CLICKS);
});

/** Services that start without a profile and that the engine has an image for. */
const SERVICES = Object.entries(readComposeFile().services).filter(
  ([name, { profiles }]) => !profiles && name !== 'grafana',
);
const PARTS = SERVICES.map(([name]) => name).filter(
  (name) => !['migrate', 'nginx', 'prometheus'].includes(name),
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

test('with its profile, Caddy gets a certificate for a proven domain and for no other host', async () => {
  deployment.setLocalAuthority();
  await compose(...CADDY, 'up', '--detach', '--wait', '--no-build', '--no-recreate');
  const ca = await until(
    'Caddy has a local authority',
    () => compose(...CADDY, 'exec', '-T', 'caddy', 'cat', `/data/${LOCAL_ROOT}`).catch(() => ''),
    Boolean,
  );
  const visit = (host: string, path: string) => visitOverTls({ host, path, port: 443, ca });
  const host = 'go.brand.example';
  const domain = await send('/domains', { domain: host });
  expect(domain).toMatchObject({ status: 'pending' });
  await until(
    'Caddy serves the host of SHORT_URL',
    () => visit('short.localhost', '/nowhere'),
    startsWith(404),
  );
  expect(await visit(host, '/sale')).toMatch(NO_CERTIFICATE);

  const verify = ['hoplog', 'domain', 'verify', '--force', '--workspace', 'demo', host];
  await compose('exec', '-T', 'api-0', ...verify);
  const address = { name: 'sale', channel: 'other', external: true, domain: host, slug: 'sale' };
  await send('/links', { destination_url: 'https://example.com/landing', ...address });
  // Any ingest process tells Caddy which domains are proven.
  await compose('kill', 'ingest-0');
  const led = await until('the proven domain redirects', () => visit(host, '/sale'), startsWith(302));
  answered.push(new URL(led.slice('302 '.length)).searchParams.get('_vid') ?? led);
  expect(await visit('x.brand.example', '/sale')).toMatch(NO_CERTIFICATE);
  await compose('up', '--detach', '--wait', '--no-build', '--no-recreate', 'ingest-0');
  await accountFor(service, key, answered);
  await compose(...CADDY, 'rm', '--stop', '--force', 'caddy');
  deployment.setShippedFile();
});

test('the upgrade of the guide fails no redirect', async () => {
  const [commands = ''] = guide('upgrades.md', 'Cluster, without downtime');
  expect(commands).toContain('docker compose build');
  deployment.changeImage();
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
  const names = SERVICES.map(([name]) => name).filter((name) => name !== 'migrate');
  const ids = () => Promise.all(names.map(containerOf));
  const before = await ids();
  await compose('up', '--detach', '--wait', '--build');
  expect(await ids()).toEqual(before);
  deployment.setShippedFile();
  await compose('up', '--detach', '--wait', '--build');
  const recreated = (await ids()).flatMap((id, at) => (id === before[at] ? [] : [names[at]]));
  const own = SERVICES.flatMap(([name, { image }]) =>
    image === 'hoplog:local' && name !== 'migrate' ? [name] : [],
  );
  expect(recreated).toEqual(own);
  await accountFor(service, key, answered);
});

test('after a restart of all services at once, migrations have waited for their databases', async () => {
  await compose('restart');
  const migrate = await docker(['compose', 'ps', '--all', '--quiet', 'migrate']);
  expect(await docker(['wait', migrate])).toBe('0');
  await compose('up', '--detach', '--wait', '--no-build', '--no-recreate');
  const clicked = await clickDuring(() => delay(2_000));
  expect(clicked).toMatchObject({ refused: new Map(), unanswered: [] });
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

/** Runs a command of the operator. @returns what it prints */
const hoplog = (...words: string[]) => compose('exec', '-T', 'api-0', 'hoplog', ...words);

async function untilBothRead(): Promise<void> {
  type Listed = { replicas: { name: string; state: string }[] };
  const states = async () =>
    (JSON.parse(await hoplog('replica', 'list', '--json')) as Listed).replicas.map(
      ({ name, state }) => `${name}: ${state}`,
    );
  await until('both replicas are read', states, (all) => all.join() === 'main: read,second: read', {
    timeoutMs: 120_000,
    intervalMs: 1_000,
  });
}

test('with the profile ha, either ClickHouse may be killed: every click is read from the other one', async () => {
  deployment.set({ COMPOSE_PROFILES: 'ha', CLICKHOUSE_REPLICAS: 'main,second' });
  const [upgrade = ''] = guide('upgrades.md', 'Cluster, without downtime');
  const [restarts = ''] = /^for service in .*^done$/ms.exec(upgrade) ?? [];
  const [commands = ''] = guide('replicas.md', 'With Docker Compose');
  expect(commands).toContain('replica fill second');
  const added = await clickDuring(async () => {
    await shell(restarts);
    expect(await shell(commands)).toMatch(/^main +read.*\nsecond +read/m);
  });
  expect(added).toMatchObject({ refused: new Map(), unanswered: [] });
  for (const server of ['clickhouse', 'clickhouse-second']) {
    const clicked = await clickDuring(async () => {
      await compose('kill', server);
      await delay(2_000);
    });
    expect(clicked.answered.length).toBeGreaterThan(0);
    expect(clicked).toMatchObject({ refused: new Map(), unanswered: [] });
    await accountFor(service, key, answered);
    await compose('up', '--detach', '--wait', '--no-build', '--no-recreate', server);
    await untilBothRead();
  }
  expect(await hoplog('replica', 'compare', 'second')).toContain('have the same rows');
});

test('with replicas, one of them is backed up and restored, and the other one filled again', async () => {
  const [backup = ''] = guide('backup.md', 'Cluster');
  const [restore = '', others = '', again = ''] = guide('backup.md', 'Restore a cluster');
  await clickDuring(() => shell(backup.replace(/^name=.*\n/m, '')));
  await clickDuring(() => delay(3_000));
  await accountFor(service, key, answered);
  const [before = '', after = ''] = restore.split(/^docker compose start workers.*\n/m);
  expect(others).toContain('replica drop second');
  await shell(before);
  await shell(others);
  await shell('docker compose start workers-0 workers-1');
  await untilNoLag();
  await shell(after);
  await shell(again);
  await untilBothRead();
  await accountFor(service, key, answered);
  expect(await hoplog('replica', 'compare', 'second')).toContain('have the same rows');
});

async function untilNoLag(): Promise<void> {
  // With a bare gauge, samples from before a restart of Prometheus count for five minutes.
  const [, query = ''] =
    /^The lag is `(.+?)`/m.exec(readFileSync(`${ROOT}docs/operations/backup.md`, 'utf8')) ?? [];
  const url = `http://127.0.0.1:9090/api/v1/query?query=${encodeURIComponent(query)}`;
  for (let quiet = 0; quiet < 3; ) {
    const response = (await (await fetch(url)).json()) as { data: { result: { value: [number, string] }[] } };
    quiet = Number(response.data.result[0]?.value[1] ?? Number.NaN) === 0 ? quiet + 1 : 0;
    await delay(5_000);
  }
}
