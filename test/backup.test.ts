import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { send, stillRuns } from '../cli/processes/identity.ts';
import { createPool } from '../sql/database/pool.ts';
import { accountFor } from './faults/accounting.ts';
import { familyOf, killEverything } from './faults/processes.ts';
import { clickLinks } from './support/clicker.ts';
import { makeLink } from './support/first-click.ts';
import { hoplog } from './support/hoplog.ts';
import { NIGHTLY } from './support/nightly.ts';
import { PROGRAM_ENV, programArguments } from './support/program.ts';
import { startS3 } from './support/s3-server.ts';
import { refusedStart, type Service, startService } from './support/service.ts';
import { until } from './support/until.ts';

const MINUTES = 60_000;
/** Clicks that are counted at once. */
const BATCH = 200;

/** Loaded before `hoplog restore`: it dies once it has moved the first of what it restores into place. */
const DIES_WHILE_IT_REPLACES = `data:text/javascript,${encodeURIComponent(`
  import fs from 'node:fs';
  import { syncBuiltinESMExports } from 'node:module';
  const rename = fs.renameSync;
  fs.renameSync = (from, to) => {
    rename(from, to);
    if (String(from).includes('restore.tmp')) process.kill(process.pid, 'SIGKILL');
  };
  syncBuiltinESMExports();
`)}`;

let directory: string;
let running: Service[];

function begin(): void {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-backup-'));
  running = [];
}

async function end(): Promise<void> {
  for (const service of running) {
    if (service.process.exitCode === null && service.process.signalCode === null) await service.stop();
  }
  rmSync(directory, { recursive: true, force: true });
}

async function start(dataDir: string): Promise<Service> {
  const service = await startService({ dataDir });
  running.push(service);
  return service;
}

/** Runs a command with `--json` that must succeed. */
async function json<T>(args: string[], env: NodeJS.ProcessEnv): Promise<T> {
  const ended = await hoplog([...args, '--json'], env);
  expect(ended).toMatchObject({ status: 0, stderr: '' });
  return JSON.parse(ended.stdout) as T;
}

type Created = { name: string; bytes: number; new_bytes: number; removed: string[] };

/** Stops the workers while they hold no lock that a backup needs: later clicks are in the journal alone. */
async function holdWorkers(dataDir: string): Promise<void> {
  const fieldsOf = (name: string) => JSON.parse(readFileSync(join(dataDir, 'run', name), 'utf8'));
  const { pid } = fieldsOf('workers.child.json') as { pid: number };
  const { databaseOwnerUrl } = fieldsOf('supervisor.json') as { databaseOwnerUrl: string };
  const pool = createPool(databaseOwnerUrl, { max: 1 });
  const isHeld = async () => {
    process.kill(pid, 'SIGSTOP');
    try {
      // Several statements in one query are one transaction.
      await pool.query(
        'LOCK TABLE log_lanes, clock_corrections, replica_corrections IN EXCLUSIVE MODE NOWAIT; SELECT 1',
      );
      return true;
    } catch {
      process.kill(pid, 'SIGCONT');
      return false;
    }
  };
  try {
    await until('workers without a lock', isHeld);
  } finally {
    await pool.end();
  }
}

/** Returns a function that expects a command to fail, and to say why. */
const refusals =
  (env: NodeJS.ProcessEnv) =>
  async (args: string[], why: string, more: NodeJS.ProcessEnv = {}): Promise<void> => {
    const ended = await hoplog(args, { ...env, ...more });
    expect(ended).toMatchObject({ status: 1 });
    expect(ended.stdout + ended.stderr).toContain(why);
  };

