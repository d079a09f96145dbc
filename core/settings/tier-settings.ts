import { type Config, ConfigError, readConfig, SettingsError } from './config.ts';
import { loadEnvFile } from './env-file.ts';

/** EX_CONFIG of sysexits.h, what a supervisor understands as "do not start me again": it would not help. */
export const CONFIGURATION_ERROR = 78;

/**
 * The settings of this process, which speaks to both stores and starts neither: of its environment and of `.env`. Ends
 * the process with one line on standard error when one is wrong or a store's address is missing.
 */
export function readTierConfig(): Config {
  try {
    loadEnvFile();
    const config = readConfig(process.env);
    for (const [name, value] of [
      ['DATABASE_URL', config.databaseUrl],
      ['CLICKHOUSE_URL', config.clickhouseUrl],
    ] as const) {
      if (value === '') throw new ConfigError(name, value, 'must be set for a tier that is started alone');
    }
    return config;
  } catch (error) {
    return refuseSetting(error);
  }
}

/** Ends the process when a setting is wrong. @throws any other error */
export function refuseSetting(error: unknown): never {
  if (!(error instanceof SettingsError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(CONFIGURATION_ERROR);
}
