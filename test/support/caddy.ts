import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { BROWSER } from './visitors.ts';

/** Root certificate of Caddy's local authority, below its data directory. */
export const LOCAL_ROOT = 'caddy/pki/authorities/local/root.crt';

/** The shipped Caddyfile with certificates of Caddy's local authority, and other global options. */
export function localCaddyfile(options: readonly string[] = []): string {
  const shipped = readFileSync(new URL('../../deploy/caddy/Caddyfile', import.meta.url), 'utf8');
  const local = ['local_certs', 'skip_install_trust', ...options].map((option) => `\t${option}\n`).join('');
  return shipped.replace(/^\{\n/m, `{\n${local}`);
}

/**
 * Visits a host over TLS on loopback, on a new connection.
 *
 * @param given.ca the certificate that must have issued the host's
 * @returns status and Location, such as `302 https://example.com/`, or the error's code
 */
export function visitOverTls(given: {
  host: string;
  path: string;
  port: number;
  ca: string | undefined;
}): Promise<string> {
  const { host, path, port, ca } = given;
  const headers = { host: port === 443 ? host : `${host}:${port}`, 'user-agent': BROWSER };
  return new Promise((resolve) => {
    request({ host: '127.0.0.1', port, path, servername: host, ca, agent: false, headers }, (response) => {
      response.resume();
      resolve(`${response.statusCode} ${response.headers.location ?? ''}`.trim());
    })
      .on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
      .end();
  });
}

/** The result of `visitOverTls` when the server has no certificate for the host. */
export const NO_CERTIFICATE = /EPROTO|ECONNRESET|SSL/;
