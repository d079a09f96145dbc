import type { Pool, PoolClient } from '../../sql/database/pool.ts';
import { LINK_CHANGES_CHANNEL } from '../../sql/links/link-changes.ts';

const RECONNECT_MS = 1_000;

/**
 * Calls `wake` whenever PostgreSQL says that something changed, on a connection of its own that is opened again when
 * it breaks. Notifications are lost meanwhile, so the caller also looks by itself.
 *
 * @returns a function that ends it
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
