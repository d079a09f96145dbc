import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { SourceFile } from './objects.ts';

/** Directories whose content PostgreSQL creates again ("Making a Base Backup Using the Low Level API"). */
const EMPTIED = new Set([
  'pg_dynshmem',
  'pg_notify',
  'pg_replslot',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
  'pg_wal',
]);
const LEFT_OUT =
  /^(postmaster\.(pid|opts)|backup_label.*|tablespace_map.*|current_logfiles|pg_internal\.init.*|pgsql_tmp.*)$/;
/** Directories that PostgreSQL expects in the write-ahead log. */
const WAL_DIRECTORIES = ['archive_status', 'summaries'];
/** A file of this size is a bundle of its own, so that a change in its neighbors does not store it again. Bytes. */
const LARGE_BYTES = 2 ** 20;
/** The empty form of an unlogged relation, and any file of a relation. */
const INIT_FORK = /^(\d+)_init$/;
const RELATION = /^(\d+)(?:_[a-z]+)?(?:\.\d+)?$/;
const CONTROL = 'global/pg_control';

/**
 * Lists PostgreSQL's data files while a backup is in progress, by directory.
 *
 * @param directory PostgreSQL's data directory
 * @param as its path in DATA_DIR
 */
export async function postgresFiles(
  directory: string,
  as: string,
): Promise<{ directories: string[]; groups: SourceFile[][] }> {
  const directories: string[] = [as, ...WAL_DIRECTORIES.map((name) => `${as}/pg_wal/${name}`)];
  const groups: SourceFile[][] = [];
  const walk = async (relative: string): Promise<void> => {
    const entries = await readdir(join(directory, relative), { withFileTypes: true }).catch(missingIsEmpty);
    const group: SourceFile[] = [];
    const unlogged = new Set(entries.flatMap(({ name }) => INIT_FORK.exec(name)?.[1] ?? []));
    for (const entry of entries) {
      const { name } = entry;
      const path = relative === '' ? name : `${relative}/${name}`;
      if (LEFT_OUT.test(name) || path === CONTROL) continue;
      // Unlogged tables are empty after a restore. A backup must not keep their content, such as the salts of a day,
      // for longer.
      if (!INIT_FORK.test(name) && unlogged.has(RELATION.exec(name)?.[1] ?? '')) continue;
      if (entry.isDirectory()) {
        directories.push(`${as}/${path}`);
        if (!EMPTIED.has(path)) await walk(path);
      } else if (entry.isFile()) {
        const file = { path: `${as}/${path}`, source: join(directory, path) };
        const size = await stat(file.source).then(
          ({ size }) => size,
          () => 0,
        );
        if (size < LARGE_BYTES) group.push(file);
        else groups.push([file]);
      }
    }
    if (group.length > 0) groups.push(group);
  };
  await walk('');
  return { directories, groups };
}

/** Reads `pg_control`, which PostgreSQL overwrites in place. Two equal reads prove that neither is torn. */
export async function readControl(directory: string): Promise<Buffer> {
  const path = join(directory, CONTROL);
  for (let before = await readFile(path); ; ) {
    const now = await readFile(path);
    if (now.equals(before)) return now;
    before = now;
  }
}

/** Lists the segments of the write-ahead log from the first to the last. @throws Error when one is missing */
export async function walFiles(
  directory: string,
  as: string,
  { firstSegment, lastSegment }: { firstSegment: string; lastSegment: string },
): Promise<SourceFile[]> {
  const names = (await readdir(join(directory, 'pg_wal'))).filter(
    (name) => /^[0-9A-F]{24}$/.test(name) && name >= firstSegment && name <= lastSegment,
  );
  if (!names.includes(firstSegment) || !names.includes(lastSegment)) {
    throw new Error(`PostgreSQL's write-ahead log lacks a segment from ${firstSegment} to ${lastSegment}`);
  }
  return names
    .sort()
    .map((name) => ({ path: `${as}/pg_wal/${name}`, source: join(directory, 'pg_wal', name) }));
}

function missingIsEmpty(error: NodeJS.ErrnoException): never[] {
  if (error.code === 'ENOENT') return [];
  throw error;
}
