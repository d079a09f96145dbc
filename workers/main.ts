import { assertAnswers, createClickHouse } from '../clickhouse/client.ts';
import { createEnricher } from '../core/enrich/enrich.ts';
import { openGeo } from '../core/enrich/geo.ts';
import { openDeadLetterTopic, openEventLogReader } from '../core/event-log/open.ts';
import type { EventLogReader } from '../core/event-log/port.ts';
import { createAddressSealer } from '../core/events/address-seal.ts';
import { decodeEvents } from '../core/events/codec.ts';
import { ConfigError } from '../core/settings/config.ts';
import { readTierConfig, refuseSetting } from '../core/settings/tier-settings.ts';
import { type Readiness, storesUp } from '../core/tier/health.ts';
import { createLogger } from '../core/tier/log.ts';
import { createRegistry, serveMetrics } from '../core/tier/metrics.ts';
import { createPool } from '../sql/database/pool.ts';
import { secretsOnceThere } from '../sql/database/secrets.ts';
import { createWorkers } from './workers.ts';

/** The supervisor allows 3 s: the drain, and the rest to close. */
const DRAIN_MS = 2_000;
const CLOSE_MS = 500;
/** Lanes, jobs and deliveries share them. */
const CONNECTIONS = 20;
/** Limits of one wait for PostgreSQL: for a statement, and for a host that has vanished. Milliseconds. */
const STATEMENT_LIMIT = 30_000;
const ANSWER_LIMIT = 31_000;

function openReaders(): [EventLogReader, EventLogReader] {
  try {
    return [openEventLogReader(config), openEventLogReader(config)];
  } catch (error) {
    return refuseSetting(error);
  }
}

const config = readTierConfig();
const log = createLogger('workers', config.logLevel);
const registry = createRegistry('workers');
process.once('SIGTERM', () => process.exit(0)); // nothing to drain before the lanes have begun
const pool = createPool(config.databaseUrl, {
  name: 'hoplog-workers',
  max: CONNECTIONS,
  statementTimeoutMs: STATEMENT_LIMIT,
  answerTimeoutMs: ANSWER_LIMIT,
});
const clickhouse = createClickHouse({ url: config.clickhouseUrl, database: config.clickhouseDatabase });
let state: 'starting' | 'working' | 'stopping' = 'starting';
const closeMetrics = await serveMetrics(registry, config.host, config.metricsPort, readiness).catch(
  refuseSetting,
);
const [secrets, geo] = await Promise.all([secretsOnceThere(pool, log), openGeo()]);
const sealer = createAddressSealer(secrets.address);
const [reader, webhookReader] = openReaders();
const deadTopic = openDeadLetterTopic(config);
const workers = createWorkers({
  pool,
  clickhouse,
  reader,
  webhookReader,
  deadTopic,
  decode: (batch) => decodeEvents(batch, sealer),
  enricher: createEnricher({ geo }),
  log,
  registry,
  webhooks: { allowPrivate: config.webhookAllowPrivate },
});

/** Ready once the lanes run and both databases respond. */
async function readiness(): Promise<Readiness> {
  const { up, stores } = await storesUp({
    postgres: pool.query('SELECT 1'),
    clickhouse: assertAnswers(clickhouse),
  });
  const ready = up && state === 'working';
  const status = state !== 'working' ? state : ready ? 'ready' : 'unready';
  return { ready, body: { status, stores } };
}

async function close(): Promise<void> {
  await workers.stop(DRAIN_MS);
  await Promise.all([
    reader.close(),
    webhookReader.close(),
    deadTopic?.close(),
    clickhouse.close(),
    pool.end(),
    closeMetrics(),
  ]);
}

process.removeAllListeners('SIGTERM').removeAllListeners('SIGINT');
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    state = 'stopping';
    log.info({ signal }, 'draining');
    // A database that does not respond must not delay the exit: events wait in the log.
    setTimeout(() => process.exit(0), DRAIN_MS + CLOSE_MS);
    void close().then(() => process.exit(0));
  });
}
// A topic that is too small ends the process; brokers that do not respond do not.
reader.partitions().catch((error: unknown) => {
  if (error instanceof ConfigError) refuseSetting(error);
});
state = 'working';
process.stdout.write('{"event":"ready"}\n');
