import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../cli/embedded/free-port.ts';
import type { Bench } from '../harness/bench.ts';
import { isInstalled, programVersion } from '../harness/machine.ts';
import { startPeer } from './peer.ts';

/** Access log. `each`: a write per request, the default. `buffered`: 64 KiB at a time. */
export type AccessLog = 'each' | 'buffered';

type Nginx = {
  port: number;
  /** Pid of the master, the parent of the worker. */
  pid: number;
  /** Empties the access log. */
  emptyLog(): void;
};

const BUFFERED = { each: '', buffered: ' buffer=64k flush=1s' } as const;

/**
 * Starts nginx with one worker, `return 302` for every request, and an access log.
 *
 * @throws Error when nginx is not installed
 */
export async function startNginx(bench: Bench, log: AccessLog, cores: string): Promise<Nginx> {
  if (!isInstalled('nginx')) {
    throw new Error('nginx is not installed: apt-get install --no-install-recommends nginx-light');
  }
  const home = join(bench.directory, `nginx-${log}`);
  mkdirSync(home, { mode: 0o755 });
  const port = await freePort();
  const config = join(home, 'nginx.conf');
  writeFileSync(config, configuration(home, port, log));
  const { pid } = await startPeer(bench, {
    command: ['nginx', '-p', home, '-c', config, '-e', join(home, 'errors')],
    cores,
    port,
  });
  return { port, pid, emptyLog: () => truncateSync(join(home, 'access')) };
}

/** Returns the version, such as `nginx/1.22.1`. */
export function nginxVersion(): string {
  return programVersion('nginx', ['-v']).replace('nginx version: ', '');
}

function configuration(home: string, port: number, log: AccessLog): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `
    daemon off;
    worker_processes 1;
    pid ${home}/pid;
    events { worker_connections 1024; }
    http {
      access_log ${home}/access combined${BUFFERED[log]};
      keepalive_requests 1000000000;
      ${temporary.map((name) => `${name}_temp_path ${home}/${name};`).join(' ')}
      server {
        listen 127.0.0.1:${port};
        location / {
          return 302 https://www.example.com/landing?utm_source=facebook&utm_medium=social&utm_campaign=spring;
        }
      }
    }`;
}
