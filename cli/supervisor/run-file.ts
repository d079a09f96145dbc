import type { Config } from '../../core/settings/config.ts';
import { clearRecord, writeRecord } from '../processes/record-file.ts';
import { runFile } from '../stores.ts';

/** Leaves the addresses of a running start for `hoplog` commands beside it, readable by this user only. */
export function writeRunFile(config: Config): void {
  const { databaseUrl, clickhouseUrl, baseUrl, appUrl, shortUrl } = config;
  writeRecord(runFile(config.dataDir), process.pid, {
    databaseUrl,
    clickhouseUrl,
    baseUrl,
    appUrl,
    shortUrl,
  });
}

export function clearRunFile(config: Config): void {
  clearRecord(runFile(config.dataDir));
}
