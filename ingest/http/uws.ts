import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import { readFileSync } from 'node:fs';
import type { Logger } from '../../core/tier/log.ts';

export type Uws = typeof import('uWebSockets.js');

/** Longest request line and headers together: a referer and a query of 4 KiB each, cookies and the rest. */
const LARGEST_HEADERS = 16 * 1024;

/**
 * Loads uWebSockets.js. The native module reads its limit for headers from the environment while it is loaded (its
 * own default, 4 KiB, would refuse visitors with a long referer), so it must not be imported any other way.
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
 * @returns null when the address is taken or is none of this machine's
 */
export function listen(
  app: TemplatedApp,
  host: string,
  port: number,
  share: boolean,
): Promise<us_listen_socket | null> {
  // The types know a host or options; the library takes both.
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
 * Says once that a shared port alone does not make a restart seamless: when one of several listeners closes, Linux
 * resets the connections that it had not taken in yet, unless it may hand them to the others.
 */
export function sayHowToShare(log: Logger): void {
  let migrates: string;
  try {
    migrates = readFileSync(MIGRATE, 'utf8').trim();
  } catch {
    return; // another system, or a Linux before 5.14
  }
  if (migrates === '0') {
    log.warn(
      'INGEST_SHARE_PORT: a restart resets a few connections unless net.ipv4.tcp_migrate_req=1 (sysctl)',
    );
  }
}
