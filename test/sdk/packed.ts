import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
const BUILD = join(ROOT, 'sdk/typescript/build.ts');
const VENV = join(import.meta.dirname, '.venv/bin');

/** Python with what `requirements.txt` names. */
export const PYTHON = join(VENV, 'python');
/** Null where it is not installed as a whole, with the reason. */
export const NO_PYTHON = existsSync(join(VENV, 'uvicorn'))
  ? null
  : 'no environment of Python: python3 -m venv test/sdk/.venv && test/sdk/.venv/bin/pip install -r test/sdk/requirements.txt';

/** A program that uses an SDK. */
export type Runtime = { command: string; extension: string; flags: string[]; env: NodeJS.ProcessEnv };

/** Packs the TypeScript SDK as a release does, and installs that package into a new folder, as a user does. */
export async function installTypeScriptSdk(folder: string): Promise<Runtime> {
  await mkdir(folder, { recursive: true });
  const source = join(folder, 'typescript-source');
  await run(process.execPath, ['--disable-warning=ExperimentalWarning', BUILD, source]);
  await run('npm', ['pack', source, '--ignore-scripts', '--pack-destination', folder], { cwd: folder });
  const [packed = ''] = (await readdir(folder)).filter((name) => name.endsWith('.tgz'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module", "private": true }');
  const options = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund'];
  await run('npm', ['install', ...options, `./${packed}`], { cwd: folder });
  return {
    command: process.execPath,
    extension: 'mjs',
    flags: ['--disable-warning=ExperimentalWarning'],
    env: {},
  };
}

/** Builds the wheel of the Python SDK, and installs it into a new folder. Its dependencies are in the environment. */
export async function installPythonSdk(folder: string): Promise<Runtime> {
  const source = join(folder, 'python-source');
  await cp(join(ROOT, 'sdk/python'), source, { recursive: true, dereference: true });
  const pip = (...args: string[]) =>
    run(PYTHON, ['-m', 'pip', '--disable-pip-version-check', '--quiet', ...args], { cwd: folder });
  await pip('wheel', '--no-build-isolation', '--no-deps', '--wheel-dir', folder, source);
  const [wheel = ''] = (await readdir(folder)).filter((name) => name.endsWith('.whl'));
  const packages = join(folder, 'packages');
  await pip('install', '--no-index', '--no-deps', '--target', packages, wheel);
  return { command: PYTHON, extension: 'py', flags: [], env: { PYTHONPATH: packages } };
}

/** Lets programs of the folder import a package of the repository, or of another folder. */
export async function linkPackage(
  folder: string,
  name: string,
  from = join(ROOT, 'node_modules'),
): Promise<void> {
  await symlink(join(from, name), join(folder, 'node_modules', name));
}
