import { setTimeout as delay } from 'node:timers/promises';
import { assertAnswers } from '../clickhouse/client.ts';
import { openReplicas } from '../clickhouse/replicas.ts';
import { createTxtLookup } from '../core/dns/txt-records.ts';
import { createEnricher } from '../core/enrich/enrich.ts';
import { openGeo } from '../core/enrich/geo.ts';
import { openNetworks } from '../core/enrich/networks.ts';
import { openDeadLetterTopic, openEventLogReader } from '../core/event-log/open.ts';
import { createAddressSealer } from '../core/events/address-seal.ts';
import { decodeEvents } from '../core/events/codec.ts';
import { ConfigError } from '../core/settings/config.ts';
import { type Readiness, storeStates } from '../core/tier/health.ts';
import { type OpenTier, startTier, type TierProcess } from '../core/tier/start.ts';
import { createPool } from '../sql/database/pool.ts';
import { waitForSecrets } from '../sql/database/secrets.ts';
import { troubledReplicas } from '../sql/event-log/replica-details.ts';
import { describeDifferences } from './counts/differences.ts';
import { giveBackWhenQuiet } from './idle-memory.ts';
import { createIdleLanes } from './lane/idle-lanes.ts';
import { createMailSender } from './mail/send.ts';
import { createLogMetrics } from './metrics.ts';
import { createWorkers } from './workers.ts';

/** The supervisor leaves 3 s: the drain, and a little to close. */
const DRAIN_MS = 2_000;
const CLOSE_MS = 500;
const CLOSE_LIMIT_MS = 3_000;
/** Limits of one wait for PostgreSQL: for the server's work, and for a host that has vanished. Milliseconds. */
const STATEMENT_LIMIT = 30_000;
const ANSWER_LIMIT = 31_000;

await startTier({
  name: 'workers',
  requires: ['DATABASE_URL', 'CLICKHOUSE_URL'],
  closeLimitMs: CLOSE_LIMIT_MS,
  open: openWorkers,
});

async function openWorkers(tier: TierProcess): Promise<OpenTier> {
  const { config, log, registry } = tier;
  const pool = createPool(tier.credentials('databaseUrl'), {
    name: 'hoplog-workers',
    max: config.databasePools.workers,
    statementTimeoutMs: STATEMENT_LIMIT,
    responseTimeoutMs: ANSWER_LIMIT,
  });
  const replicas = openReplicas(tier.replicas(), config.clickhouseDatabase);
  const [{ clickhouse }] = replicas;

  /**
   * The workers are ready while their lanes run and PostgreSQL responds; without ClickHouse, clicks wait in the log.
   */
  async function readiness(): Promise<Readiness> {
    const stores = await storeStates({
      postgres: pool.query('SELECT 1'),
      clickhouse: assertAnswers(clickhouse),
    });
    const state = tier.state();
    const ready = stores.postgres === 'up' && state === 'working';
    const counts = ready ? await describeDifferences(pool).catch(() => []) : [];
    const troubled = ready && replicas.length > 1 ? await troubledReplicas(pool).catch(() => []) : [];
    const isDegraded = stores.clickhouse === 'down' || counts.length > 0 || troubled.length > 0;
    const working = !ready ? 'unready' : isDegraded ? 'degraded' : 'ready';
    const status = state === 'working' ? working : state;
    const details = {
      ...(counts.length > 0 && { counts }),
      ...(troubled.length > 0 && { replicas: troubled }),
    };
    return { ready, body: { status, stores, ...details } };
  }
  await tier.serveMetrics(readiness);

  const tracing = await tier.openTracing();
  const secrets = await waitForSecrets(pool, log);
  const sealer = createAddressSealer(secrets.address);
  const logMetrics = config.kafkaBrokers.length > 0 ? createLogMetrics(registry) : null;
  logMetrics?.retention.set(config.kafka.retentionHours * 3_600);
  const reader = await openEventLogReader(config, (partitions) =>
    logMetrics?.underReplicated.set(partitions),
  );
  const webhookReader = await openEventLogReader(config);
  const deadTopic = await openDeadLetterTopic(config);
  const quiet = createIdleLanes();
  giveBackWhenQuiet(quiet);
  const workers = createWorkers({
    quiet,
    pool,
    clickhouse,
    replicas,
    reader,
    webhookReader,
    deadTopic,
    decode: (batch) => decodeEvents(batch, sealer),
    enricher: createEnricher({ geo: openGeo({ networks: openNetworks() }) }),
    log,
    registry,
    tracing,
    webhooks: {
      allowPrivate: config.webhookAllowPrivate,
      shortUrl: config.shortUrl,
      stripeApiBase: config.stripeApiBase,
    },
    ...(config.fetchDestinations !== 'off' && {
      destinations: { allowPrivate: config.fetchDestinations === 'all' },
    }),
    reports: {
      appUrl: config.appUrl,
      shortUrl: config.shortUrl,
      allowPrivate: config.webhookAllowPrivate,
    },
    ...(config.mail && {
      mail: {
        settings: config.mail,
        appUrl: config.appUrl,
        baseUrl: config.baseUrl,
        send: createMailSender(tier.credentials('smtpUrl')),
      },
    }),
    lookUpTxt: createTxtLookup(config.dnsServers),
    stripeApiBase: config.stripeApiBase,
  });
  // A topic that is too small is a wrong setting. The check waits for brokers that do not respond.
  reader.partitions().catch((error: unknown) => {
    if (error instanceof ConfigError) tier.fail(error);
  });

  async function close(): Promise<void> {
    await workers.stop(DRAIN_MS);
    await Promise.all([
      reader.close(),
      webhookReader.close(),
      deadTopic?.close(),
      ...replicas.map((replica) => replica.clickhouse.close()),
      pool.end(),
    ]);
  }
  // A database that does not respond must not delay the end. Unstored events wait in the log.
  return { close: () => Promise.race([close(), delay(DRAIN_MS + CLOSE_MS)]) };
}
