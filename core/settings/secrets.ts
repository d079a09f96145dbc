/** Settings that hold a secret. Each has a second setting with the suffix `_FILE`, which names a file with the value. */
export const SECRET_SETTINGS = [
  'DATABASE_URL',
  'DATABASE_PASSWORD',
  'DATABASE_OWNER_URL',
  'DATABASE_OWNER_PASSWORD',
  'CLICKHOUSE_URL',
  'CLICKHOUSE_PASSWORD',
  'KAFKA_PASSWORD',
  'OIDC_CLIENT_SECRET',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
] as const;

export type SecretSetting = (typeof SECRET_SETTINGS)[number];
export type SecretFileSetting = `${SecretSetting}_FILE`;

/** Returns the setting that names the file of a secret, such as `KAFKA_PASSWORD_FILE`. */
export function fileSettingOf(name: SecretSetting): SecretFileSetting {
  return `${name}_FILE`;
}

/** Returns whether the value of this setting must not be shown. */
export function isSecret(setting: string): boolean {
  return SECRET_SETTINGS.some((name) => name === setting);
}

/**
 * Returns the environment with these URLs, which contain their passwords, instead of the settings and files of both
 * databases.
 *
 * @param urls `databaseOwnerUrl` is for migrations and backups only
 */
export function withDatabaseUrls(
  env: NodeJS.ProcessEnv,
  urls: { databaseUrl: string; databaseOwnerUrl?: string; clickhouseUrl: string },
): NodeJS.ProcessEnv {
  const rest = { ...env };
  for (const name of [
    'DATABASE_URL',
    'DATABASE_PASSWORD',
    'DATABASE_OWNER_URL',
    'DATABASE_OWNER_PASSWORD',
    'CLICKHOUSE_URL',
    'CLICKHOUSE_PASSWORD',
  ] as const) {
    delete rest[name];
    delete rest[fileSettingOf(name)];
  }
  return {
    ...rest,
    DATABASE_URL: urls.databaseUrl,
    ...(urls.databaseOwnerUrl !== undefined && { DATABASE_OWNER_URL: urls.databaseOwnerUrl }),
    CLICKHOUSE_URL: urls.clickhouseUrl,
  };
}
