import { type Config, ConfigError, readConfig } from './config.ts';
import { loadEnvFile } from './env-file.ts';

/** EX_CONFIG of sysexits.h: tells a supervisor that another start would fail too. */
export const CONFIGURATION_ERROR = 78;

/** The settings that name a database. */
export type DatabaseSetting = 'DATABASE_URL' | 'CLICKHOUSE_URL';

/**
 * Returns the settings of a tier's process, from its environment and `.env`.
 *
 * @param requires databases that the tier can't start without: it starts none itself
 * @throws {SettingsError} when a setting is wrong or a required one is empty
 */
export function readTierConfig(requires: readonly DatabaseSetting[]): Config {
  loadEnvFile();
  const config = readConfig(process.env);
  const values = { DATABASE_URL: config.databaseUrl, CLICKHOUSE_URL: config.clickhouseUrl };
  for (const name of requires) {
    if (values[name] === '') throw new ConfigError(name, '', 'must be set for a tier that is started alone');
  }
  return config;
}
