import { execFile } from 'node:child_process';
import { closeSync, existsSync, fdatasyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { freemem } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Config } from '../../core/settings/config.ts';
import { LEAST_MEMORY_BYTES, machineMemory } from '../embedded/memory.ts';
import { postgresMajor } from '../embedded/postgres-binaries.ts';
import { type Finding, findingsOf } from './finding.ts';

const MIB = 2 ** 20;
const GIB = 2 ** 30;
const LEAST_FREE_BYTES = GIB;
const LEAST_FREE_SHARE = 0.05;
/** Below this, PostgreSQL and ClickHouse will soon refuse writes. */
const CRITICAL_BYTES = 256 * MIB;
const SYNCS = 15;
/** Twice the time of a network disk. Each transaction waits for a sync. */
const SLOW_SYNC_MS = 20;
const LEAST_AVAILABLE_SHARE = 0.05;

/** Checks free space, inodes, and write access of DATA_DIR, and how long a sync takes. */
export async function checkDisk({ dataDir }: Pick<Config, 'dataDir'>): Promise<Finding[]> {
  const { ok, warning, error } = findingsOf('disk');
  const directory = existing(dataDir);
  const { bavail, blocks, bsize, files, ffree } = await statfs(directory);
  const free = bavail * bsize;
  const found: Finding[] = [];
  const space = `${directory} has ${gibibytes(free)} of ${gibibytes(blocks * bsize)} free`;
  const makeRoom = `make room on the volume of ${directory}, or move DATA_DIR; docs/operations/retention.md lists what grows`;
  if (free < CRITICAL_BYTES) found.push(error(space, makeRoom));
  else if (free < LEAST_FREE_BYTES || free < blocks * bsize * LEAST_FREE_SHARE)
    found.push(warning(space, makeRoom));
  else found.push(ok(space));
  if (files > 0 && ffree < files * LEAST_FREE_SHARE) {
    found.push(
      error(
        `${directory} has ${ffree} of ${files} inodes free`,
        `remove small files on the volume: find ${directory} -xdev -type f | wc -l`,
      ),
    );
  }
  try {
    const ms = syncMs(directory);
    const text = `a sync takes ${ms.toFixed(1)} ms`;
    if (ms > SLOW_SYNC_MS)
      found.push(warning(text, 'move DATA_DIR to a local disk; bench/journal.ts measures it'));
    else found.push(ok(text));
  } catch (cause) {
    const { code = String(cause) } = cause as NodeJS.ErrnoException;
    const fix =
      code === 'EROFS'
        ? `mount -o remount,rw the volume of ${directory}; dmesg tells why it is read-only`
        : code === 'ENOSPC'
          ? makeRoom
          : `chown -R the user of the service ${directory}`;
    found.push(error(`cannot write to ${directory} (${code})`, fix));
  }
  return found;
}

/** Returns the median time of a write and a sync of 4 KiB. Milliseconds. */
function syncMs(directory: string): number {
  const path = join(directory, `.doctor.${process.pid}`);
  const file = openSync(path, 'w', 0o600);
  const times: number[] = [];
  try {
    for (let count = 0; count < SYNCS; count += 1) {
      const before = performance.now();
      writeSync(file, Buffer.alloc(4096), 0, 4096, 0);
      fdatasyncSync(file);
      times.push(performance.now() - before);
    }
  } finally {
    closeSync(file);
    rmSync(path, { force: true });
  }
  return times.sort((a, b) => a - b)[SYNCS >> 1] ?? 0;
}

function existing(path: string): string {
  return existsSync(path) ? path : existing(dirname(path));
}

/** Checks the memory of this machine or container. */
export function checkMemory(): Finding[] {
  const { ok, warning } = findingsOf('memory');
  const total = machineMemory();
  const available = Math.min(total, availableBytes());
  const text = `${gibibytes(total)}, ${gibibytes(available)} available`;
  if (total < LEAST_MEMORY_BYTES)
    return [warning(text, 'use a machine with 1 GiB or more; docs/operations/sizing.md')];
  if (available < total * LEAST_AVAILABLE_SHARE) {
    return [warning(text, 'see what uses it: ps -eo rss,args --sort=-rss | head')];
  }
  return [ok(text)];
}

/** Returns the memory that programs can still allocate, including caches that the system would drop. */
function availableBytes(): number {
  try {
    const [, kibibytes] = /^MemAvailable:\s+(\d+)/m.exec(readFileSync('/proc/meminfo', 'utf8')) ?? [];
    if (kibibytes !== undefined) return Number(kibibytes) * 1024;
  } catch {
    // Not Linux.
  }
  return freemem();
}

/** Checks that the system synchronizes its clock, if it tells. */
export async function checkTimeService(): Promise<Finding[]> {
  const { ok, warning } = findingsOf('clock');
  const answer = await promisify(execFile)('timedatectl', ['show', '-p', 'NTPSynchronized', '--value']).catch(
    () => null,
  );
  const state = answer?.stdout.trim();
  if (state === 'yes') return [ok('the system synchronizes its clock')];
  if (state === 'no') {
    return [
      warning('the system does not synchronize its clock', 'timedatectl set-ntp true, or install chrony'),
    ];
  }
  return [];
}

/** Checks that this version can read the data, and that Node.js is the package's own. */
export function checkVersion({ dataDir }: Pick<Config, 'dataDir'>, version: string): Finding[] {
  const { ok, error } = findingsOf('version');
  const path = join(dataDir, 'postgres', 'PG_VERSION');
  const stored = existsSync(path) ? readFileSync(path, 'utf8').trim() : null;
  const own = postgresMajor();
  if (stored !== null && stored !== own) {
    return [
      error(
        `DATA_DIR is of PostgreSQL ${stored}, but this version has ${own}`,
        'start the version that wrote it: check out that release of Hoplog, then npm ci and npm start',
      ),
    ];
  }
  if (!process.versions.node.startsWith('22.')) {
    return [
      error(
        `Node.js ${process.versions.node} runs this command, but Hoplog needs 22`,
        'run it with npx hoplog, after npm ci',
      ),
    ];
  }
  return [ok(`Hoplog ${version}, Node.js ${process.versions.node}, PostgreSQL ${own}`)];
}

function gibibytes(bytes: number): string {
  return `${(bytes / GIB).toFixed(1)} GiB`;
}
