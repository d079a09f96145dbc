import { parentPort, workerData } from 'node:worker_threads';
import { createLogger } from '../../../core/tier/log.ts';
import { createPool } from '../../../sql/database/pool.ts';
import { createTableLoader } from '../loader.ts';
import { listenForChanges } from '../notifications.ts';
import { createTableWriter } from '../table-writer.ts';
import { createDiskStore } from './disk-store.ts';
import type { DiskThreadData, FromWriter, Settled } from './messages.ts';

/** Follows PostgreSQL into the links' file, in a thread of its own: redirects never wait for it. */
const data = workerData as DiskThreadData;
const port = parentPort;
if (!port) throw new Error('the table on disk is written in a thread of its own');

/** A file that there was no room for is made anew after so long: by the next thread, as one that was damaged at once. */
const AGAIN_MS = 10 * 60_000;

const log = createLogger('link-table', data.logLevel);
const pool = createPool(data.databaseUrl, {
  max: 2,
  connectTimeoutMs: 2_000,
  statementTimeoutMs: 5_000,
  responseTimeoutMs: 6_000,
  name: 'hoplog-ingest-links',
});
const store = createDiskStore({
  dir: data.dir,
  log,
  onGivenUp: (damaged) => setTimeout(() => process.exit(1), damaged ? 0 : AGAIN_MS).unref(),
});
const writer = createTableWriter(store, log);
const loader = createTableLoader({
  pool,
  log,
  stood: store.stood,
  page: 2_000,
  writer: {
    ...writer,
    async settle(standing) {
      await writer.settle(standing);
      const changes = store.changes();
      const message: Settled = {
        changes,
        rounds: loader.rounds(),
        whole: store.whole(),
        loaded: loader.loaded(),
        othersLoaded: loader.othersLoaded(),
        currentAt: standing?.at ?? null,
      };
      port.postMessage(message);
    },
  },
});
void loader.tried.then(() => port.postMessage('tried' satisfies FromWriter));
loader.start();
const stopListening = listenForChanges(pool, loader.wake);

port.once('message', async () => {
  stopListening();
  await loader.stop();
  store.close();
  await pool.end();
  process.exit(0);
});
