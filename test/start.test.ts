import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SessionBody } from '../api/session/schemas.ts';
import { freePort } from '../cli/embedded/free-port.ts';
import { type ProcessRecord, stillRuns } from '../cli/processes/identity.ts';
import { familyOf } from './faults/processes.ts';
import { type Click, follow, type Link, makeLink, untilClicks } from './support/first-click.ts';
import { EACH_SECOND, hoplog } from './support/hoplog.ts';
import { listeningSockets } from './support/listening-sockets.ts';
import { interruptedStart, type Ready, refusedStart, type Service, startService } from './support/service.ts';

const TIERS = ['ingest', 'workers', 'api'];

/** Loaded before a program: what it repeats each hour, it then repeats each second. */
const HOURS_ARE_SECONDS = `data:text/javascript,${encodeURIComponent(
  'const real = setInterval; globalThis.setInterval = (work, ms, ...more) => real(work, ms === 3600000 ? 1000 : ms, ...more);',
)}`;

/** A proxy where no server listens: Hoplog calls itself without one. */
const PROXY = {
  NODE_USE_ENV_PROXY: '1',
  HTTP_PROXY: 'http://127.0.0.1:9',
  http_proxy: 'http://127.0.0.1:9',
};

let directory: string;
let dataDir: string;
let running: Service[];
/** The secret key that the first start printed. */
let key: string;

/** Gives the tests of a block one DATA_DIR, in turn. */
function inOneDataDir(): void {
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'hoplog-start-'));
    dataDir = join(directory, 'data');
    running = [];
  });
  afterAll(async () => {
    for (const service of running) if (stays(service)) await service.stop();
    rmSync(directory, { recursive: true, force: true });
  });
}

const stays = ({ process }: Service) => process.exitCode === null && process.signalCode === null;

async function start(options: Partial<Parameters<typeof startService>[0]> = {}): Promise<Service> {
  const service = await startService({ dataDir, ...options });
  running.push(service);
  key = service.demo?.secret_key ?? key;
  return service;
}

/** Returns the service that the test before left running. A test that runs alone starts one. */
async function leftRunning(): Promise<Service> {
  const last = running.at(-1);
  return last !== undefined && stays(last) ? last : start();
}

function childOf(name: string): ProcessRecord {
  return JSON.parse(readFileSync(join(dataDir, 'run', `${name}.child.json`), 'utf8'));
}

/** Returns the record of a tier's process; null while there is none. */
function existingChild(name: string): ProcessRecord | null {
  try {
    return childOf(name);
  } catch {
    return null;
  }
}

async function readyAgain(service: Ready): Promise<void> {
  const origins = [new URL(service.api_url).origin, service.short_url];
  for (const origin of origins) {
    const status = () => fetch(`${origin}/health/ready`).then((response) => response.json(), String);
    await expect.poll(status, { message: origin }).toEqual({ status: 'ready' });
  }
}

function postmaster(): number {
  return Number.parseInt(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10);
}

/** The link at the port of this start. */
function at(service: Ready, link: Link): Link {
  return { ...link, short_url: `${service.short_url}/${link.slug}` };
}

