import { rmSync } from 'node:fs';
import type { Config } from '../../core/settings/config.ts';
import { writePrivate } from '../embedded/secret-file.ts';
import { runFile } from '../stores.ts';

/** Leaves the addresses of a running start for `hoplog` commands beside it, readable by this user only. */
export function writeRunFile(config: Config): void {
  const { databaseUrl, clickhouseUrl, baseUrl, appUrl, shortUrl } = config;
  const running = { pid: process.pid, databaseUrl, clickhouseUrl, baseUrl, appUrl, shortUrl };
  writePrivate(runFile(config.dataDir), JSON.stringify(running));
}

export function removeRunFile(config: Config): void {
  rmSync(runFile(config.dataDir), { force: true });
}
