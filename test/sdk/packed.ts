import { execFile } from 'node:child_process';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
const SDK = join(ROOT, 'sdk/typescript');

/** What the package exports. */
export type TypeScriptSdk = typeof import('../../sdk/typescript/src/index.ts');

/**
 * Packs the TypeScript SDK as a release does, and installs that package into a new folder, as a user does.
 *
 * @returns the exports of the installed package
 */
export async function installTypeScriptSdk(folder: string): Promise<TypeScriptSdk> {
  await mkdir(folder, { recursive: true });
  const node = [process.execPath, ['--disable-warning=ExperimentalWarning', join(SDK, 'build.ts')]] as const;
  await run(...node);
  await run('npm', ['pack', SDK, '--ignore-scripts', '--pack-destination', folder], { cwd: folder });
  const [packed = ''] = (await readdir(folder)).filter((name) => name.endsWith('.tgz'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module", "private": true }');
  await run('npm', ['install', '--offline', '--ignore-scripts', '--no-audit', '--no-fund', `./${packed}`], {
    cwd: folder,
  });
  return import(join(folder, 'node_modules/@hoplog/sdk/dist/esm/index.js'));
}

/** Lets programs of the folder import a package of the repository, or of another folder. */
export async function linkPackage(
  folder: string,
  name: string,
  from = join(ROOT, 'node_modules'),
): Promise<void> {
  await symlink(join(from, name), join(folder, 'node_modules', name));
}
