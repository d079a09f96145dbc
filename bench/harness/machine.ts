import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem, type } from 'node:os';

/** Returns one line about the machine and its load. */
export function machineLine(loadBefore: number): string {
  const [first] = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  return [
    `${first?.model.trim() ?? 'unknown CPU'}, ${cpus().length} cores, ${memory} GiB`,
    `${type()} ${release()}`,
    `load average ${loadBefore.toFixed(1)} before, ${load().toFixed(1)} after`,
  ].join('; ');
}

/** Returns the load average of the last minute. */
export function load(): number {
  return loadavg()[0] ?? 0;
}

/** Returns the measured commit, with a mark for local changes. */
export function commit(): string {
  try {
    const hash = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
    const changed = execFileSync('git', ['status', '--porcelain', '--untracked-files=no'], {
      encoding: 'utf8',
    });
    return changed === '' ? hash : `${hash} with changes`;
  } catch {
    return 'no commit';
  }
}

/** Returns the installed version of a package. */
export function packageVersion(name: string): string {
  const file = new URL(`../../node_modules/${name}/package.json`, import.meta.url);
  return `${name} ${(JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version}`;
}

/** Returns the first line of the version output of a program. @throws Error when it is not installed */
export function programVersion(file: string, args: string[]): string {
  try {
    return execFileSync('sh', ['-c', `${[file, ...args].join(' ')} 2>&1 || true`], { encoding: 'utf8' })
      .trim()
      .split('\n')[0] as string;
  } catch (error) {
    throw new Error(`${file} is not installed`, { cause: error });
  }
}

/** Checks whether a program is on PATH. */
export function isInstalled(file: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${file}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
