import type { Config } from '../../core/settings/config.ts';
import { withTierDatabases } from '../../core/settings/secrets.ts';
import type { ListenPlace } from '../../core/tier/listen-error.ts';
import { memoryPlan } from '../embedded/memory.ts';
import { nodeFlags, programFile } from '../programs/programs.ts';
import type { Ports } from './ports.ts';
import type { TierSpec } from './tier.ts';

/**
 * Settings of glibc's allocator: it returns freed memory to the system, and has few arenas. By default, a process keeps
 * the memory that it needed to start.
 */
const ALLOCATOR = { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072' };

export type TierName = 'ingest' | 'workers' | 'api';

/**
 * Returns how to start each tier. Ingest and api drain together, then the workers, then the databases stop within
 * 3.5 s: at most 10 s in total.
 *
 * @param config settings with final ports and database addresses
 */
export function tierSpecs(env: NodeJS.ProcessEnv, config: Config, ports: Ports): Record<TierName, TierSpec> {
  const shared: NodeJS.ProcessEnv = {
    ...ALLOCATOR,
    ...withTierDatabases(env, config),
    // `env` already contains the file; later changes apply to the next start.
    ENV_FILE: '',
    DATA_DIR: config.dataDir,
    API_PORT: String(ports.api),
    INGEST_PORT: String(ports.ingest),
  };
  const { host, metricsHost, apiPort, ingestPort, metricsPort } = config;
  const metrics = (port: number): ListenPlace => ({
    setting: 'METRICS_PORT',
    host: metricsHost,
    port,
    configured: metricsPort,
  });
  const urls = (port: number, path: string) => originsOf(host, port).map((origin) => `${origin}${path}`);
  const { nodeFlags: limits, isRoomy } = memoryPlan();
  const flagsOf = (name: TierName) => [...limits, ...nodeFlags(name, isRoomy)];
  const withMetrics = (port: number) => ({ ...shared, METRICS_PORT: String(port) });
  return {
    ingest: {
      name: 'ingest',
      script: programFile('ingest'),
      flags: flagsOf('ingest'),
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
      flags: flagsOf('workers'),
      // Invariant: a stream has one writer, and STREAM_NAME is ingest's.
      env: { ...withMetrics(ports.metrics.workers), STREAM_NAME: '' },
      readiness: { kind: 'line' },
      ports: [metrics(ports.metrics.workers)],
      drainMs: 3_000,
    },
    api: {
      name: 'api',
      script: programFile('api'),
      flags: flagsOf('api'),
      env: { ...withMetrics(ports.metrics.api), STREAM_NAME: '' },
      // Live, not ready: the API serves all but reports while ClickHouse is down.
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
 * Returns the origins of a server on this machine. A server on `::` also listens on IPv4, and only there if IPv6 is
 * off.
 */
export function originsOf(host: string, port: number): string[] {
  const at = host === '::' ? ['[::1]', '127.0.0.1'] : host === '0.0.0.0' ? ['127.0.0.1'] : [host];
  return at.map((one) => `http://${one.includes(':') && !one.startsWith('[') ? `[${one}]` : one}:${port}`);
}
