import { setTimeout as delay } from 'node:timers/promises';
import type { Registry } from 'prom-client';
import { openEventLogWriter, ownBatches, truncatedAhead } from '../core/event-log/open.ts';
import { createAddressSealer } from '../core/events/address-seal.ts';
import { type Config, ConfigError } from '../core/settings/config.ts';
import { openCredentials } from '../core/settings/credentials.ts';
import type { Logger } from '../core/tier/log.ts';
import { createPool } from '../sql/database/pool.ts';
import { isClockResetRequested } from '../sql/event-log/clock-corrections.ts';
import { markUnsendable, streamNeeds } from '../sql/event-log/missing.ts';
import { registerStream, streamRecord } from '../sql/event-log/streams.ts';
import { loadSecrets, STREAM_NAME, secretsFile, tableDirectory } from './cached-secrets.ts';
import { createIngest, type Ingest, type IngestDeps } from './create-ingest.ts';
import { readOutstanding } from './max-clicks/outstanding.ts';

/** Limit of the wait for PostgreSQL at the end. */
const POOL_END_MS = 250;

/**
 * Opens everything the redirect tier needs and starts to serve. PostgreSQL may be down after a first start.
 *
 * @throws {ConfigError} when a setting is invalid
 */
export async function openIngest(given: {
  config: Config;
  log: Logger;
  registry: Registry;
  pixelPath?: string;
  longestWaitMs?: IngestDeps['longestWaitMs'];
}): Promise<Ingest> {
  const { config, log, registry, pixelPath, longestWaitMs } = given;
  const streamName = config.streamName || STREAM_NAME;
  const dir = tableDirectory(config);
  const pool = createPool(openCredentials('databaseUrl', config.databaseUrl, { log }), {
    max: config.databasePools.ingest,
    connectTimeoutMs: longestWaitMs ?? 2_000,
    statementTimeoutMs: longestWaitMs ?? 5_000,
    responseTimeoutMs: longestWaitMs ?? 6_000,
    name: 'hoplog-ingest',
  });
  const { secrets, cached } = await loadSecrets(pool, secretsFile(dir), log).catch((error: Error) => {
    throw new ConfigError('DATA_DIR', config.dataDir, `can't be written: ${error.message}`);
  });
  const sealer = createAddressSealer(secrets.address);
  const eventLog = await openEventLogWriter(config, {
    streamName,
    register: (id, former) => registerStream(pool, streamName, id, former),
    recorded: (id) => streamRecord(pool, id, streamName),
    needs: (id) => streamNeeds(pool, id),
    giveUp: (id, sequence) => markUnsendable(pool, id, sequence),
    isClockResetRequested: (id) => isClockResetRequested(pool, id),
    sealer,
    log,
    registry,
  });
  const closeStores = async () => {
    await eventLog.close();
    await Promise.race([pool.end(), delay(POOL_END_MS, undefined, { ref: false })]);
  };
  try {
    const { streamId } = eventLog.stream;
    const ingest = await createIngest({
      config,
      pool,
      log,
      registry,
      secrets,
      eventLog,
      readOutstanding: () =>
        readOutstanding({
          pool,
          streamId,
          batchesAfter: (sequence) => ownBatches(config.dataDir, streamName, sequence),
          truncatedAhead: () => truncatedAhead(config.dataDir, streamName),
          sealer,
        }),
      tableDir: dir,
      catchUp: !cached,
      ...(pixelPath !== undefined && { pixelPath }),
      ...(longestWaitMs !== undefined && { longestWaitMs }),
    });
    let closing: Promise<void> | null = null;
    return {
      port: ingest.port,
      readiness: ingest.readiness,
      hasDomain: ingest.hasDomain,
      close() {
        closing ??= ingest.close().then(closeStores);
        return closing;
      },
    };
  } catch (error) {
    await closeStores();
    throw error;
  }
}
