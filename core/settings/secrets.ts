/**
 * Settings that hold a secret. Each has a second setting with the suffix `_FILE`, which names a file with the value.
 */
export const SECRET_SETTINGS = [
  'DATABASE_URL',
  'DATABASE_PASSWORD',
  'DATABASE_DIRECT_URL',
  'DATABASE_READ_URL',
  'DATABASE_OWNER_URL',
  'DATABASE_OWNER_PASSWORD',
  'CLICKHOUSE_URL',
  'CLICKHOUSE_PASSWORD',
  'KAFKA_PASSWORD',
  'OIDC_CLIENT_SECRET',
  'SMTP_URL',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
] as const;

export type SecretSetting = (typeof SECRET_SETTINGS)[number];
export type SecretFileSetting = `${SecretSetting}_FILE`;

/** Returns the setting that names the file of a secret, such as `KAFKA_PASSWORD_FILE`. */
export function fileSettingOf<Name extends string>(name: Name): `${Name}_FILE` {
  return `${name}_FILE`;
}

const SECRET_OF_REPLICA = /^CLICKHOUSE_.+_(URL|PASSWORD)$/;

/** Returns whether the value of this setting must not be shown. */
export function isSecret(setting: string): boolean {
  return SECRET_SETTINGS.some((name) => name === setting) || SECRET_OF_REPLICA.test(setting);
}

type DatabaseUrls = {
  databaseUrl: string;
  databaseDirectUrl: string;
  /** Empty: no replica. */
  databaseReadUrl?: string;
  databaseOwnerUrl?: string;
  clickhouseUrl: string;
};

const DATABASE_SETTINGS = [
  'DATABASE_URL',
  'DATABASE_PASSWORD',
  'DATABASE_DIRECT_URL',
  'DATABASE_READ_URL',
] as const;
const OWNER_SETTINGS = ['DATABASE_OWNER_URL', 'DATABASE_OWNER_PASSWORD'] as const;
const CLICKHOUSE_SETTINGS = ['CLICKHOUSE_URL', 'CLICKHOUSE_PASSWORD'] as const;

/**
 * Returns the environment with these URLs, which contain their passwords, instead of the settings and files of both
 * databases.
 *
 * @param urls `databaseOwnerUrl` is for migrations and backups only
 */
export function withDatabaseUrls(env: NodeJS.ProcessEnv, urls: DatabaseUrls): NodeJS.ProcessEnv {
  return {
    ...without(env, [...DATABASE_SETTINGS, ...OWNER_SETTINGS, ...CLICKHOUSE_SETTINGS]),
    DATABASE_URL: urls.databaseUrl,
    DATABASE_DIRECT_URL: urls.databaseDirectUrl,
    ...readUrl(urls),
    ...(urls.databaseOwnerUrl !== undefined && { DATABASE_OWNER_URL: urls.databaseOwnerUrl }),
    CLICKHOUSE_URL: urls.clickhouseUrl,
  };
}

/**
 * Returns the environment of a tier: as {@link withDatabaseUrls}, without the owner, and with the files of secrets
 * where they are set, so that the tier can read them again.
 */
export function withTierDatabases(env: NodeJS.ProcessEnv, urls: DatabaseUrls): NodeJS.ProcessEnv {
  let tier = without(env, OWNER_SETTINGS);
  const hasFile = (settings: readonly SecretSetting[]) =>
    settings.some((name) => (env[fileSettingOf(name)] ?? '') !== '');
  const replaced = (settings: readonly SecretSetting[], url: Record<string, string>) => {
    if (!hasFile(settings)) tier = { ...without(tier, settings), ...url };
  };
  replaced(DATABASE_SETTINGS, {
    DATABASE_URL: urls.databaseUrl,
    DATABASE_DIRECT_URL: urls.databaseDirectUrl,
    ...readUrl(urls),
  });
  replaced(CLICKHOUSE_SETTINGS, { CLICKHOUSE_URL: urls.clickhouseUrl });
  return tier;
}

const readUrl = ({ databaseReadUrl = '' }: DatabaseUrls): Record<string, string> =>
  databaseReadUrl === '' ? {} : { DATABASE_READ_URL: databaseReadUrl };

function without(env: NodeJS.ProcessEnv, settings: readonly SecretSetting[]): NodeJS.ProcessEnv {
  const rest = { ...env };
  for (const name of settings) {
    delete rest[name];
    delete rest[fileSettingOf(name)];
  }
  return rest;
}
