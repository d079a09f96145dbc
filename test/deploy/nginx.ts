import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bound } from '../support/bound-process.ts';
import { until } from '../support/until.ts';
import { ROOT } from './compose-file.ts';

/** The reason why tests behind nginx are skipped, or false where they can run. */
export const NO_NGINX = !hasNginx() && 'no nginx is installed: apt-get install nginx-light';

const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

export type LocalNginx = {
  /** Its output, for a failed test. */
  log(): string;
  stop(): Promise<void>;
};

/**
 * Writes `deploy/nginx/default.conf` as a configuration for this machine: names become addresses, and ports are open
 * on nginx's own address alone. `resolve` is removed with the names; nginx before 1.27.3 doesn't know it.
 *
 * @param host returns the address of a service of the compose file
 * @returns the file's path
 */
export function writeNginxConfig(directory: string, host: (service: string) => string): string {
  const home = join(directory, 'nginx');
  mkdirSync(home, { recursive: true });
  const site = readFileSync(`${ROOT}deploy/nginx/default.conf`, 'utf8')
    .replace(/^(\s+server )([\w-]+)(:\d+) resolve\b/gm, (_, before, name, port) => before + host(name) + port)
    .replace(/^(\s+listen )(\d+;)/gm, `$1${host('nginx')}:$2`);
  writeFileSync(join(home, 'default.conf'), site);
  return writeMainConfig(home, 'default.conf');
}

/** Writes the configuration around a site's, for an nginx confined to a directory. @returns the file's path */
export function writeMainConfig(home: string, site: string): string {
  const path = join(home, 'nginx.conf');
  const lines = [
    ...(process.getuid?.() === 0 ? ['user root;'] : []),
    'daemon off;',
    'worker_processes 2;',
    `pid ${home}/nginx.pid;`,
    'error_log stderr;',
    'events {}',
    'http {',
    ...TEMPORARY.map((name) => `  ${name}_temp_path ${home}/${name};`),
    `  include ${home}/${site};`,
    '}',
  ];
  writeFileSync(path, `${lines.join('\n')}\n`);
  return path;
}

/** Returns whether nginx accepts the configuration. @throws Error with its output when it does not */
export function checkNginx(config: string): void {
  execFileSync('nginx', ['-t', '-q', '-e', 'stderr', '-c', config], { stdio: 'pipe' });
}

/** Starts nginx with the configuration of the compose file and waits until it responds. */
export function startNginx(config: string, host: (service: string) => string): Promise<LocalNginx> {
  return runNginx(config, () => isHealthy(host('nginx')));
}

/** Starts nginx and waits until it is up. @throws Error with its output when it rejects the configuration */
export async function runNginx(config: string, isUp: () => Promise<boolean>): Promise<LocalNginx> {
  checkNginx(config);
  // SIGKILL would leave its workers running.
  const { file, args } = bound('nginx', ['-e', 'stderr', '-c', config], 'TERM');
  const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  const hasStarted = async () => {
    if (!isRunning(child)) throw new Error(`nginx ended with ${child.exitCode}:\n${log}`);
    return await isUp();
  };
  await until('nginx responds', hasStarted, Boolean, { intervalMs: 50 });
  return {
    log: () => log,
    async stop() {
      if (!isRunning(child)) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

async function isHealthy(address: string): Promise<boolean> {
  const response = await fetch(`http://${address}:8081/health`).catch(() => null);
  return response?.status === 204;
}

function hasNginx(): boolean {
  try {
    execFileSync('nginx', ['-v'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
