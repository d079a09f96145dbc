import { execFileSync } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, type TestContext, test } from 'vitest';
import { freePort } from '../../cli/embedded/free-port.ts';
import { type ProcessRecord, stillRuns } from '../../cli/processes/identity.ts';
import { untilLinksSynced } from '../kafka/deployment.ts';
import { clicksOf, follow, type Link, makeLink, untilClicks } from '../support/first-click.ts';
import { EACH_SECOND, hoplog } from '../support/hoplog.ts';
import { type BegunService, beginService, type Service, startService } from '../support/service.ts';
import { canMount, mountSmallDisk, type SmallDisk } from '../support/small-disk.ts';
import { until } from '../support/until.ts';
import { familyOf } from './processes.ts';

const NO_MOUNT = 'only root may mount a small disk';
/** Several times the space that a service takes. A test uses up all of it. */
const DISK_BYTES = 448 * 2 ** 20;
const DISK_FILES = 16_384;

let directory: string;
let running: (Service | BegunService)[];
let disk: SmallDisk | undefined;
/** Processes that are ended with their test. */
let left: ProcessRecord[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-disk-'));
  running = [];
  disk = undefined;
  left = [];
});

afterEach(async () => {
  for (const service of running) {
    if (service.process.exitCode !== null || service.process.signalCode !== null) continue;
    left.push(...familyOf(service));
    await service.stop();
  }
  for (const record of left) if (stillRuns(record)) process.kill(record.pid, 'SIGKILL');
  disk?.remove();
  rmSync(directory, { recursive: true, force: true });
});

function mounted(): { disk: SmallDisk; dataDir: string } {
  disk = mountSmallDisk(directory, DISK_BYTES, DISK_FILES);
  return { disk, dataDir: join(disk.path, 'data') };
}

async function start(dataDir: string): Promise<Service> {
  const service = await startService({ dataDir });
  running.push(service);
  return service;
}

/** A second start, after one that created a link: its ports are known before it is ready. */
async function startAgain(dataDir: string) {
  const env = { API_PORT: String(await freePort()), INGEST_PORT: String(await freePort()) };
  const service = beginService({ dataDir, env });
  running.push(service);
  return { service, shortUrl: `http://127.0.0.1:${env.INGEST_PORT}` };
}

type Linked = { key: string; link: Link };
let linked: Promise<Linked & { directory: string }> | undefined;

/** Copies a stopped service with one link, which is in the file of the next start, and has one click. */
async function withLink(dataDir: string): Promise<Linked> {
  linked ??= makeLinked();
  const { directory, key, link } = await linked;
  execFileSync('cp', ['-a', join(directory, 'data'), dataDir]);
  return { key, link };
}

async function makeLinked(): Promise<Linked & { directory: string }> {
  const directory = mkdtempSync(join(tmpdir(), 'hoplog-linked-'));
  const dataDir = join(directory, 'data');
  const service = await start(dataDir);
  const key = service.demo?.secret_key ?? '';
  const link = await makeLink(service, key, 'kept');
  await untilRedirects(service, link);
  await untilClicks(service, key, link, 1);
  await untilLinksSynced(dataDir);
  expect(await service.stop()).toBe(0);
  return { directory, key, link };
}

afterAll(async () => {
  const { directory } = (await linked?.catch(() => null)) ?? {};
  if (directory) rmSync(directory, { recursive: true, force: true });
});

/** Waits for one redirect: a new link may need PostgreSQL for longer than the second that a visitor waits. */
async function untilRedirects(service: Pick<BegunService, 'process' | 'log'>, link: Link): Promise<void> {
  const status = async () => {
    if (service.process.exitCode !== null) throw new Error(`the service has ended:\n${service.log()}`);
    return await follow(link).then((response) => response.status, String);
  };
  await until('a redirect', status, (seen) => seen === 302);
}

type Parts = Record<string, { ok: boolean; detail: string }>;

async function statusOf(dataDir: string): Promise<{ status: number | null; parts: Parts }> {
  const { status, stdout, stderr } = await hoplog(['status', '--json'], { DATA_DIR: dataDir });
  expect(stderr).toBe('');
  return { status, parts: (JSON.parse(stdout) as { parts: Parts }).parts };
}

/** Waits until these parts are down: each has three seconds to respond, which a loaded machine may need longer for. */
async function expectDown(dataDir: string, ...names: string[]): Promise<void> {
  const down = async () => {
    const { status, parts } = await statusOf(dataDir);
    return [status, Object.keys(parts).filter((name) => parts[name]?.ok === false)];
  };
  await expect.poll(down, EACH_SECOND).toEqual([1, names]);
}

type Damage = [name: string, damage: (small: SmallDisk) => void, reason: RegExp];

const DAMAGED =
  'with a disk that is %s, redirects continue, health and status tell of the loss, and SIGTERM leaves no process behind';
test.for<Damage>([['full', (small) => small.fill(), /disk full/]])(DAMAGED, stopsNoRedirect);
test.for<Damage>([
  ['without inodes', (small) => small.takeInodes(), /disk full/],
  ['read-only', (small) => small.breakDown(), /disk rejects writes/],
])(DAMAGED, { tags: 'nightly' }, stopsNoRedirect);

