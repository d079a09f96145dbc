import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { commandAs } from '../../cli/embedded/unprivileged.ts';
import { stillRuns } from '../../cli/processes/identity.ts';
import { familyOf } from '../faults/processes.ts';
import { follow, makeLink, untilClicks } from '../support/first-click.ts';
import { CHECKOUT } from '../support/hoplog.ts';
import type { Ready } from '../support/service.ts';

const UNIT = join(CHECKOUT, 'deploy', 'systemd', 'hoplog.service');
/** The longest stop (`cli/supervisor/tiers.test.ts`). */
const STOP_SECONDS = 10;
/** Limit of a first start on a loaded machine. */
const READY_MS = 90_000;
/** Highest exposure by `systemd-analyze security`, in tenths; "OK" ends at 4.9. */
const MOST_EXPOSURE = 20;
/** Directives of the unit, by `systemd-analyze security`, which names some of them with a part of their value. */
const HARDENED =
  /^(NoNewPrivileges|CapabilityBoundingSet|AmbientCapabilities|Protect(System|Home|Proc|Clock|ControlGroups|Hostname|Kernel\w+)|Private(Tmp|Devices)|Restrict(AddressFamilies|Namespaces|Realtime|SUIDSGID)|LockPersonality|RemoveIPC|SystemCall(Architectures|Filter)|UMask|User)\b/;
/** What Node.js and the databases need. */
const NEEDED = [
  'RestrictAddressFamilies=~AF_(INET|INET6)',
  'RestrictAddressFamilies=~AF_NETLINK',
  'RestrictAddressFamilies=~AF_UNIX',
  'SystemCallFilter=~@privileged',
  'SystemCallFilter=~@resources',
];

/** Loaded before the service: what it repeats each hour, it then repeats each second. */
const HOURS_ARE_SECONDS = `data:text/javascript,${encodeURIComponent(
  'const real = setInterval; globalThis.setInterval = (work, ms, ...more) => real(work, ms === 3600000 ? 1000 : ms, ...more);',
)}`;

const unit = readFileSync(UNIT, 'utf8').replaceAll('/opt/hoplog/', CHECKOUT);
let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-systemd-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Returns the values of a directive, one for each line that has it. */
const valuesOf = (name: string) =>
  [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);

/** `systemd-analyze security` reads files, and writes JSON, from this version on. */
const READS_FILES = 250;

/** Returns the version of systemd-analyze; 0 where it is not installed. */
function systemdVersion(): number {
  try {
    const text = execFileSync('systemd-analyze', ['--version'], { encoding: 'utf8' });
    return Number(/^systemd (\d+)/.exec(text)?.[1]);
  } catch {
    return 0;
  }
}

/** Writes the unit with the paths of this checkout. */
function writeUnit(): string {
  const path = join(directory, 'hoplog.service');
  writeFileSync(path, unit.replaceAll('/opt/hoplog', CHECKOUT.replace(/\/$/, '')));
  return path;
}

test('systemd accepts the unit', (context) => {
  context.skip(systemdVersion() === 0, 'systemd-analyze is not installed');
  const path = writeUnit();
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' });
  // It only warns of an unknown directive or value. Other units of the machine do not count.
  const warnings = stderr.split('\n').filter((line) => line.includes(path));
  expect({ status, warnings }).toEqual({ status: 0, warnings: [] });
});

test('systemd rates the exposure of the unit as low, and finds each hardening in effect', (context) => {
  const version = systemdVersion();
  context.skip(version === 0, 'systemd-analyze is not installed');
  context.skip(
    version < READS_FILES,
    `systemd ${version} rates only units that are installed: needs ${READS_FILES}`,
  );
  const path = writeUnit();
  const security = ['security', '--offline=true', '--no-pager'];
  execFileSync('systemd-analyze', [...security, `--threshold=${MOST_EXPOSURE}`, path], { stdio: 'pipe' });
  const found = JSON.parse(
    execFileSync('systemd-analyze', [...security, '--json=short', path], { encoding: 'utf8' }),
  ) as { set: boolean | null; name: string }[];
  const open = found.filter(({ set, name }) => !set && HARDENED.test(name));
  expect(open.map(({ name }) => name).toSorted()).toEqual(NEEDED);
});

test('its command runs the service as an ordinary user, and SIGTERM to the main process alone leaves nothing running', async (context) => {
  context.skip(process.getuid?.() !== 0, 'only root can start it as another user');
  const [command = ''] = valuesOf('ExecStart');
  const [file = '', ...args] = command.split(' ');
  const environment = Object.fromEntries(
    valuesOf('Environment')
      .flatMap((line) => line.split(' '))
      .map((entry) => entry.split(/=(.*)/s).slice(0, 2)),
  );
  expect(valuesOf('KillMode')).toEqual(['mixed']);
  // A clock that is set after the start would give clicks wrong times.
  for (const order of ['After', 'Wants'])
    expect(valuesOf(order)[0]?.split(' ').toSorted()).toEqual(['network-online.target', 'time-sync.target']);
  expect(valuesOf('Restart')).toEqual(['on-failure']);
  expect(Number(valuesOf('LimitNOFILE')[0])).toBeGreaterThanOrEqual(65_536);
  expect(environment.DATA_DIR).toBe(`/var/lib/${valuesOf('StateDirectory')[0]}`);
  expect(Number(valuesOf('TimeoutStopSec')[0])).toBeGreaterThanOrEqual(2 * STOP_SECONDS);

  const [uid, gid] = ['-u', '-g'].map((flag) =>
    Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' })),
  );
  const as = commandAs({ uid: uid ?? 0, gid: gid ?? 0 }, file, [CHECKOUT]);
  const dataDir = join(directory, 'data');
  mkdirSync(dataDir, { mode: 0o700 });
  chownSync(dataDir, uid ?? 0, gid ?? 0);
  chmodSync(directory, 0o755);
  const ports = { API_PORT: '0', INGEST_PORT: '0', METRICS_PORT: '0' };
  const child = spawn(as.file, [...as.args, ...args], {
    ...as.identity,
    cwd: CHECKOUT,
    env: {
      PATH: '/usr/bin:/bin',
      ...environment,
      DATA_DIR: dataDir,
      ...ports,
      NODE_OPTIONS: `--import=${HOURS_ARE_SECONDS}`,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit') as Promise<[number | null]>;
  try {
    const { service, log } = await readyOf(child);
    const key = service.demo?.secret_key ?? '';
    const link = await makeLink(service, key, 'unit');
    expect((await follow(link)).status).toBe(302);
    await untilClicks(service, key, link, 1);
    // For the journal of systemd.
    await expect.poll(log).toContain('this hour: 1 redirects, 0 clicks lost');
    const family = familyOf({ process: child });
    expect(family.length).toBeGreaterThan(5);
    child.kill('SIGTERM');
    expect((await ended)[0]).toBe(0);
    expect(family.filter(stillRuns)).toEqual([]);
  } finally {
    if (child.exitCode === null) child.kill('SIGTERM');
    await ended;
  }
});

async function readyOf(child: ChildProcess): Promise<{ service: Ready; log: () => string }> {
  let text = '';
  let log = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    log += chunk;
  });
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  await expect
    .poll(() => (child.exitCode === null ? text.includes('\n') : log), { timeout: READY_MS })
    .toBe(true);
  return { service: JSON.parse(text.slice(0, text.indexOf('\n'))) as Ready, log: () => log };
}
