import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import { readFileSync } from 'node:fs';
import type { Logger } from '../../core/tier/log.ts';

export type Uws = typeof import('uWebSockets.js');

/** Bytes of request line and headers: a referer and a query of 4 KiB each, cookies and the rest. */
const LARGEST_HEADERS = 16 * 1024;

/**
 * Loads uWebSockets.js. It reads its header limit from the environment when it is loaded (default 4 KiB, too small
 * for long referers), so import it only here.
 */
export async function loadUws(): Promise<Uws> {
  process.env.UWS_HTTP_MAX_HEADERS_SIZE = String(LARGEST_HEADERS);
  return import('uWebSockets.js');
}

/** LIBUS_LISTEN_EXCLUSIVE_PORT, which the package exports without a type. */
const EXCLUSIVE = 1;
const SHARED = 0;

/**
 * Listens on a host and port.
 *
 * @param share whether other processes of this user may listen there too (SO_REUSEPORT)
 * @returns null when the address is taken or not on this machine
 */
export function listen(
  app: TemplatedApp,
  host: string,
  port: number,
  share: boolean,
): Promise<us_listen_socket | null> {
  // The types lack the variant with host and options.
  const start = app.listen.bind(app) as unknown as (
    host: string,
    port: number,
    options: number,
    listening: (socket: us_listen_socket | false) => void,
  ) => void;
  return new Promise((resolve) => {
    start(host, port, share ? SHARED : EXCLUSIVE, (socket) => resolve(socket === false ? null : socket));
  });
}

const MIGRATE = '/proc/sys/net/ipv4/tcp_migrate_req';

/**
 * Logs a warning when a restart would reset connections: when one of several listeners closes, Linux resets the
 * connections it has not accepted, unless `net.ipv4.tcp_migrate_req` is set.
 */
export function warnOfResets(log: Logger): void {
  let migrates: string;
  try {
    migrates = readFileSync(MIGRATE, 'utf8').trim();
  } catch {
    return; // not Linux, or before 5.14
  }
  if (migrates === '0') {
    log.warn(
      'INGEST_SHARE_PORT: a restart resets a few connections; set net.ipv4.tcp_migrate_req=1 (sysctl)',
    );
  }
}