async function stopsNoRedirect([, damage, reason]: Damage, { skip }: TestContext): Promise<void> {
  skip(!canMount(), NO_MOUNT);
  const { disk: small, dataDir } = mounted();
  // Small segments, so that the one being written is soon full.
  const service = await startService({ dataDir, env: { JOURNAL_BUDGET: '1MiB' } });
  running.push(service);
  const link = await makeLink(service, service.demo?.secret_key ?? '', 'lost');
  await untilLinksSynced(dataDir);
  left = familyOf(service);
  expect(left.length).toBeGreaterThan(5);
  const health = async () => {
    const response = await fetch(`${service.short_url}/health/ready`);
    return { code: response.status, ...((await response.json()) as { status: string }) };
  };
  expect(await health()).toMatchObject({ code: 200, status: 'ready' });
  damage(small);
  const lose = async () => {
    // Uses up again the space that consumers free meanwhile.
    if (small.isWritable()) damage(small);
    const clicks = await Promise.all(Array.from({ length: 200 }, () => follow(link)));
    expect(new Set(clicks.map(({ status }) => status))).toEqual(new Set([302]));
  };
  const patient = { timeoutMs: 120_000 };
  const unwell = await until(
    'a loss in the health',
    () => lose().then(health),
    ({ status }) => status === 'degraded',
    patient,
  );
  expect(unwell).toEqual({ code: 200, status: 'degraded' });
  // A loss ends ten seconds after the last one, or with space that a consumer frees.
  const { status, parts } = await until(
    'a loss in the status',
    () => lose().then(() => statusOf(dataDir)),
    ({ parts }) => /^loses clicks since/.test(parts.redirects?.detail ?? ''),
    patient,
  );
  expect(status).toBe(1);
  expect(parts.redirects?.ok).toBe(false);
  expect(parts.redirects?.detail).toMatch(
    /^loses clicks since \d{4}-\d\d-\d\dT\d\d:\d\dZ: .* \([\d,]+\) at http/,
  );
  expect(parts.redirects?.detail).toMatch(reason);
  expect(parts.disk?.detail).toMatch(/^low: /);
  // The supervisor may have restarted processes when a database ended.
  left.push(...familyOf(service));
  await service.stop();
  expect(left.filter(stillRuns)).toEqual([]);
}

test('with no free byte, redirects work from the local table, status names what is down, and all recovers once there is space', async ({
  skip,
}) => {
  skip(!canMount(), NO_MOUNT);
  const { disk: small, dataDir } = mounted();
  const { key, link: kept } = await withLink(dataDir);
  small.fill();
  const { service, shortUrl } = await startAgain(dataDir);
  const link = { ...kept, short_url: `${shortUrl}/${kept.slug}` };
  await untilRedirects(service, link);
  await expect
    .poll(async () => (await statusOf(dataDir)).parts.postgres, EACH_SECOND)
    .toMatchObject({ ok: false });
  small.free();
  const ready = await service.ready;
  if (ready === null) throw new Error(service.log());
  expect((await follow(link)).status).toBe(302);
  expect((await untilClicks(ready, key, link, 2)).length).toBeGreaterThanOrEqual(2);
  const family = familyOf(service);
  expect(await service.stop()).toBe(0);
  expect(family.filter(stillRuns)).toEqual([]);
});

test('while PostgreSQL cannot start, links redirect, and their clicks are counted once it starts', async () => {
  const dataDir = join(directory, 'data');
  const { key, link: kept } = await withLink(dataDir);
  const version = join(dataDir, 'postgres', 'PG_VERSION');
  renameSync(version, `${version}.aside`);
  const { service, shortUrl } = await startAgain(dataDir);
  const link = { ...kept, short_url: `${shortUrl}/${kept.slug}` };
  await untilRedirects(service, link);
  for (let click = 0; click < 9; click += 1) expect((await follow(link)).status).toBe(302);
  await expectDown(dataDir, 'api', 'workers', 'postgres');
  renameSync(`${version}.aside`, version);
  const ready = await service.ready;
  if (ready === null) throw new Error(service.log());
  expect(await untilClicks(ready, key, link, 11)).toHaveLength(11);
  expect(await service.stop()).toBe(0);
});

test('while ClickHouse cannot start, links redirect and the API responds, and clicks are counted once it starts', async () => {
  const dataDir = join(directory, 'data');
  const { key, link: kept } = await withLink(dataDir);
  const data = join(dataDir, 'clickhouse', 'data');
  renameSync(data, `${data}.aside`);
  writeFileSync(data, 'not a directory');
  const { service, shortUrl } = await startAgain(dataDir);
  const link = { ...kept, short_url: `${shortUrl}/${kept.slug}` };
  const ready = await service.ready;
  if (ready === null) throw new Error(service.log());
  await untilRedirects(service, link);
  for (let click = 0; click < 9; click += 1) expect((await follow(link)).status).toBe(302);
  await expectDown(dataDir, 'workers', 'clickhouse');
  await untilRedirects(service, await makeLink(ready, key, 'later'));
  rmSync(data);
  renameSync(`${data}.aside`, data);
  const counted = () =>
    clicksOf(ready, key, link).then(
      (clicks) => clicks.length,
      () => 0,
    );
  await expect.poll(counted).toBe(11);
  expect(await service.stop()).toBe(0);
});
