import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT_DIR } from '../programs/programs.ts';

const SDK_DIR = join(ROOT_DIR, 'sdk');

const run = (command: string, args: string[], cwd: string) =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

/** Returns the versions that the SDKs name, by their files. */
export function sdkVersions(): Record<string, string> {
  const typescript = JSON.parse(readFileSync(join(SDK_DIR, 'typescript/package.json'), 'utf8')) as {
    version: string;
  };
  const python = readFileSync(join(SDK_DIR, 'python/pyproject.toml'), 'utf8');
  return {
    'sdk/typescript/package.json': typescript.version,
    'sdk/python/pyproject.toml': /^version = "(.*)"$/m.exec(python)?.[1] ?? '',
  };
}

/**
 * Packs both SDKs into a folder, and imports each from a new folder into which it was installed.
 *
 * @returns what was packed, or why it was not, a line each
 */
export function packSdks(out: string, version: string): string[] {
  const home = mkdtempSync(join(tmpdir(), 'hoplog-sdks-'));
  try {
    return [packTypeScript(out, version, home), packPython(out, version, home)];
  } finally {
    rmSync(home, { recursive: true });
  }
}

function packTypeScript(out: string, version: string, home: string): string {
  const name = `hoplog-sdk-${version}.tgz`;
  const source = join(home, 'typescript');
  run(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', join(SDK_DIR, 'typescript/build.ts'), source],
    home,
  );
  run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', out], source);
  const fresh = join(home, 'fresh');
  mkdirSync(fresh);
  writeFileSync(join(fresh, 'package.json'), '{ "type": "module" }');
  run('npm', ['install', '--silent', '--offline', '--no-audit', '--no-fund', join(out, name)], fresh);
  const program =
    "import { Hoplog } from '@hoplog/sdk'; new Hoplog({ key: 'lk', baseUrl: 'http://a' }).links.list();";
  run(process.execPath, ['--input-type=module', '--eval', program], fresh);
  return `${name}: installed in an empty folder, and imported`;
}

function packPython(out: string, version: string, home: string): string {
  const name = `hoplog-${version}-py3-none-any.whl`;
  const venv = join(home, 'venv');
  if (spawnSync('python3', ['-m', 'venv', venv]).status !== 0)
    return `${name}: skipped, there is no Python with venv`;
  const python = join(venv, 'bin/python');
  const source = join(home, 'python');
  cpSync(join(SDK_DIR, 'python'), source, { recursive: true, dereference: true });
  const pip = (...args: string[]) =>
    run(python, ['-m', 'pip', '--disable-pip-version-check', '--quiet', ...args], home);
  pip('wheel', '--no-deps', '--wheel-dir', out, source);
  pip('install', join(out, name));
  run(python, ['-c', "import hoplog; hoplog.Hoplog(key='lk', base_url='http://a').links.list"], home);
  if (!readdirSync(out).includes(name)) throw new Error(`the wheel is not ${name}`);
  return `${name}: installed in an empty environment, and imported`;
}
