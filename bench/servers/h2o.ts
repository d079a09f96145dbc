import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../cli/embedded/free-port.ts';
import type { Bench } from '../harness/bench.ts';
import { isInstalled, programVersion } from '../harness/machine.ts';
import { startPeer } from './peer.ts';

type H2o = { port: number; pid: number /** Empties the access log. */; emptyLog(): void };

/**
 * Starts h2o with one thread, a 302 for every request, and an access log, which it writes once per request.
 *
 * @returns null when it is not installed (`apt-get install --no-install-recommends h2o`)
 */
export async function startH2o(bench: Bench, cores: string): Promise<H2o | null> {
  if (!isInstalled('h2o')) return null;
  const home = join(bench.directory, 'h2o');
  mkdirSync(home, { mode: 0o755 });
  const port = await freePort();
  const config = join(home, 'h2o.conf');
  writeFileSync(config, configuration(home, port));
  const { pid } = await startPeer(bench, { command: ['h2o', '-m', 'worker', '-c', config], cores, port });
  return { port, pid, emptyLog: () => truncateSync(join(home, 'access')) };
}

/** Returns the version, such as `h2o 2.2.5`. */
export function h2oVersion(): string {
  return programVersion('h2o', ['-v']).replace(' version', '');
}

function configuration(home: string, port: number): string {
  return `num-threads: 1
user: ${userInfo().username}
pid-file: ${home}/pid
error-log: ${home}/errors
access-log: ${home}/access
listen:
  host: 127.0.0.1
  port: ${port}
hosts:
  default:
    paths:
      "/":
        redirect:
          status: 302
          url: "https://www.example.com/landing?utm_source=facebook&utm_medium=social&utm_campaign=spring&path="
`;
}
