import type { Config } from '../../core/settings/config.ts';
import { nodeFlags, programFile } from '../programs/programs.ts';
import type { Ports } from './ports.ts';
import type { TierSpec } from './tier.ts';

export type TierName = 'ingest' | 'workers' | 'api';

/**
 * How each tier is started. Ingest and api drain together, then the workers, then the stores end within 3.5 s:
 * all of it in the 10 s that a stop may take.
 *
 * @param config with the ports as settled and the stores' addresses
 */
export function tierSpecs(env: NodeJS.ProcessEnv, config: Config, ports: Ports): Record<TierName, TierSpec> {
  const shared: NodeJS.ProcessEnv = {
    ...env,
    // It is in `env` already; one that has changed since is for the next start.
    ENV_FILE: '',
    DATA_DIR: config.dataDir,
    API_PORT: String(ports.api),
    INGEST_PORT: String(ports.ingest),
    DATABASE_URL: config.databaseUrl,
    CLICKHOUSE_URL: config.clickhouseUrl,
  };
  const withMetrics = (port: number) => ({ ...shared, METRICS_PORT: String(port) });
  return {
    ingest: {
      name: 'ingest',
      script: programFile('ingest'),
      flags: nodeFlags('ingest'),
      env: withMetrics(ports.metrics.ingest),
      readiness: { kind: 'http', url: `${origin(config.host, ports.ingest)}/health/ready` },
      drainMs: 3_000,
    },
    workers: {
      name: 'workers',
      script: programFile('workers'),
      flags: nodeFlags('workers'),
      // STREAM_NAME names ingest's stream; one stream has one writer.
      env: { ...withMetrics(ports.metrics.workers), STREAM_NAME: '' },
      readiness: { kind: 'line' },
      drainMs: 3_000,
    },
    api: {
      name: 'api',
      script: programFile('api'),
      flags: nodeFlags('api'),
      env: { ...withMetrics(ports.metrics.api), STREAM_NAME: '' },
      // It answers while ClickHouse is down, except for reports.
      readiness: { kind: 'http', url: `${origin(config.host, ports.api)}/health/live` },
      drainMs: 3_000,
    },
  };
}

/** On this machine, also when the server listens on every address. */
function origin(host: string, port: number): string {
  const at =
    host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
  return `http://${at}:${port}`;
}
