import type { Registry } from 'prom-client';
import { type Config, SettingsError } from '../settings/config.ts';
import {
  type CredentialSource,
  type Credentials,
  openCredentials,
  openReplicaCredentials,
} from '../settings/credentials.ts';
import { CONFIGURATION_ERROR, type DatabaseSetting, readTierConfig } from '../settings/tier-settings.ts';
import { collectAtRest } from './collect-at-rest.ts';
import type { Readiness } from './health.ts';
import { createLogger, type Logger } from './log.ts';
import { createRegistry, serveMetrics } from './metrics.ts';
import { NO_TRACING, openTracing, type Tracing } from './tracing.ts';

/** State of a tier's process. */
export type TierState = 'starting' | 'working' | 'stopping';

/** Dependencies of a tier's `open`. */
export type TierProcess = {
  config: Config;
  log: Logger;
  registry: Registry;
  state(): TierState;
  /**
   * Serves `GET /metrics` and `/health/live` on `METRICS_PORT` until the process ends.
   *
   * @param readiness for `/health/ready`, with details for the operator
   * @param hasDomain for `/tls/allowed`: whether a host is a proven domain
   */
  serveMetrics(readiness?: () => Promise<Readiness>, hasDomain?: (host: string) => boolean): Promise<void>;
  /** Opens tracing, if it is configured. It is closed after the tier. */
  openTracing(): Promise<Tracing>;
  /** Returns the credentials for a database, which are read again when it refuses them. */
  credentials(source: CredentialSource): Credentials;
  /** Returns the replicas of ClickHouse, with such credentials. */
  replicas(): { name: string; url: Credentials }[];
  /** Ends the process for an error that is found after `open` has returned, with the same exit codes. */
  fail(error: unknown): never;
};

/** A tier that has opened. */
export type OpenTier = {
  ready?: Record<string, number>;
  /** Drains and closes. The process exits with 0 when this resolves, with 1 when it rejects. */
  close(): Promise<void>;
};

export type TierOptions = {
  /** Name of the process in logs and metrics, such as `ingest`. */
  name: string;
  /** Databases that the tier can't start without. */
  requires: readonly DatabaseSetting[];
  /** Limit for `close`; then the process exits with 1. Milliseconds. */
  closeLimitMs: number;
  open(tier: TierProcess): Promise<OpenTier>;
};

/**
 * Runs the process of a tier: reads its settings, opens it, prints the ready line, and closes it at SIGTERM or SIGINT.
 *
 * Exit codes: 0 after a signal, {@link CONFIGURATION_ERROR} with one line on standard error when a setting is wrong,
 * 1 when the tier can't open for another reason, or can't close in time.
 */
export async function startTier(options: TierOptions): Promise<void> {
  try {
    await runTier(options);
  } catch (error) {
    fail(error);
  }
}

async function runTier({ name, requires, closeLimitMs, open }: TierOptions): Promise<void> {
  const config = readTierConfig(requires);
  const log = createLogger(name, config.logLevel);
  const registry = createRegistry(name);
  let state: TierState = 'starting';
  let closeMetrics = async () => {};
  let tracing = NO_TRACING;
  let opened: OpenTier | null = null;

  async function stop(signal: NodeJS.Signals): Promise<void> {
    if (state === 'stopping') return;
    state = 'stopping';
    if (opened === null) process.exit(0); // nothing to drain yet
    log.info({ signal }, 'draining');
    setTimeout(() => {
      log.error({ limitMs: closeLimitMs }, 'closing took too long; exiting');
      process.exit(1);
    }, closeLimitMs).unref();
    try {
      await opened.close();
      await tracing.close();
      await closeMetrics();
    } catch (error) {
      log.error({ err: error }, 'failed to close; exiting');
      process.exit(1);
    }
    process.exit(0);
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, stop);

  opened = await open({
    config,
    log,
    registry,
    state: () => state,
    credentials: (source) => openCredentials(source, config[source], { log }),
    replicas: () =>
      config.clickhouseReplicas.map((replica) => ({
        name: replica.name,
        url: openReplicaCredentials(replica, { log }),
      })),
    fail,
    async openTracing() {
      tracing = await openTracing(config.tracesEndpoint, name, log);
      return tracing;
    },
    async serveMetrics(readiness, hasDomain) {
      const { metricsHost, metricsPort } = config;
      closeMetrics = await serveMetrics(registry, metricsHost, metricsPort, readiness, hasDomain);
    },
  });
  state = 'working';
  collectAtRest();
  process.stdout.write(`${JSON.stringify({ event: 'ready', ...opened.ready })}\n`);
}

function fail(error: unknown): never {
  const wrongSetting = error instanceof SettingsError;
  const text = wrongSetting ? error.message : error instanceof Error ? error.stack : String(error);
  process.stderr.write(`${text}\n`);
  process.exit(wrongSetting ? CONFIGURATION_ERROR : 1);
}
