import type { Config } from '../../core/settings/config.ts';
import { clearRecord, writeRecord } from '../processes/record-file.ts';
import { runFile } from '../stores.ts';

/** Writes the addresses of this service for `hoplog` commands, readable by this user only. */
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

/** Clears the file of {@link writeRunFile}. */
export function clearRunFile(config: Config): void {
  clearRecord(runFile(config.dataDir));
}
