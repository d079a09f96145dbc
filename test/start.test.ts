import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { freePort } from '../cli/embedded/free-port.ts';
import { commandAs } from '../cli/embedded/unprivileged.ts';
import { type ProcessRecord, stillRuns } from '../cli/processes/identity.ts';
import { familyOf } from './faults/processes.ts';
import { type Click, follow, type Link, makeLink, untilClicks } from './support/first-click.ts';
import { EACH_SECOND, hoplog } from './support/hoplog.ts';
import { listeningSockets } from './support/listening-sockets.ts';
import { interruptedStart, type Ready, refusedStart, type Service, startService } from './support/service.ts';

const CHECKOUT = fileURLToPath(new URL('..', import.meta.url));
const ONE_LINE = /^hoplog: [^\n]*\n$/;
const TIERS = ['ingest', 'workers', 'api'];

/** Loaded before a program: what it repeats each hour, it then repeats each second. */
const HOURS_ARE_SECONDS = `data:text/javascript,${encodeURIComponent(
  'const real = setInterval; globalThis.setInterval = (work, ms, ...more) => real(work, ms === 3600000 ? 1000 : ms, ...more);',
)}`;

let directory: string;
let dataDir: string;
let running: Service[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-start-'));
  dataDir = join(directory, 'data');
  running = [];
});

afterEach(async () => {
  for (const service of running) if (service.process.exitCode === null) await service.stop();
  rmSync(directory, { recursive: true, force: true });
});

async function start(options: Partial<Parameters<typeof startService>[0]> = {}): Promise<Service> {
  const service = await startService({ dataDir, ...options });
  running.push(service);
  return service;
}

function keyOf({ demo }: Ready): string {
  if (!demo) throw new Error('the start printed no key');
  return demo.secret_key;
}

function childOf(name: string): ProcessRecord {
  return JSON.parse(readFileSync(join(dataDir, 'run', `${name}.child.json`), 'utf8'));
}

function postmaster(): number {
  return Number.parseInt(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10);
}

test('a first start prints working keys, returns a click, hides the data from other users, and rejects a second start', async () => {
  const metricsPort = await freePort('127.0.0.3', 4);
  const env = {
    METRICS_PORT: String(metricsPort),
    METRICS_HOST: '127.0.0.3',
    NODE_OPTIONS: `--import=${HOURS_ARE_SECONDS}`,
  };
  const service = await start({ empty: true, env });
  const key = keyOf(service);
  const link = await makeLink(service, key, 'first');
  const response = await follow(link);
  expect(response.status).toBe(302);
  expect(response.location).toMatch(/^https:\/\/example\.com\/landing\?/);
  expect(await untilClicks(service, key, link, 1)).toHaveLength(1);

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
  const link = await makeLink(service, keyOf(service), 'at last');
  expect((await follow(link)).status).toBe(302);
  expect(existsSync(kept)).toBe(false);
});

