import { setTimeout as delay } from 'node:timers/promises';
import { createClickHouse } from '../clickhouse/client.ts';
import { openEventLogWriter } from '../core/event-log/open.ts';
import { createAddressSealer } from '../core/events/address-seal.ts';
import { readTierConfig, refuseSetting } from '../core/settings/tier-settings.ts';
import { listenError } from '../core/tier/listen-error.ts';
import { createLogger } from '../core/tier/log.ts';
import { createRegistry, serveMetrics } from '../core/tier/metrics.ts';
import { createPool } from '../sql/database/pool.ts';
import { secretsOnceThere } from '../sql/database/secrets.ts';
import { clockResetAsked } from '../sql/event-log/clock-corrections.ts';
import { highWater, registerStream, streamRecord } from '../sql/event-log/streams.ts';
import { createApi } from './app.ts';

/** Default name of the stream that `/track/*` writes; `STREAM_NAME` overrides it. */
const STREAM_NAME = 'api-0';
/** Drain time of requests in flight; the supervisor allows 3 s. Milliseconds. */
const DRAIN_MS = 2_000;
const CLOSE_MS = 500;
/** Timeouts of one request's queries: in PostgreSQL, and for a host that has vanished. Milliseconds. */
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
  answerTimeoutMs: ANSWER_LIMIT,
});
const clickhouse = createClickHouse({ url: config.clickhouseUrl, database: config.clickhouseDatabase });
const secrets = await secretsOnceThere(pool, log);
const streamName = config.streamName || STREAM_NAME;
const eventLog = await openEventLogWriter(config, {
  streamName,
  register: (id, former) => registerStream(pool, streamName, id, former),
  recorded: (streamId) => streamRecord(pool, streamId, streamName),
  stored: (streamId) => highWater(pool, streamId),
  clockResetAsked: (streamId) => clockResetAsked(pool, streamId),
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
  // An export may run for minutes: it is cut after the drain, and its client notices.
  await Promise.race([app.close(), delay(DRAIN_MS)]);
  await eventLog.close();
  // A database that does not respond must not delay the exit.
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
