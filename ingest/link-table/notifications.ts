import type { Pool, PoolClient } from '../../sql/database/pool.ts';
import { LINK_CHANGES_CHANNEL } from '../../sql/links/link-changes.ts';

const RECONNECT_MS = 1_000;

/**
 * Calls `wake` at each notification of PostgreSQL, on a connection of its own that reconnects. Notifications are lost
 * while it is down, so the caller polls as well.
 *
 * @returns a function that stops it
 */
export function listenForChanges(pool: Pool, wake: () => void): () => void {
  let client: PoolClient | null = null;
  let timer: NodeJS.Timeout | null = null;
  let ended = false;

  function retry(): void {
    if (!ended) timer = setTimeout(connect, RECONNECT_MS);
  }

  function connect(): void {
    pool.connect().then(
      (connected) => {
        if (ended) {
          connected.release(true);
          return;
        }
        client = connected;
        connected.on('notification', wake);
        connected.on('error', () => drop(connected));
        connected.query(`LISTEN ${LINK_CHANGES_CHANNEL}`).then(wake, () => drop(connected));
      },
      () => retry(),
    );
  }

  function drop(broken: PoolClient): void {
    if (client !== broken) return;
    client = null;
    broken.release(true);
    retry();
  }

  connect();
  return () => {
    ended = true;
    if (timer !== null) clearTimeout(timer);
    client?.release(true);
    client = null;
  };
}
