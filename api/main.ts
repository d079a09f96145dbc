import { setTimeout as delay } from 'node:timers/promises';
import { openReaders } from '../analytics/replicas/open-readers.ts';
import { openReplicas } from '../clickhouse/replicas.ts';
import { openEventLogWriter } from '../core/event-log/open.ts';
import { createAddressSealer } from '../core/events/address-seal.ts';
import { openBlockedDomains } from '../core/links/blocked-domains.ts';
import type { Readiness } from '../core/tier/health.ts';
import { listenError } from '../core/tier/listen-error.ts';
import { type OpenTier, startTier, type TierProcess } from '../core/tier/start.ts';
import { createPool } from '../sql/database/pool.ts';
import { waitForSecrets } from '../sql/database/secrets.ts';
import { isClockResetRequested } from '../sql/event-log/clock-corrections.ts';
import { markUnsendable, streamNeeds } from '../sql/event-log/missing.ts';
import { registerStream, streamRecord } from '../sql/event-log/streams.ts';
import { createApi } from './app.ts';
import { apiReadiness } from './health/routes.ts';

/** The stream that `/track/*` writes, unless `STREAM_NAME` names another. */
const STREAM_NAME = 'api-0';
/** Limit for requests under way; the supervisor leaves 3 s. Milliseconds. */
const DRAIN_MS = 2_000;
const CLOSE_MS = 500;
/** Time for the drain, the shipper's drain, and the end of the connections. */
const CLOSE_LIMIT_MS = 5_000;
/**
 * Limits of one request's waits for PostgreSQL: for the server's work, and for a host that has vanished. Milliseconds.
 */
const STATEMENT_LIMIT = 15_000;
const ANSWER_LIMIT = 16_000;

await startTier({
  name: 'api',
  requires: ['DATABASE_URL', 'CLICKHOUSE_URL'],
  closeLimitMs: CLOSE_LIMIT_MS,
  open: openApi,
});

async function openApi(tier: TierProcess): Promise<OpenTier> {
  const { config, log, registry } = tier;
  let readiness = async (): Promise<Readiness> => ({ ready: false, body: { status: 'starting' } });
  await tier.serveMetrics(() => readiness());
  const tracing = await tier.openTracing();
  const pool = createPool(tier.credentials('databaseUrl'), {
    name: 'hoplog-api',
    max: config.databasePools.api,
    statementTimeoutMs: STATEMENT_LIMIT,
    responseTimeoutMs: ANSWER_LIMIT,
  });
  const replicas = openReplicas(tier.replicas(), config.clickhouseDatabase);
  const [{ clickhouse }] = replicas;
  const readers = openReaders(pool, replicas, log);
  const secrets = await waitForSecrets(pool, log);
  const streamName = config.streamName || STREAM_NAME;
  const eventLog = await openEventLogWriter(config, {
    streamName,
    register: (id, former) => registerStream(pool, streamName, id, former, 'idle'),
    recorded: (streamId) => streamRecord(pool, streamId, streamName),
    needs: (streamId) => streamNeeds(pool, streamId),
    giveUp: (streamId, sequence) => markUnsendable(pool, streamId, sequence),
    isClockResetRequested: (streamId) => isClockResetRequested(pool, streamId),
    sealer: createAddressSealer(secrets.address),
    log,
    registry,
  });
  const blockedDomains = openBlockedDomains(config.blockedDomainsFile, log);
  const deps = {
    config,
    pool,
    clickhouse,
    replicas,
    readers,
    eventLog,
    log,
    registry,
    tracing,
    blockedDomains,
  };
  const app = await createApi(deps);
  const place = { host: config.host, port: config.apiPort };
  await app.listen(place).catch((error: unknown) => {
    throw listenError(error, { ...place, setting: 'API_PORT' });
  });
  readiness = () => apiReadiness(deps, tier.state() === 'stopping');

  return {
    async close() {
      // An export may run for minutes. After the drain it is cut, which its reader notices.
      await Promise.race([app.close(), delay(DRAIN_MS)]);
      await eventLog.close();
      // A database that does not respond must not delay the end: no request of ours waits for it any more.
      readers.close();
      const closed = replicas.map((replica) => replica.clickhouse.close());
      await Promise.race([Promise.all([...closed, pool.end()]), delay(CLOSE_MS)]);
    },
  };
}
