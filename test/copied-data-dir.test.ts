import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ProcessRecord, stillRuns } from '../cli/processes/identity.ts';
import { familyOf } from './faults/processes.ts';
import { clicksOf, follow, type Link, makeLink, untilClicks } from './support/first-click.ts';
import { hoplog } from './support/hoplog.ts';
import { type Service, startService } from './support/service.ts';

let directory: string;
let running: Service[];
/** The running service that is copied, and what a copy must leave as it is. */
let dataDir: string;
let original: Service;
let key: string;
let link: Link;
let family: ProcessRecord[];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-copied-'));
  running = [];
  // The copy's path ends with the original's: neither may match the other.
  dataDir = join(directory, 'srv', 'data');
  original = await start(dataDir);
  key = original.demo?.secret_key ?? '';
  link = await makeLink(original, key, 'original');
  family = familyOf(original).filter(({ pid }) => isLasting(pid));
  expect(family.length).toBeGreaterThan(5);
});

afterAll(async () => {
  for (const service of running) if (service.process.exitCode === null) await service.stop();
  rmSync(directory, { recursive: true, force: true });
});

async function start(dataDir: string): Promise<Service> {
  const service = await startService({ dataDir });
  running.push(service);
  return service;
}

test.each([
  ['without', ['lock', 'supervisor.lock']],
  ['with', []],
])(
  'a copy of a running DATA_DIR %s its lock runs beside the original, logs that it is a copy, and ends none of its processes',
  async (_, left) => {
    const copy = join(directory, 'data');
    rmSync(copy, { recursive: true, force: true });
    const copied = (await clicksOf(original, key, link)).length + 1;
    expect((await follow(link)).status).toBe(302);
    await untilClicks(original, key, link, copied);
    copyAtOneMoment(original, dataDir, copy);
    for (const name of left) rmSync(join(copy, 'run', name), { force: true });

    const before = await hoplog(['workspace', 'list'], { DATA_DIR: copy });
    expect.soft(before).toMatchObject({ status: 1, stdout: '' });
    expect.soft(before.stderr).toContain(`no running service in DATA_DIR=${copy}`);

    const second = await start(copy);
    const lines = () => second.log().split('\n').slice(0, -1);
    const said = () => lines().find((line) => line.includes('"original"'));
    await expect.poll(said).toBeDefined();
    expect(JSON.parse(said() ?? '')).toMatchObject({
      level: 40,
      original: dataDir,
      msg: 'DATA_DIR is a copy of that of a running service; both services will send webhooks',
    });
    expect(family.filter((record) => !stillRuns(record))).toEqual([]);
    const itsLink = { ...link, short_url: `${second.short_url}/${link.slug}` };
    for (let click = 0; click < 3; click += 1) expect((await follow(itsLink)).status).toBe(302);
    expect(await untilClicks(second, key, link, copied + 3)).toHaveLength(copied + 3);
    expect(await second.stop()).toBe(0);

    expect(family.filter((record) => !stillRuns(record))).toEqual([]);
    expect((await follow(link)).status).toBe(302);
    expect(await untilClicks(original, key, link, copied + 1)).toHaveLength(copied + 1);
  },
);

test('the original ends all of its processes', async () => {
  expect(await original.stop()).toBe(0);
  expect(family.filter(stillRuns)).toEqual([]);
});

/**
 * Copies the directory of a running service as a snapshot of its disk does: its processes stop meanwhile. Otherwise a
 * file that a database removes would fail the copy.
 */
function copyAtOneMoment(service: Service, dataDir: string, copy: string): void {
  const stopped = new Set<number>();
  const running = () => familyOf(service).filter(({ pid }) => !stopped.has(pid));
  try {
    // The stopped start no others.
    for (let found = running(); found.length > 0; found = running()) {
      for (const { pid } of found) signal(pid, 'SIGSTOP');
      for (const { pid } of found) stopped.add(pid);
    }
    execFileSync('cp', ['-a', dataDir, copy]);
  } finally {
    for (const pid of stopped) signal(pid, 'SIGCONT');
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** PostgreSQL's processes but the first one come and go; each begins with the command line of the first. */
function isLasting(pid: number): boolean {
  return commandOf(pid) !== '' && commandOf(parentOf(pid)) !== 'postgres';
}

function commandOf(pid: number): string {
  return basename(textOf(`/proc/${pid}/cmdline`).split('\0')[0] ?? '');
}

function parentOf(pid: number): number {
  return Number(/^PPid:\s+(\d+)$/m.exec(textOf(`/proc/${pid}/status`))?.[1] ?? 0);
}

/** Returns an empty text when the process has ended meanwhile. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
