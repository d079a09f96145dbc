import { setTimeout as delay } from 'node:timers/promises';
import { createClickHouse } from '../clickhouse/client.ts';
import { openEventLogWriter } from '../core/event-log/open.ts';
import { createAddressSealer } from '../core/events/address-seal.ts';
import { readTierConfig, refuseSetting } from '../core/settings/tier-settings.ts';
import { listenError } from '../core/tier/listen-error.ts';
import { createLogger } from '../core/tier/log.ts';
import { createRegistry, serveMetrics } from '../core/tier/metrics.ts';
import { createPool } from '../sql/database/pool.ts';
import { waitForSecrets } from '../sql/database/secrets.ts';
import { isClockResetRequested } from '../sql/event-log/clock-corrections.ts';
import { highWater, registerStream, streamRecord } from '../sql/event-log/streams.ts';
import { createApi } from './app.ts';

/** The stream that `/track/*` writes, unless `STREAM_NAME` says another. */
const STREAM_NAME = 'api-0';
/** Requests under way get this long; the supervisor leaves 3 s. Milliseconds. */
const DRAIN_MS = 2_000;
const CLOSE_MS = 500;
/** Bounds of one request's waits for PostgreSQL: for the server's work, and for a host that has vanished. Milliseconds. */
const STATEMENT_LIMIT = 15_000;
const ANSWER_LIMIT = 16_000;
const CONNECTIONS = 20;

const config = readTierConfig();
const log = createLogger('api', config.logLevel);
const registry = createRegistry('api');
process.once('SIGTERM', () => process.exit(0)); // nothing to drain before the API listens
const closeMetrics = await serveMetrics(registry, config.host, config.metricsPort).catch(refuseSetting);
const pool = createPool(config.databaseUrl, {
  name: 'hoplog-api',
  max: CONNECTIONS,
  statementTimeoutMs: STATEMENT_LIMIT,
  responseTimeoutMs: ANSWER_LIMIT,
});
const clickhouse = createClickHouse({ url: config.clickhouseUrl, database: config.clickhouseDatabase });
const secrets = await waitForSecrets(pool, log);
const streamName = config.streamName || STREAM_NAME;
const eventLog = await openEventLogWriter(config, {
  streamName,
  register: (id, former) => registerStream(pool, streamName, id, former),
  recorded: (streamId) => streamRecord(pool, streamId, streamName),
  stored: (streamId) => highWater(pool, streamId),
  isClockResetRequested: (streamId) => isClockResetRequested(pool, streamId),
  sealer: createAddressSealer(secrets.address),
  log,
  registry,
}).catch(refuseSetting);
const app = await createApi({ config, pool, clickhouse, eventLog, log, registry });
const place = { host: config.host, port: config.apiPort };
await app
  .listen(place)
  .catch((error: unknown) => refuseSetting(listenError(error, { ...place, setting: 'API_PORT' })));

async function close(): Promise<void> {
  // An export may run for minutes: after the drain it is cut, and its reader sees that it is.
  await Promise.race([app.close(), delay(DRAIN_MS)]);
  await eventLog.close();
  // A store that does not answer must not hold up the end: nothing of ours waits in it any more.
  await Promise.race([Promise.all([clickhouse.close(), pool.end(), closeMetrics()]), delay(CLOSE_MS)]);
}

process.removeAllListeners('SIGTERM').removeAllListeners('SIGINT');
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    log.info({ signal }, 'draining');
    void close().then(() => process.exit(0));
  });
}
process.stdout.write('{"event":"ready"}\n');
