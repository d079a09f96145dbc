import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../cli/embedded/free-port.ts';
import { bindRunning } from './bound-process.ts';
import { LIMIT_MS } from './until.ts';

/** Whether PgBouncer is installed, as on Debian with the package `pgbouncer`. */
export const HAS_PGBOUNCER = isInstalled();

/** PgBouncer in transaction mode, in front of a PostgreSQL server. */
export type PgBouncer = {
  /** Returns the address of the same database and role through PgBouncer. */
  through(url: string): string;
  /** `kill -9` */
  kill(): Promise<void>;
  /** Starts it again on its port. */
  start(): Promise<void>;
  stop(): Promise<void>;
};

/**
 * Starts PgBouncer with Debian's defaults, except for the given settings.
 *
 * @param given.urls addresses of roles, with passwords, on one server
 * @param given.settings of the section `[pgbouncer]`
 */
export async function startPgBouncer(given: {
  urls: readonly string[];
  settings?: Record<string, string | number>;
}): Promise<PgBouncer> {
  const urls = given.urls.map((url) => new URL(url));
  const [server] = urls;
  if (!server) throw new Error('PgBouncer needs the address of a server');
  const directory = mkdtempSync(join(tmpdir(), 'hoplog-pgbouncer-'));
  // Makes the directory readable, because PgBouncer does not run as root.
  chmodSync(directory, 0o755);
  const port = await freePort();
  const users = urls.map(({ username, password }) => `"${username}" "${decodeURIComponent(password)}"\n`);
  writeFileSync(join(directory, 'users'), [...new Set(users)].join(''), { mode: 0o644 });
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'trust',
    auth_file: join(directory, 'users'),
    pool_mode: 'transaction',
    max_client_conn: 5_000,
    // By default a failed login, as to a dropped database, delays the next one for 15 s.
    server_login_retry: 1,
    ...given.settings,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  const file = join(directory, 'pgbouncer.ini');
  const databases = `[databases]\n* = host=${server.hostname} port=${server.port || 5432}\n`;
  writeFileSync(file, `${databases}[pgbouncer]\n${lines.join('\n')}\n`, { mode: 0o644 });

  let child: ChildProcess | null = null;
  let release: () => void = () => undefined;
  const start = async () => {
    const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
    child = spawn('pgbouncer', ['-q', ...user, file], { stdio: 'ignore' });
    // PgBouncer changes its user, after which the kernel would no longer end it with this process.
    if (child.pid !== undefined) release = bindRunning(child.pid);
    for (const deadline = Date.now() + LIMIT_MS; !(await accepts(port)); await delay(20)) {
      if (child.exitCode !== null || Date.now() > deadline) throw new Error('PgBouncer did not start');
    }
  };
  const end = async (signal: NodeJS.Signals) => {
    const running = child;
    child = null;
    if (!running || running.exitCode !== null || running.signalCode !== null) return;
    running.kill(signal);
    await once(running, 'exit');
    release();
  };
  await start();
  return {
    through(url) {
      const address = new URL(url);
      address.host = `127.0.0.1:${port}`;
      return address.href;
    },
    kill: () => end('SIGKILL'),
    start,
    async stop() {
      await end('SIGKILL');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

function isInstalled(): boolean {
  try {
    execFileSync('pgbouncer', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