async function clicksSince(service: Ready, key: string, link: Link, since: string) {
  const response = await fetch(`${service.api_url}/clicks?link_id=${link.id}&since=${since}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  expect(response.status).toBe(200);
  return (await response.json()) as { clicks: Click[]; watermark: string };
}

describe('a service that runs', () => {
  inOneDataDir();

  test('a first start prints working keys and an invitation, returns a click, hides the data from other users, and rejects a second start', async () => {
    const metricsPort = await freePort('127.0.0.3', 4);
    const env = {
      METRICS_PORT: String(metricsPort),
      METRICS_HOST: '127.0.0.3',
      NODE_OPTIONS: `--import=${HOURS_ARE_SECONDS}`,
      ...PROXY,
    };
    const service = await start({ empty: true, env });
    const link = await makeLink(service, key, 'first');
    const response = await follow(link);
    expect(response.status).toBe(302);
    expect(response.location).toMatch(/^https:\/\/example\.com\/landing\?/);
    expect(await untilClicks(service, key, link, 1)).toHaveLength(1);

    const accepted = await fetch(`${service.api_url}/session/invite`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        token: service.console_url?.split('#')[1],
        email: 'first@demo.example',
        password: 'correct horse battery',
      }),
    });
    expect([accepted.status, ((await accepted.json()) as SessionBody).member.role]).toEqual([200, 'owner']);

    const open = execFileSync('find', [dataDir, '-mindepth', '1', '-maxdepth', '1', '-perm', '/077'], {
      encoding: 'utf8',
    });
    expect(open).toBe('');
    expect(statSync(join(dataDir, 'run', 'supervisor.json')).mode & 0o777).toBe(0o600);

    // The supervisor and its three tiers, on METRICS_HOST only.
    const metricsPorts = [0, 1, 2, 3].map((following) => metricsPort + following);
    for (const port of metricsPorts) {
      const live = await fetch(`http://127.0.0.3:${port}/health/live`);
      expect([live.status, await live.json()]).toEqual([200, { status: 'ok' }]);
    }
    const addresses = listeningSockets(service.process.pid ?? 0).map(({ address }) => address);
    const ofMetrics = metricsPorts.map((port) => addresses.filter((address) => address.endsWith(`:${port}`)));
    expect(ofMetrics).toEqual(metricsPorts.map((port) => [`127.0.0.3:${port}`]));
    const children = { postgres: 'up', clickhouse: 'up', ingest: 'up', workers: 'up', api: 'up' };
    const ready = await fetch(`http://127.0.0.3:${metricsPort}/health/ready`);
    expect([ready.status, await ready.json()]).toEqual([200, { status: 'ready', children }]);

    const log = () => service.log();
    await expect.poll(log).toContain('this hour: 1 redirects, 0 clicks lost');
    await expect.poll(log).toMatch(/visible up to [\d.]+ s ago, \d+ MiB free in DATA_DIR, \d+ MiB of memory/);

    const second = await refusedStart({ dataDir });
    expect(second.status).toBe(1);
    expect(second.log).toContain(`already runs on DATA_DIR=${JSON.stringify(dataDir)}`);
  });

  test('status, behind a proxy too, reports when the workers stop making progress, and when they resume', async () => {
    const service = await leftRunning();
    const env = {
      ...PROXY,
      DATA_DIR: dataDir,
      BASE_URL: new URL(service.api_url).origin,
      SHORT_URL: service.short_url,
    };
    const workers = async () => {
      const { status, stdout } = await hoplog(['status', '--json'], env);
      return [status, JSON.parse(stdout).parts.workers];
    };
    await expect.poll(workers, EACH_SECOND).toEqual([0, { ok: true, detail: '1 alive' }]);
    const { pid } = childOf('workers');
    process.kill(pid, 'SIGSTOP');
    try {
      const silent = {
        ok: false,
        detail: expect.stringMatching(/^no worker is alive; the last heartbeat expired at /),
      };
      await expect.poll(workers, EACH_SECOND).toEqual([1, silent]);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await expect.poll(workers, EACH_SECOND).toEqual([0, { ok: true, detail: '1 alive' }]);
  });

  test('after kill -9 of the supervisor the next start ends what is left, and no redirected click is lost', async () => {
    const first = await leftRunning();
    const link = await makeLink(first, key, 'survivor');
    for (let click = 0; click < 10; click += 1) await follow(link);
    const children = TIERS.map(childOf);
    await first.kill();
    expect(children.every(stillRuns)).toBe(true);
    // Redirects continue without the supervisor.
    for (let click = 0; click < 10; click += 1) expect((await follow(link)).status).toBe(302);

    const second = await start();
    expect(children.some(stillRuns)).toBe(false);
    expect(await untilClicks(second, key, link, 20)).toHaveLength(20);
  });

  test('a killed tier restarts, and so does a killed database while redirects continue', async () => {
    const service = await leftRunning();
    const link = await makeLink(service, key, 'steady');
    expect((await follow(link)).status).toBe(302);
    let clicks = 1;
    for (const tier of TIERS) {
      const before = childOf(tier);
      process.kill(before.pid, 'SIGKILL');
      const replaced = () => !stillRuns(before) && (existingChild(tier)?.pid ?? before.pid) !== before.pid;
      await expect.poll(replaced, { message: `a new ${tier}` }).toBe(true);
    }
    await readyAgain(service);
    process.kill(postmaster(), 'SIGKILL');
    for (let click = 0; click < 10; click += 1) {
      expect((await follow(link)).status).toBe(302);
      clicks += 1;
    }
    await readyAgain(service);
    expect(await untilClicks(service, key, link, clicks)).toHaveLength(clicks);
  });

  test('a second signal ends everything at once, including the databases', async () => {
    const service = await leftRunning();
    const family = familyOf(service);
    // It does not drain, so that the second signal comes before the stop is done.
    process.kill(childOf('workers').pid, 'SIGSTOP');
    const signal = () => {
      service.process.kill('SIGTERM');
      return service.process.exitCode;
    };
    try {
      await expect.poll(signal, { interval: 100 }).toBe(1);
      await expect.poll(() => family.filter(stillRuns)).toEqual([]);
    } finally {
      for (const record of family) if (stillRuns(record)) process.kill(record.pid, 'SIGKILL');
    }
  });
});

