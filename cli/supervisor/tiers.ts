import type { Config } from '../../core/settings/config.ts';
import type { ListenPlace } from '../../core/tier/listen-error.ts';
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
  const { host, apiPort, ingestPort, metricsPort } = config;
  const metrics = (port: number): ListenPlace => ({
    setting: 'METRICS_PORT',
    host,
    port,
    configured: metricsPort,
  });
  const urls = (port: number, path: string) => originsOf(host, port).map((origin) => `${origin}${path}`);
  const withMetrics = (port: number) => ({ ...shared, METRICS_PORT: String(port) });
  return {
    ingest: {
      name: 'ingest',
      script: programFile('ingest'),
      flags: nodeFlags('ingest'),
      env: withMetrics(ports.metrics.ingest),
      readiness: { kind: 'http', urls: urls(ports.ingest, '/health/ready') },
      ports: [
        { setting: 'INGEST_PORT', host, port: ports.ingest, configured: ingestPort },
        metrics(ports.metrics.ingest),
      ],
      drainMs: 3_000,
    },
    workers: {
      name: 'workers',
      script: programFile('workers'),
      flags: nodeFlags('workers'),
      // STREAM_NAME names ingest's stream; one stream has one writer.
      env: { ...withMetrics(ports.metrics.workers), STREAM_NAME: '' },
      readiness: { kind: 'line' },
      ports: [metrics(ports.metrics.workers)],
      drainMs: 3_000,
    },
    api: {
      name: 'api',
      script: programFile('api'),
      flags: nodeFlags('api'),
      env: { ...withMetrics(ports.metrics.api), STREAM_NAME: '' },
      // It answers while ClickHouse is down, except for reports.
      readiness: { kind: 'http', urls: urls(ports.api, '/health/live') },
      ports: [
        { setting: 'API_PORT', host, port: ports.api, configured: apiPort },
        metrics(ports.metrics.api),
      ],
      drainMs: 3_000,
    },
  };
}

/**
 * Where a server on this machine is reached. One that listens on every address of IPv6 has those of IPv4 too, and only those where
 * IPv6 is off.
 */
function originsOf(host: string, port: number): string[] {
  const at = host === '::' ? ['[::1]', '127.0.0.1'] : host === '0.0.0.0' ? ['127.0.0.1'] : [host];
  return at.map((one) => `http://${one.includes(':') && !one.startsWith('[') ? `[${one}]` : one}:${port}`);
}
