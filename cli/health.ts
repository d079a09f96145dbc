import { readFileSync } from 'node:fs';
import { get } from 'node:http';

/**
 * The health check of the image: exits with 0 if the container's process is ready. The argument names its tier; without
 * one, the command of process 1 does. Commands without a server, such as `hoplog migrate`, count as healthy.
 */

/** Each tier's settings of the address that serves `/health/ready`, and the default port. */
const SERVERS = {
  ingest: { host: 'HOST', port: 'INGEST_PORT', standard: '8080' },
  api: { host: 'HOST', port: 'API_PORT', standard: '3000' },
  workers: { host: 'METRICS_HOST', port: 'METRICS_PORT', standard: '9464' },
} as const;
export type CheckedTier = keyof typeof SERVERS;

const TIMEOUT_MS = 4_000;

/** Returns the tier that a command starts, or null. The command may follow that of an init process. */
export function tierOf(command: readonly string[]): CheckedTier | null {
  for (const word of command) {
    const [, name] = /(?:^|\/)dist\/(ingest|api|workers)\.js$/.exec(word) ?? [];
    if (name !== undefined) return name as CheckedTier;
  }
  return null;
}

/**
 * Returns the address of a tier's readiness. Reads the settings without `readConfig`: this program runs every few
 * seconds in every container, and loading the schema would double its time.
 */
export function readinessUrl(tier: CheckedTier, env: NodeJS.ProcessEnv): string {
  const server = SERVERS[tier];
  const host = env[server.host] || '127.0.0.1';
  const at = ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  return `http://${at}:${env[server.port] || server.standard}/health/ready`;
}

/** Returns whether the address responds with status 200 in time. */
export function isReady(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, timeout: TIMEOUT_MS }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.once('timeout', () => request.destroy(new Error(`no response within ${TIMEOUT_MS} ms`)));
    request.once('error', () => resolve(false));
  });
}

if (import.meta.main) {
  const [given] = process.argv.slice(2);
  const command =
    given === undefined ? readFileSync('/proc/1/cmdline', 'utf8').split('\0') : [`dist/${given}.js`];
  const tier = tierOf(command);
  process.exit(tier === null || (await isReady(readinessUrl(tier, process.env))) ? 0 : 1);
}
