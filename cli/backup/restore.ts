import {
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { FileTarget } from '../../core/file-targets/target.ts';
import { freeBytes } from '../../core/tier/free-bytes.ts';
import { makeDataDir, makeOwnDirectory } from '../embedded/data-dir.ts';
import { type Identity, postgresIdentity } from '../embedded/unprivileged.ts';
import { CommandFailed } from '../output.ts';
import { readRecord } from '../processes/record-file.ts';
import { AlreadyRunning, takeLock } from '../supervisor/lock.ts';
import { sizeOf } from './create.ts';
import type { Manifest } from './manifest.ts';
import { writeBundle } from './objects.ts';
import { eachOf } from './parallel.ts';
import { INCOMPLETE } from './restored.ts';

/** The lock of the running service, and leftovers of restores and backups. */
const OWN = new Set(['run', 'restore.tmp', 'backup.tmp', INCOMPLETE, 'lost+found']);
const RESERVE_BYTES = 256 * 2 ** 20;

/**
 * Restores a backup to DATA_DIR. Everything is written and checked beside the present files first; only then are those
 * removed.
 *
 * @param force replaces the content of DATA_DIR
 * @throws {CommandFailed} when DATA_DIR is not empty, a service runs on it, or the backup is damaged
 */
export async function restoreBackup(
  target: FileTarget,
  manifest: Manifest,
  { dataDir, force, postgres }: { dataDir: string; force: boolean; postgres: string },
): Promise<void> {
  if (manifest.postgres !== postgres) {
    throw new CommandFailed(
      `backup ${manifest.name} is of PostgreSQL ${manifest.postgres}, but this version has ${postgres}: restore it with Hoplog ${manifest.version}, then upgrade`,
    );
  }
  makeDataDir(dataDir);
  const isFilled = readdirSync(dataDir).some((name) => !OWN.has(name));
  // An interrupted restore leaves nothing useful, so it may be replaced.
  if (isFilled && !force && !existsSync(join(dataDir, INCOMPLETE))) {
    throw new CommandFailed(
      `DATA_DIR=${dataDir} is not empty: choose another one, or replace its content with --force`,
    );
  }
  const run = join(dataDir, 'run');
  makeOwnDirectory(dataDir, run);
  const lock = await takeLock(run, 0).catch((error: unknown) => {
    throw error instanceof AlreadyRunning ? new CommandFailed(`${error.message}: stop it first`) : error;
  });
  try {
    assertNoLeftovers(dataDir);
    await replace(target, manifest, dataDir);
  } finally {
    lock.release();
  }
}

async function replace(target: FileTarget, manifest: Manifest, dataDir: string): Promise<void> {
  const fresh = join(dataDir, 'restore.tmp');
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { mode: 0o700 });
  const needed = sizeOf(manifest) + RESERVE_BYTES;
  const free = await freeBytes(dataDir);
  if (free < needed) {
    throw new CommandFailed(`DATA_DIR=${dataDir} has ${free} bytes free, but the backup needs ${needed}`);
  }
  try {
    const into = (path: string) => inside(fresh, path);
    for (const path of manifest.directories) mkdirSync(into(path), { recursive: true, mode: 0o700 });
    await eachOf(manifest.bundles, (bundle) => writeBundle(target, bundle, into));
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    throw error;
  }
  const owner = statSync(dataDir);
  const database = postgresIdentity(join(dataDir, 'postgres'));
  const incomplete = join(dataDir, INCOMPLETE);
  writeFileSync(incomplete, `${manifest.name}\n`, { mode: 0o600, flush: true });
  for (const name of readdirSync(dataDir)) {
    if (!OWN.has(name)) rmSync(join(dataDir, name), { recursive: true });
  }
  for (const name of readdirSync(join(dataDir, 'run'))) {
    if (name.endsWith('.json')) rmSync(join(dataDir, 'run', name));
  }
  if (process.getuid?.() === 0) {
    giveTo(fresh, { uid: owner.uid, gid: owner.gid });
    giveTo(join(dataDir, 'run'), { uid: owner.uid, gid: owner.gid });
    giveTo(join(fresh, 'postgres'), owner.uid === 0 ? database : { uid: owner.uid, gid: owner.gid });
  }
  for (const name of readdirSync(fresh)) renameSync(join(fresh, name), join(dataDir, name));
  rmSync(fresh, { recursive: true });
  rmSync(incomplete);
}

/** @throws {CommandFailed} when a process of a killed start still runs */
function assertNoLeftovers(dataDir: string): void {
  const children = readdirSync(join(dataDir, 'run')).filter((name) => name.endsWith('.child.json'));
  const records = [
    ...children.map((name) => `run/${name}`),
    'postgres.server.json',
    'clickhouse/server.json',
  ];
  for (const record of records) {
    const path = join(dataDir, record);
    if (!existsSync(dirname(path))) continue;
    const recorded = readRecord(path);
    if (recorded.kind === 'own') {
      throw new CommandFailed(
        `process ${recorded.record.pid} of an earlier start still runs on DATA_DIR=${dataDir}: run "npm start" and stop it, then restore`,
      );
    }
  }
}

function inside(root: string, path: string): string {
  if (path.startsWith('/') || path.split('/').includes('..')) {
    throw new CommandFailed(`damaged backup: it names the file ${JSON.stringify(path)}`);
  }
  return join(root, path);
}

function giveTo(path: string, { uid, gid }: Identity): void {
  if (uid === undefined || gid === undefined) return;
  chownSync(path, uid, gid);
  for (const entry of readdirSync(path, { withFileTypes: true, recursive: true })) {
    lchownSync(join(entry.parentPath, entry.name), uid, gid);
  }
}
