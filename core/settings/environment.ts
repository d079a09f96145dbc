import { ConfigError, SettingsError } from './settings-error.ts';

/** A setting of the environment. A value that does not match `pattern` is refused with `expected`. */
type Setting = { default: string } & ({ pattern: RegExp; expected: string } | { pattern?: undefined });

/**
 * Every setting, except the `_FILE` of each secret. A new secret also belongs in `SECRET_SETTINGS`. Keep `.env.example`
 * in step.
 */
export const SETTINGS = {
  DATA_DIR: { default: './data' },
  HOST: { default: '127.0.0.1' },
  API_PORT: { default: '3000', pattern: /^\d{1,5}$/, expected: 'must be a port number from 0 to 65535' },
  INGEST_PORT: { default: '8080', pattern: /^\d{1,5}$/, expected: 'must be a port number from 0 to 65535' },
  INGEST_SHARE_PORT: { default: 'false', pattern: /^(true|false)$/, expected: 'must be "true" or "false"' },
  INGEST_LINKS_IN_MEMORY: {
    default: 'all',
    pattern: /^(all|[1-9]\d{0,8})$/,
    expected: 'must be "all" or a number of links such as "1000000"',
  },
  LINKS_SNAPSHOT_TO: { default: '' },
  METRICS_HOST: { default: '127.0.0.1' },
  METRICS_PORT: { default: '9464', pattern: /^\d{1,5}$/, expected: 'must be a port number from 0 to 65535' },
  BASE_URL: { default: '' },
  APP_URL: { default: '' },
  SHORT_URL: { default: '' },
  PUBLIC_URL: { default: '' },
  DATABASE_URL: { default: '' },
  DATABASE_PASSWORD: { default: '' },
  DATABASE_DIRECT_URL: { default: '' },
  DATABASE_READ_URL: { default: '' },
  DATABASE_OWNER_URL: { default: '' },
  DATABASE_OWNER_PASSWORD: { default: '' },
  DATABASE_POOL_INGEST: {
    default: '8',
    pattern: /^([2-9]|[1-9]\d{1,2})$/,
    expected: 'must be a number of connections from 2 to 999',
  },
  DATABASE_POOL_WORKERS: {
    default: '15',
    pattern: /^([2-9]|[1-9]\d{1,2})$/,
    expected: 'must be a number of connections from 2 to 999',
  },
  DATABASE_POOL_API: {
    default: '15',
    pattern: /^([2-9]|[1-9]\d{1,2})$/,
    expected: 'must be a number of connections from 2 to 999',
  },
  CLICKHOUSE_URL: { default: '' },
  CLICKHOUSE_PASSWORD: { default: '' },
  CLICKHOUSE_DATABASE: {
    default: 'hoplog',
    pattern: /^[A-Za-z_][A-Za-z0-9_]*$/,
    expected: 'must be a plain identifier',
  },
  CLICKHOUSE_REPLICAS: { default: 'main' },
  KAFKA_BROKERS: { default: '' },
  KAFKA_TOPIC: {
    default: 'hoplog.events.v1',
    pattern: /^[A-Za-z0-9._-]{1,200}$/,
    expected: 'must be a topic name of letters, digits, ".", "_" and "-"',
  },
  KAFKA_DEAD_TOPIC: {
    default: 'hoplog.dead.v1',
    pattern: /^[A-Za-z0-9._-]{1,200}$/,
    expected: 'must be a topic name of letters, digits, ".", "_" and "-"',
  },
  KAFKA_PARTITIONS: { default: '4', pattern: /^[1-9]\d{0,3}$/, expected: 'must be a number from 1 to 9999' },
  KAFKA_REPLICATION: { default: '3', pattern: /^[1-9]$/, expected: 'must be a number from 1 to 9' },
  KAFKA_RETENTION_HOURS: {
    default: '168',
    pattern: /^[1-9]\d{0,4}$/,
    expected: 'must be a number of hours from 1 to 99999',
  },
  KAFKA_TLS: { default: 'false', pattern: /^(true|false)$/, expected: 'must be "true" or "false"' },
  KAFKA_TLS_CA: { default: '' },
  KAFKA_TLS_CERT: { default: '' },
  KAFKA_TLS_KEY: { default: '' },
  KAFKA_SASL_MECHANISM: {
    default: '',
    pattern: /^(plain|scram-sha-256|scram-sha-512)?$/,
    expected: 'must be empty, "plain", "scram-sha-256" or "scram-sha-512"',
  },
  KAFKA_USERNAME: { default: '' },
  KAFKA_PASSWORD: { default: '' },
  JOURNAL_SYNC: {
    default: '5ms',
    pattern: /^(always|[1-9]\d{0,4}ms)$/,
    expected: 'must be "always" or milliseconds such as "5ms"',
  },
  JOURNAL_BUDGET: {
    default: '8GiB',
    pattern: /^[1-9]\d*(MiB|GiB)$/,
    expected: 'must be a size such as "512MiB" or "8GiB"',
  },
  STREAM_NAME: {
    default: '',
    pattern: /^[a-z0-9-]{0,40}$/,
    expected: 'must be up to 40 characters of a-z, 0-9 and "-"',
  },
  TRUST_PROXY: { default: '' },
  ROOT_URL: { default: '' },
  NOT_FOUND_URL: { default: '' },
  ROBOTS: { default: 'all', pattern: /^(all|none)$/, expected: 'must be "all" or "none"' },
  BLOCKED_DOMAINS_FILE: { default: '' },
  DNS_SERVERS: { default: '' },
  PUBLISHABLE_LIMIT_PER_HOUR: {
    default: '10000',
    pattern: /^[1-9]\d{0,8}$/,
    expected: 'must be a number from 1 to 999999999',
  },
  PICTURES_PER_WORKSPACE: {
    default: '100MiB',
    pattern: /^[1-9]\d*(MiB|GiB)$/,
    expected: 'must be a size such as "100MiB" or "2GiB"',
  },
  WEBHOOK_ALLOW_PRIVATE: {
    default: 'false',
    pattern: /^(true|false)$/,
    expected: 'must be "true" or "false"',
  },
  FETCH_DESTINATIONS: {
    default: 'public',
    pattern: /^(public|all|off)$/,
    expected: 'must be "public", "all" or "off"',
  },
  STRIPE_API_BASE: { default: '' },
  OTEL_EXPORTER_OTLP_ENDPOINT: { default: '' },
  SMTP_URL: { default: '' },
  MAIL_FROM: { default: '' },
  MAIL_REPLY_TO: { default: '' },
  OIDC_ISSUER: { default: '' },
  OIDC_CLIENT_ID: { default: '' },
  OIDC_CLIENT_SECRET: { default: '' },
  OIDC_NAME: { default: '' },
  OIDC_SCOPES: { default: 'openid email profile' },
  OIDC_ALLOWED_DOMAINS: { default: '' },
  OIDC_TRUST_EMAIL: {
    default: 'false',
    pattern: /^(true|false)$/,
    expected: 'must be "true" or "false"',
  },
  OIDC_WORKSPACE: { default: '' },
  OIDC_GROUPS_CLAIM: { default: 'groups' },
  OIDC_GROUP_ROLES: { default: '' },
  BACKUP_TO: { default: '' },
  AWS_ENDPOINT_URL: { default: '' },
  AWS_REGION: {
    default: 'us-east-1',
    pattern: /^[a-z0-9-]+$/,
    expected: 'must be a region such as "eu-central-1"',
  },
  AWS_ACCESS_KEY_ID: { default: '' },
  AWS_SECRET_ACCESS_KEY: { default: '' },
  AWS_SESSION_TOKEN: { default: '' },
  LOG_LEVEL: {
    default: 'info',
    pattern: /^(trace|debug|info|warn|error|silent)$/,
    expected: 'must be one of trace, debug, info, warn, error, silent',
  },
} as const satisfies Record<string, Setting>;

/** Settings that are gone, each with what holds now. One that is set stops the start: its promise is not kept. */
const GONE: Record<string, string> = {
  CLICKHOUSE_CLUSTER:
    'is gone, remove it: Hoplog makes no replicated tables and feeds ClickHouse from its event log. Name one server in CLICKHOUSE_URL, or a service whose replicas read at once what another one wrote',
};

/** Text of every setting. */
export type Environment = Record<keyof typeof SETTINGS, string>;

/**
 * Returns the text of every setting. An empty value counts as unset.
 *
 * @throws {SettingsError} naming the first setting that is gone or does not match its pattern
 */
export function readEnvironment(env: NodeJS.ProcessEnv): Environment {
  for (const [name, sentence] of Object.entries(GONE)) {
    if (env[name]) throw new SettingsError(`setting ${name}=${JSON.stringify(env[name])} ${sentence}`);
  }
  const entries = Object.entries<Setting>(SETTINGS).map(([name, setting]) => {
    const value = env[name] || setting.default;
    if (setting.pattern && !setting.pattern.test(value))
      throw new ConfigError(name as keyof Environment, value, setting.expected);
    return [name, value] as const;
  });
  return Object.fromEntries(entries) as Environment;
}
