import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { commandAs } from '../cli/embedded/unprivileged.ts';
import { familyOf } from './faults/processes.ts';
import { follow, makeLink, untilClicks } from './support/first-click.ts';
import { CHECKOUT, EACH_SECOND, hoplog } from './support/hoplog.ts';
import { type Ready, type Service, startService } from './support/service.ts';

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
  expect((await follow({ ...link, short_url: `${service.short_url}/${link.slug}` })).status).toBe(302);
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