const objectsIn = (folder: string) =>
  readdirSync(join(folder, 'objects'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

describe('of a service under load', () => {
  beforeAll(begin);
  afterAll(end);

  test('a backup made while clicks arrive restores every earlier click once, after kill -9 and on another DATA_DIR', {
    timeout: 8 * MINUTES,
  }, async () => {
    const dataDir = join(directory, 'data');
    const target = join(directory, 'backups');
    const env = { DATA_DIR: dataDir, BACKUP_TO: target };
    const service = await start(dataDir);
    const key = service.demo?.secret_key ?? '';
    const link = await makeLink(service, key, 'kept');
    const urls = [link.short_url];

    const answered: string[] = [];
    const backups: { name: string; before: string[] }[] = [];
    const ending = new AbortController();
    const clicking = (async () => {
      while (!ending.signal.aborted) {
        const clicked = await clickLinks({
          urls,
          count: BATCH,
          connections: 4,
          paceMs: 10,
          timeoutMs: MINUTES,
        });
        expect(clicked.refused).toEqual(new Map());
        answered.push(...clicked.answered);
      }
    })();
    for (const stored of ['while workers store', 'in the journal alone']) {
      if (stored === 'in the journal alone') await holdWorkers(dataDir);
      const earlier = answered.length;
      await expect.poll(() => answered.length, { timeout: MINUTES }).toBeGreaterThan(earlier + BATCH);
      const before = [...answered];
      const { name } = await json<Created>(['backup'], env);
      backups.push({ name, before });
    }
    ending.abort();
    await clicking;
    expect(answered.length).toBeGreaterThan(backups[1]?.before.length ?? 0);
    await killEverything(service);

    // The newest first: it has clicks that no database had. The other one is left to the nightly run.
    for (const { name, before } of NIGHTLY ? backups.toReversed() : backups.slice(-1)) {
      const other = join(directory, 'other', name);
      await json(['restore', name], { DATA_DIR: other, BACKUP_TO: target });
      const restored = await start(other);
      expect(restored.demo).toBeUndefined();
      const stored = await accountFor(restored, key, before);
      const more = await clickLinks({
        urls: [`${restored.short_url}/${link.slug}`],
        count: 50,
        connections: 4,
        timeoutMs: MINUTES,
      });
      expect(await accountFor(restored, key, [...before, ...more.answered])).toBe(
        stored + more.answered.length,
      );
      expect((await makeLink(restored, key, 'later')).slug).not.toBe('');
      expect(restored.log()).not.toMatch(/no longer holds|sequence gap|damage/);
      expect(await restored.stop()).toBe(0);
    }
  });
});

describe('of one service', () => {
  let service: Service;
  let dataDir: string;
  let key: string;

  beforeAll(async () => {
    begin();
    dataDir = join(directory, 'data');
    service = await start(dataDir);
    key = service.demo?.secret_key ?? '';
  });
  afterAll(end);

  test('a damaged backup is not restored, an interrupted one not listed, and a running service not replaced', {
    timeout: 8 * MINUTES,
  }, async () => {
    const target = join(directory, 'backups');
    const other = join(directory, 'other');
    const env = { DATA_DIR: dataDir, BACKUP_TO: target };
    const refused = refusals(env);

    await interruptedBackup(env, target);
    await refused(['restore'], 'no complete backup', { DATA_DIR: other });
    const whole = await json<Created>(['backup'], env);
    expect(existsSync(join(dataDir, 'backup.tmp'))).toBe(false);
    expect(readdirSync(join(dataDir, 'clickhouse', 'data', 'shadow'))).not.toContain('hoplog_backup');
    await refused(['restore', '--force'], 'already runs');
    await refused(['backup'], 'keep backups outside of it', { BACKUP_TO: join(dataDir, 'backups') });
    await refused(['backup'], 'no target for backups', { BACKUP_TO: '' });
    await refused(['restore', '2020-01-01T00-00-00Z'], 'no backup 2020-01-01T00-00-00Z', { DATA_DIR: other });

    const [victim = ''] = objectsIn(target).filter((path) => readFileSync(path).length > 4_096);
    const content = readFileSync(victim);
    content[content.length >> 1] = (content[content.length >> 1] ?? 0) ^ 1;
    writeFileSync(victim, content);
    await refused(['backup', 'verify', whole.name], 'damaged backup');
    await refused(['restore'], 'damaged backup', { DATA_DIR: other });
    expect(readdirSync(other)).toEqual(['run']);
  });

  test('backups in a bucket are incremental, pruned, verified, and restored once nothing of the service runs, also after an interrupted restore', {
    timeout: 8 * MINUTES,
  }, async () => {
    const s3 = await startS3();
    onTestFinished(() => s3.close());
    const env = { DATA_DIR: dataDir, BACKUP_TO: s3.target, ...s3.env };
    const refused = refusals(env);
    const link = await makeLink(service, key, 'kept');
    const load = { urls: [link.short_url], count: 2_000, connections: 8, timeoutMs: MINUTES };
    const { answered } = await clickLinks(load);
    await accountFor(service, key, answered);

    const first = await json<Created>(['backup'], env);
    const second = await json<Created>(['backup', '--keep', '1'], env);
    expect(second.new_bytes).toBeLessThan(first.new_bytes / 2);
    expect(second.removed).toEqual([first.name]);
    const { backups } = await json<{ backups: { name: string }[] }>(['backup', 'list'], env);
    expect(backups.map(({ name }) => name)).toEqual([second.name]);
    await json(['backup', 'verify'], env);

    const family = familyOf(service);
    await service.kill();
    try {
      await refused(['restore', '--force'], 'of an earlier start still runs');
    } finally {
      for (const { pid } of family.filter(stillRuns)) send(pid, 'SIGKILL');
    }
    await expect.poll(() => family.filter(stillRuns)).toEqual([]);

    const wrong = await hoplog(['backup', 'list'], { ...env, AWS_ACCESS_KEY_ID: 'wrong' });
    expect(wrong).toMatchObject({ status: 1, stdout: '' });
    expect(wrong.stderr).toContain('InvalidAccessKeyId');

    await refused(['restore'], 'is not empty');

    const NODE_OPTIONS = `--import=${DIES_WHILE_IT_REPLACES}`;
    expect(await hoplog(['restore', '--force'], { ...env, NODE_OPTIONS })).toMatchObject({ status: null });
    const interrupted = await refusedStart({ dataDir });
    expect(interrupted.status).toBe(1);
    expect(interrupted.log).toContain(
      `the restore of backup ${second.name} was interrupted: run "hoplog restore ${second.name} --force" again`,
    );
    await json(['restore'], env);
    const restored = await start(dataDir);
    expect(await accountFor(restored, key, answered)).toBe(answered.length);
  });
});

/**
 * Begins a backup and ends it with `kill -9` once it has written its first object; again if it was done before that.
 */
async function interruptedBackup(env: NodeJS.ProcessEnv, target: string): Promise<void> {
  for (;;) {
    const child = spawn(process.execPath, [...programArguments('hoplog'), 'backup'], {
      env: { ...PROGRAM_ENV, ...env },
      stdio: 'ignore',
    });
    const ended = once(child, 'exit');
    mkdirSync(target);
    await expect
      .poll(() => existsSync(join(target, 'objects')), { timeout: MINUTES, interval: 5 })
      .toBe(true);
    child.kill('SIGKILL');
    await ended;
    if (!existsSync(join(target, 'backups'))) return;
    rmSync(target, { recursive: true });
  }
}
