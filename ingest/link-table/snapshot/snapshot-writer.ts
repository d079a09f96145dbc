import { createHash, randomUUID } from 'node:crypto';
import type { FileTarget } from '../../../core/file-targets/target.ts';
import type { Logger } from '../../../core/tier/log.ts';
import { withJobLease } from '../../../sql/database/job-leases.ts';
import type { Pool } from '../../../sql/database/pool.ts';
import { type LinksAtOnce, openLinksAtOnce, RECORDS_VERSION } from '../disk/links-file.ts';
import { type Manifest, partKey, readManifest, type SnapshotKeys, writeManifest } from './manifest.ts';
import { packed } from './parts.ts';

/** Age of a snapshot after which another is written. Each is used for six hours. Milliseconds. */
const EVERY_MS = 3_600_000;
/** Interval of looks at the newest snapshot, about: processes that start at once do not look at once. Milliseconds. */
const LOOK_MS = 60_000;
/** Interval of looks whether the file has all links. Milliseconds. */
const WHOLE_MS = 1_000;

type Given = {
  /** Directory of the file with all links. */
  dir: string;
  target: FileTarget;
  keys: SnapshotKeys;
  pool: Pool;
  log: Logger;
  /** Whether the file has all links. */
  isWhole(): boolean;
  partBytes?: number;
};

/**
 * Writes a snapshot of the links' file each hour, in one process at a time. It costs PostgreSQL nothing.
 *
 * @returns a function that stops it
 */
export function startSnapshotWriter(given: Given): () => void {
  let stopped = false;
  let timer: NodeJS.Timeout;
  let failing = false;

  async function look(): Promise<void> {
    try {
      if (given.isWhole()) await writeSnapshotIfDue(given);
      failing = false;
    } catch (error) {
      if (!failing) given.log.warn({ err: error }, 'link table: failed to write a snapshot; will retry');
      failing = true;
    }
    if (!stopped) wait();
  }

  function wait(): void {
    timer = setTimeout(() => void look(), given.isWhole() ? LOOK_MS * (0.5 + Math.random()) : WHOLE_MS);
    timer.unref();
  }

  wait();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

/** Writes a snapshot unless there is a young one, or another process writes one. */
export async function writeSnapshotIfDue(given: Given): Promise<void> {
  const { dir, target, keys, pool } = given;
  const file = openLinksAtOnce(dir);
  if (file === null) return;
  try {
    if (!isDue(await newest(target, keys), file, Date.now())) return;
    await withJobLease(pool, 'linksSnapshot', async () => {
      const former = await newest(target, keys);
      if (isDue(former, file, Date.now())) await write(given, file, former);
    });
  } finally {
    file.close();
  }
}

/** A manifest that can't be read is replaced. */
async function newest(target: FileTarget, keys: SnapshotKeys): Promise<Manifest | null> {
  return readManifest(target, keys).catch(() => null);
}

function isDue(found: Manifest | null, { syncPoint }: LinksAtOnce, now: number): boolean {
  if (found === null || found.syncPoint.server !== syncPoint.server) return true;
  // Processes of a newer release, which runs beside this one during an upgrade, read what they write.
  return found.version < RECORDS_VERSION || now - found.syncPoint.at >= EVERY_MS;
}

async function write(given: Given, file: LinksAtOnce, former: Manifest | null): Promise<void> {
  const { target, keys, log, partBytes } = given;
  const began = performance.now();
  const set = randomUUID();
  const parts: Manifest['parts'] = [];
  let links = 0;
  let bytes = 0;
  for (const records of packed(file.links(), partBytes)) {
    const part = Buffer.concat(records);
    await target.put(partKey(keys, set, parts.length), part);
    parts.push({ bytes: part.length, sha256: createHash('sha256').update(part).digest('hex') });
    links += records.length / 2;
    bytes += part.length;
  }
  const { syncPoint } = file;
  const formerSet = former?.set ?? null;
  await writeManifest(target, keys, { version: RECORDS_VERSION, syncPoint, set, formerSet, links, parts });
  await removeOthers(target, keys, [set, formerSet]);
  const seconds = Math.round((performance.now() - began) / 1_000);
  log.info({ links, bytes, seconds }, 'link table: wrote a snapshot');
}

/** Removes what earlier snapshots and killed processes left. */
async function removeOthers(target: FileTarget, keys: SnapshotKeys, kept: (string | null)[]): Promise<void> {
  for (const { key } of await target.list(`${keys.folder}/`)) {
    const [set = '', part] = key.slice(keys.folder.length + 1).split('/');
    if (part !== undefined && !kept.includes(set)) await target.remove(key);
  }
}
