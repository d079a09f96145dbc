import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SourceFile } from './objects.ts';

/** Directory that ClickHouse's data directory is restored to. */
const AS = 'clickhouse/data';

/** The files of one part. They never change, so an equal key means equal content. */
export type PartFiles = { key: string; files: SourceFile[] };

/**
 * Copies the definitions of the databases and tables, which are small.
 *
 * @param data ClickHouse's data directory
 * @returns the copies, and the directories of tables, which may be empty
 */
export function definitions(data: string, into: string): { files: SourceFile[]; directories: string[] } {
  const files: SourceFile[] = [];
  const directories: string[] = [`${AS}/metadata`];
  const copy = (relative: string) => {
    const source = join(into, relative);
    cpSync(join(data, relative), source);
    files.push({ path: `${AS}/${relative}`, source });
  };
  for (const name of readdirSync(join(data, 'metadata'))) {
    if (name.endsWith('.sql')) copy(`metadata/${name}`);
  }
  for (const prefix of readdirSync(join(data, 'store'))) {
    for (const id of readdirSync(join(data, 'store', prefix))) {
      const relative = `store/${prefix}/${id}`;
      directories.push(`${AS}/${relative}`);
      for (const name of readdirSync(join(data, relative))) {
        if (name.endsWith('.sql') || name === 'format_version.txt') copy(`${relative}/${name}`);
      }
    }
  }
  if (existsSync(join(data, 'uuid'))) copy('uuid');
  return { files, directories };
}

/** Lists the parts below `shadow/<name>`, as ClickHouse froze them. */
export function frozenParts(shadow: string): PartFiles[] {
  const parts: PartFiles[] = [];
  const store = join(shadow, 'store');
  if (!existsSync(store)) return parts;
  for (const prefix of readdirSync(store)) {
    for (const id of readdirSync(join(store, prefix))) {
      for (const part of readdirSync(join(store, prefix, id))) {
        const relative = `store/${prefix}/${id}/${part}`;
        const directory = join(shadow, relative);
        const sums = join(directory, 'checksums.txt');
        if (!existsSync(sums)) continue;
        const files = filesBelow(directory).map((file) => ({
          path: `${AS}/${relative}/${file}`,
          source: join(directory, file),
        }));
        const key = `${relative}:${createHash('sha256').update(readFileSync(sums)).digest('hex')}`;
        parts.push({ key, files });
      }
    }
  }
  return parts;
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .sort();
}