describe('a service that ends', () => {
  inOneDataDir();

  test('a first start that fails or is interrupted leaves the demo keys for the next start', async () => {
    const noAuthority = {
      KAFKA_BROKERS: '127.0.0.1:1',
      KAFKA_TLS: 'true',
      KAFKA_TLS_CA: join(directory, 'none.pem'),
    };
    const kept = join(dataDir, 'run', 'demo.json');
    const at = 'starting workers and API';
    for (let isInterrupted = false; !isInterrupted; ) {
      rmSync(dataDir, { recursive: true, force: true });
      const failed = await refusedStart({ dataDir, env: noAuthority });
      expect(failed.status).toBe(1);
      expect(failed.log).toContain('KAFKA_TLS_CA');
      expect(failed.log).not.toMatch(/^\s+at /m);

      const { status, output } = await interruptedStart({ dataDir, at, signal: 'SIGINT' });
      expect(status).toBe(0);
      // On a loaded machine the start may be ready before the signal, and prints the keys.
      isInterrupted = output === '';
    }
    expect(existsSync(kept)).toBe(false);

    const service = await start();
    const link = await makeLink(service, key, 'at last');
    expect((await follow(link)).status).toBe(302);
    expect(existsSync(kept)).toBe(false);
  });

  test('SIGTERM ends everything, the next start has the same data, and a copy made between them can be restored', async () => {
    const first = await leftRunning();
    const link = await makeLink(first, key, 'kept');
    for (let click = 0; click < 20; click += 1) await follow(link);
    const children = TIERS.map(childOf);
    expect(await first.stop()).toBe(0);
    expect(children.some(stillRuns)).toBe(false);
    const copy = join(directory, 'copy');
    execFileSync('cp', ['-a', dataDir, copy]);

    const second = await start();
    expect(second.demo).toBeUndefined();
    expect(await untilClicks(second, key, link, 20)).toHaveLength(20);
    const later = await makeLink(second, key, 'later');
    for (const one of [later, link]) for (let click = 0; click < 5; click += 1) await follow(at(second, one));
    const seen = await untilClicks(second, key, link, 25);
    const { watermark } = await clicksSince(second, key, link, seen[0]?.ts ?? '');
    expect(await second.stop()).toBe(0);

    rmSync(dataDir, { recursive: true });
    renameSync(copy, dataDir);
    const third = await start();
    expect((await follow(at(third, later))).status).toBe(404);
    for (let click = 0; click < 7; click += 1) expect((await follow(at(third, link))).status).toBe(302);
    const ids = (clicks: Click[]) => clicks.map(({ id }) => id);
    const now = await untilClicks(third, key, link, 27);
    expect(ids(now.slice(7))).toEqual(ids(seen.slice(5)));
    const polled = await clicksSince(third, key, link, watermark);
    expect(ids(polled.clicks)).toEqual(ids(now.slice(0, 7)));
  });
});
