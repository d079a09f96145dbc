import type { Config } from '../../core/settings/config.ts';
import { clearRecord, writeRecord } from '../processes/record-file.ts';
import { runFile } from '../stores.ts';
import type { Ports } from './ports.ts';
import { originsOf } from './tiers.ts';

/**
 * Writes the addresses of this service for `hoplog` commands, readable by this user only.
 */
export function writeRunFile(config: Config, ports: Ports): void {
  const [origin = ''] = originsOf(config.metricsHost, 0).slice(-1);
  const healthAt = (port: number) => origin.replace(/:0$/, `:${port}/health/ready`);
  const { databaseUrl, databaseOwnerUrl, clickhouseUrl, baseUrl, appUrl, shortUrl } = config;
  writeRecord(runFile(config.dataDir), process.pid, {
    databaseUrl,
    databaseOwnerUrl,
    clickhouseUrl,
    baseUrl,
    appUrl,
    shortUrl,
    health: { ingest: healthAt(ports.metrics.ingest), api: healthAt(ports.metrics.api) },
  });
}

/** Clears the file of {@link writeRunFile}. */
export function clearRunFile(config: Config): void {
  clearRecord(runFile(config.dataDir));
}
