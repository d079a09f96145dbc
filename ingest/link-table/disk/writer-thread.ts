import { parentPort, workerData } from 'node:worker_threads';
import { openFileTarget } from '../../../core/file-targets/open.ts';
import { openCredentials } from '../../../core/settings/credentials.ts';
import { collectAtRest } from '../../../core/tier/collect-at-rest.ts';
import { createLogger } from '../../../core/tier/log.ts';
import { createPool } from '../../../sql/database/pool.ts';
import type { OpenEarlierLinks } from '../earlier-links.ts';
import { createTableLoader } from '../loader.ts';
import { listenForChanges } from '../notifications.ts';
import { fromReplica } from '../replica-links.ts';
import { snapshotKeys } from '../snapshot/manifest.ts';
import { fromSnapshot } from '../snapshot/snapshot-links.ts';
import { startSnapshotWriter } from '../snapshot/snapshot-writer.ts';
import { createTableWriter } from '../table-writer.ts';
import { createDiskSink } from './disk-sink.ts';
import type { FromWriter, Settled, WriterData } from './messages.ts';

/** Replicates PostgreSQL into the links' file on a thread of its own, so that redirects never wait for it. */
const data = workerData as WriterData;
const port = parentPort;
if (!port) throw new Error('the links’ file must be written on a thread of its own');

/**
 * A file that the disk refused is tried again after this long, by the next thread. A damaged one is replaced at once.
 */
const RETRY_MS = 10 * 60_000;
/** Rows of a page. Where memory holds all links, the redirects' thread applies a page in one turn of the event loop. */
const PAGE = data.memoryHoldsAll ? 500 : 2_000;

const log = createLogger('link-table', data.logLevel);
const connection = {
  max: 1,
  connectTimeoutMs: 2_000,
  statementTimeoutMs: 5_000,
  responseTimeoutMs: 6_000,
  name: 'hoplog-ingest-links',
};
const poolOf = (source: 'databaseUrl' | 'databaseDirectUrl' | 'databaseReadUrl') =>
  createPool(openCredentials(source, data.sources[source], { log }), connection);
const pool = poolOf('databaseUrl');
const notifications = poolOf('databaseDirectUrl');
const replica = data.sources.databaseReadUrl === '' ? null : poolOf('databaseReadUrl');
const snapshots =
  data.sources.snapshot === null
    ? null
    : {
        target: openFileTarget(data.sources.snapshot.to, data.sources.snapshot.s3),
        keys: snapshotKeys(data.sources.snapshot.secret),
      };
const elsewhere: OpenEarlierLinks[] = [];
if (snapshots !== null) elsewhere.push(fromSnapshot({ ...snapshots, page: PAGE }));
if (replica !== null) elsewhere.push(fromReplica({ primary: pool, replica, page: PAGE }));
const sink = createDiskSink({
  dir: data.dir,
  log,
  memoryHoldsAll: data.memoryHoldsAll,
  onGivenUp(damaged) {
    port.postMessage('refused' satisfies FromWriter);
    setTimeout(() => process.exit(1), damaged ? 0 : RETRY_MS).unref();
  },
});
const writer = createTableWriter(sink, log);
const isFirst = Atomics.add(new Int32Array(data.lives), 0, 1) === 0;
const loader = createTableLoader({
  pool,
  log,
  // Memory gets what a former thread did not post by a walk.
  syncPoint: sink.syncPoint && (isFirst ? sink.syncPoint : { ...sink.syncPoint, server: '' }),
  page: PAGE,
  elsewhere,
  writer: {
    ...writer,
    async settle(syncPoint) {
      await writer.settle(syncPoint);
      const changes = sink.takeChanges();
      const message: Settled = {
        changes,
        revision: loader.revision(),
        whole: sink.whole(),
        loaded: loader.loaded(),
        othersLoaded: loader.othersLoaded(),
        currentAt: syncPoint?.at ?? null,
      };
      port.postMessage(message);
    },
  },
});
void loader.tried.then(() => port.postMessage('tried' satisfies FromWriter));
loader.start();
const stopSnapshots =
  snapshots === null
    ? null
    : startSnapshotWriter({
        ...snapshots,
        dir: data.dir,
        pool,
        log,
        isWhole: () => sink.whole() && loader.loaded(),
      });
const stopListening = listenForChanges(notifications, loader.wake);
collectAtRest();

port.once('message', async () => {
  stopListening();
  stopSnapshots?.();
  await loader.stop();
  sink.close();
  await Promise.all([pool.end(), notifications.end(), replica?.end()]);
  process.exit(0);
});