test('SIGTERM ends everything, the next start has the same data, and a copy made between them can be restored', async () => {
  const first = await start();
  const key = keyOf(first);
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

test('after kill -9 of the supervisor the next start ends what is left, and no redirected click is lost', async () => {
  const first = await start();
  const key = keyOf(first);
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
  const service = await start();
  const key = keyOf(service);
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

test('status reports when the workers stop making progress, and when they resume', async () => {
  const service = await start();
  const env = { DATA_DIR: dataDir, BASE_URL: new URL(service.api_url).origin, SHORT_URL: service.short_url };
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
    const status = () => fetch(`${origin}/health/ready`).then((response) => response.status, String);
    await expect.poll(status, { message: origin }).toBe(200);
  }
}

test('a wrong setting or a port in use ends the start with one line that names the setting', async () => {
  const wrong = await refusedStart({ dataDir, env: { JOURNAL_SYNC: 'sometimes' } });
  expect(wrong.status).toBe(1);
  expect(wrong.log.trim().split('\n')).toHaveLength(1);
  expect(wrong.log).toContain('JOURNAL_SYNC="sometimes"');

  const stranger = await refusedStart({ dataDir, env: { TRUST_PROXY: 'garbage' } });
  expect(stranger).toMatchObject({
    status: 1,
    log: expect.stringMatching(/^hoplog: .*TRUST_PROXY="garbage".*\n$/),
  });
  expect(existsSync(dataDir)).toBe(false);

  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  const taken = await refusedStart({ dataDir, env: { INGEST_PORT: String(port), LOG_LEVEL: 'warn' } });
  server.close();
  expect(taken.status).toBe(1);
  expect(taken.log).toContain(`INGEST_PORT="${port}"`);

  const same = { API_PORT: String(port), INGEST_PORT: String(port) };
  const twice = await refusedStart({ dataDir, env: { ...same, LOG_LEVEL: 'warn' } });
  expect(twice.status).toBe(1);
  expect(twice.log.trim()).toBe(
    `hoplog: setting INGEST_PORT="${port}": names port ${port}, and so does API_PORT="${port}"`,
  );
});

test('a second signal ends everything at once, including the databases', async () => {
  const service = await start();
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

test('a file in place of a directory in DATA_DIR ends the start with one line', async () => {
  mkdirSync(dataDir);
  for (const name of ['run', 'clickhouse']) {
    writeFileSync(join(dataDir, name), 'not of Hoplog');
    const inTheWay = await refusedStart({ dataDir, env: { LOG_LEVEL: 'warn' } });
    expect(inTheWay).toEqual({ status: 1, log: expect.stringMatching(ONE_LINE) });
    expect(inTheWay.log).toContain(`${join(dataDir, name)} must be a directory, but is a file: move it away`);
    rmSync(join(dataDir, name));
  }
});

test('an unknown host ends the start with one line', async () => {
  const nowhere = await refusedStart({ dataDir, env: { HOST: 'no-such-host.invalid', LOG_LEVEL: 'warn' } });
  expect(nowhere).toEqual({ status: 1, log: expect.stringMatching(ONE_LINE) });
  expect(nowhere.log).toContain('setting HOST="no-such-host.invalid": must be an address of this machine');
});

test('a limited address space ends the start with one line', async () => {
  const limit = ['-c', 'ulimit -v 8000000 && exec "$@"', 'sh', process.execPath];
  const limited = await refusedStart({ dataDir, as: { file: 'sh', args: limit, identity: {} } });
  expect(limited).toEqual({ status: 1, log: expect.stringMatching(ONE_LINE) });
  expect(limited.log).toContain('the address space is limited to 8192000000 bytes');
});

test('an ordinary user can start it', async ({ skip }) => {
  skip(process.getuid?.() !== 0, 'this run is an ordinary user: every other test here shows it');
  const uid = Number(execFileSync('id', ['-u', 'nobody'], { encoding: 'utf8' }));
  const gid = Number(execFileSync('id', ['-g', 'nobody'], { encoding: 'utf8' }));
  // The checkout may be in root's home; the test makes only reading possible.
  const as = commandAs({ uid, gid }, process.execPath, [CHECKOUT]);
  mkdirSync(dataDir);
  chownSync(dataDir, uid, gid);
  chmodSync(directory, 0o755);
  const service = await start({ as, env: { HOME: dataDir } });
  const key = keyOf(service);
  const link = await makeLink(service, key, 'ordinary');
  expect((await follow(link)).status).toBe(302);
  expect(await untilClicks(service, key, link, 1)).toHaveLength(1);
  expect(statSync(join(dataDir, 'postgres')).uid).toBe(uid);
  expect(await service.stop()).toBe(0);
});

/** Returns user ids and effective capabilities of a process, from Linux's `/proc`; null when it has ended. */
function rightsOf(pid: number): { uids: string[]; capabilities: bigint } | null {
  let status: string;
  try {
    status = readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return null;
  }
  return {
    uids: /^Uid:\s+(.*)$/m.exec(status)?.[1]?.split('\t') ?? [],
    capabilities: BigInt(`0x${/^CapEff:\s+(\w+)$/m.exec(status)?.[1]}`),
  };
}

test('started by root, every process is of an ordinary user, and so is a DATA_DIR that was of root', async ({
  skip,
}) => {
  skip(process.getuid?.() !== 0, 'needs root');
  chmodSync(directory, 0o755);
  const settings = join(directory, 'settings.env');
  writeFileSync(settings, 'APP_URL=https://app.example.com\nMETRICS_PORT=80\n', { mode: 0o600 });
  // Only root reads the settings; the metrics get ports that need a right.
  const metricsHost = `127.${randomInt(1, 255)}.0.${randomInt(1, 255)}`;
  const env = { ENV_FILE: settings, METRICS_PORT: undefined, METRICS_HOST: metricsHost };
  const first = await start({ env });
  const link = await makeLink(first, keyOf(first), 'of-root');
  expect(first.console_url).toMatch(/^https:\/\/app\.example\.com\//);
  expect(await first.stop()).toBe(0);
  execFileSync('chown', ['-R', '0:0', dataDir]);

  const service = await start({ env });
  expect((await follow(at(service, link))).status).toBe(302);
  expect(await untilClicks(service, keyOf(first), link, 1)).toHaveLength(1);
  const { uid } = statSync(dataDir);
  expect(uid).toBeGreaterThan(0);
  const family = familyOf(service);
  expect(family.length).toBeGreaterThan(5);
  for (const { pid } of family) {
    const rights = rightsOf(pid);
    // PostgreSQL's connection processes come and go.
    if (rights === null) continue;
    const { uids, capabilities } = rights;
    expect(new Set(uids), `process ${pid}`).toEqual(new Set([String(uid)]));
    // Read everything (a checkout in root's home) and listen on ports below 1024, at most.
    expect(capabilities & ~((1n << 2n) | (1n << 10n)), `process ${pid}`).toBe(0n);
  }
  const find = [dataDir, '-ignore_readdir_race', '!', '-uid', String(uid)];
  expect(execFileSync('find', find, { encoding: 'utf8' })).toBe('');
  await expect
    .poll(() => hoplog(['status'], { DATA_DIR: dataDir }), EACH_SECOND)
    .toMatchObject({ status: 0 });
  expect(await service.stop()).toBe(0);
});

test('root starts nothing on a directory with files of others, and changes none of them', async ({
  skip,
}) => {
  skip(process.getuid?.() !== 0, 'needs root');
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, 'letter.txt'), 'of root');
  const refused = await refusedStart({ dataDir });
  expect(refused).toEqual({ status: 1, log: expect.stringMatching(ONE_LINE) });
  expect(refused.log).toContain('must be a directory of Hoplog alone when root starts it');
  expect([statSync(dataDir).uid, statSync(join(dataDir, 'letter.txt')).uid]).toEqual([0, 0]);
});
