import { isIP } from 'node:net';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { isAddressBlock } from '../addresses/address-blocks.ts';
import { withoutPort } from '../addresses/address-port.ts';
import { type Environment, readEnvironment, SETTINGS } from './environment.ts';
import { listenAddress } from './listen-address.ts';
import { type MailSettings, mailSettings } from './mail.ts';
import { type OidcSettings, oidcSettings } from './oidc.ts';
import {
  type ReplicaSecretFile,
  type ReplicaSetting,
  type ReplicaSettings,
  replicaSettings,
} from './replicas.ts';
import { readSecretFiles } from './secret-files.ts';
import { fileSettingOf, SECRET_SETTINGS, type SecretFileSetting } from './secrets.ts';
import { parseUrl, postgresUrl, replicaUrl, serverUrl, urlOfSameRole, withPassword } from './server-urls.ts';
import { ConfigError } from './settings-error.ts';

export { ConfigError, SettingsError } from './settings-error.ts';

export type EnvironmentName = keyof Environment | SecretFileSetting | ReplicaSetting | ReplicaSecretFile;
/** The names of all settings, except those of single replicas of ClickHouse. */
export const SETTING_NAMES: readonly string[] = [
  ...Object.keys(SETTINGS),
  ...SECRET_SETTINGS.map(fileSettingOf),
];

export type SaslMechanism = 'plain' | 'scram-sha-256' | 'scram-sha-512';

/** Required properties of the topic, and the connection to the brokers. */
export type KafkaSettings = {
  topic: string;
  deadTopic: string;
  partitions: number;
  /** Replicas of each partition. From 2 on, an acknowledgement means that two brokers have the record. */
  replication: number;
  retentionHours: number;
  tls: boolean;
  /** File of the certificate authority to trust; empty: the system's. */
  tlsCa: string;
  /** Files of a client certificate and its key; null: none. */
  tlsClient: { cert: string; key: string } | null;
  /** Null: no authentication. */
  sasl: { mechanism: SaslMechanism; username: string; password: string } | null;
};

/** Access to S3-compatible storage, for backups and snapshots of links. Empty texts are not set. */
export type S3Settings = {
  /** Origin, such as `https://s3.example`; empty: that of Amazon. */
  endpoint: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string;
};

/** Every setting of a process, parsed. Ports are numbers, addresses have no trailing slash. */
export type Config = {
  /** Absolute path of all data in single-node mode. */
  dataDir: string;
  host: string;
  apiPort: number;
  ingestPort: number;
  /** Lets several ingest processes of this user listen on the port (SO_REUSEPORT). */
  ingestSharePort: boolean;
  /** Limit of links in ingest's memory; infinite for all of them. */
  ingestLinksInMemory: number;
  /** Where ingest keeps a snapshot of all links: a folder or `s3://bucket/prefix`; empty: nowhere. */
  linksSnapshotTo: string;
  /** Listen address of `/metrics`, which needs no key. */
  metricsHost: string;
  metricsPort: number;
  baseUrl: string;
  appUrl: string;
  /** Origin of short links, such as `http://127.0.0.1:8080`. */
  shortUrl: string;
  publicUrl: string;
  /** Empty: embedded. */
  databaseUrl: string;
  /** The address for notifications, which a pooler does not pass on. By default `databaseUrl`. */
  databaseDirectUrl: string;
  /** A replica, from which ingest reads all links; empty: none. */
  databaseReadUrl: string;
  /** Connects as the owner of the tables, for migrations and backups. By default `databaseDirectUrl`. */
  databaseOwnerUrl: string;
  /** Most connections to PostgreSQL of one process of each tier. Ingest has two more for its links. */
  databasePools: Record<'ingest' | 'workers' | 'api', number>;
  /** Empty: embedded. */
  clickhouseUrl: string;
  /** The replicas of ClickHouse; the one at `clickhouseUrl` is `main`. */
  clickhouseReplicas: ReplicaSettings[];
  clickhouseDatabase: string;
  /** Empty: the journal on disk is the event log. */
  kafkaBrokers: string[];
  kafka: KafkaSettings;
  /** Longest time that a written click may wait for `fdatasync`, in milliseconds; `0`: synced before the response. */
  journalSyncMs: number;
  /** Disk budget of one process's journal. Bytes. */
  journalBudgetBytes: number;
  /** Directory name of this process's journal stream under `DATA_DIR/journal`; empty: the tier's name. */
  streamName: string;
  /** Addresses (CIDR or single) whose `X-Forwarded-For` is trusted. */
  trustProxy: string[];
  /** Destination of `/` of the short-link origin; empty: a page that describes the host. */
  rootUrl: string;
  /** Destination of unknown slugs of the short-link origin; empty: a page. */
  notFoundUrl: string;
  /** The paths that `robots.txt` of the short-link origin lets crawlers read: all but `/collect`, or none. */
  robots: 'all' | 'none';
  /** File of domains that no link may lead to; empty: none. */
  blockedDomainsFile: string;
  /** Name servers for the records of domains, `address` or `address:port`; the system's when empty. */
  dnsServers: string[];
  /** Enrollments, signups, and changes that publishable keys may make in a workspace an hour. */
  publishableLimitPerHour: number;
  /** Limit of the stored pictures of a workspace's bio pages, all together. Bytes. */
  picturesPerWorkspaceBytes: number;
  webhookAllowPrivate: boolean;
  /** The destinations whose titles and icons are fetched: at public addresses only, all, or none (`off`). */
  fetchDestinations: 'public' | 'all' | 'off';
  /** Origin of Stripe's API, or of a stand-in. */
  stripeApiBase: string;
  /** Null: members sign in with passwords and passkeys only. */
  oidc: OidcSettings | null;
  /** Address of the mail server, with user and password; empty: none. */
  smtpUrl: string;
  /** Null: the service sends no mail. */
  mail: MailSettings | null;
  /** OpenTelemetry collector for traces, OTLP over HTTP; empty: none. */
  tracesEndpoint: string;
  /** Where backups are kept: a folder or `s3://bucket/prefix`; empty: nowhere. */
  backupTo: string;
  s3: S3Settings;
  logLevel: string;
};

/**
 * Returns all settings, parsed. An empty value counts as unset.
 *
 * @param env the process's environment
 * @throws {SettingsError} naming the first setting that can't be used
 */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const complete = readSecretFiles(env);
  const raw = readEnvironment(complete);
  const apiPort = port('API_PORT', raw.API_PORT);
  const ingestPort = port('INGEST_PORT', raw.INGEST_PORT);
  const baseUrl = origin('BASE_URL', raw.BASE_URL || `http://127.0.0.1:${apiPort}`);
  const databaseUrl = postgresUrl(
    ['DATABASE_URL', raw.DATABASE_URL],
    ['DATABASE_PASSWORD', raw.DATABASE_PASSWORD],
  );
  const databaseDirectUrl = urlOfSameRole(
    'DATABASE_DIRECT_URL',
    raw.DATABASE_DIRECT_URL,
    raw.DATABASE_PASSWORD,
  );
  const databaseReadUrl = replicaUrl(raw.DATABASE_READ_URL, raw.DATABASE_PASSWORD);
  const databaseOwnerUrl = postgresUrl(
    ['DATABASE_OWNER_URL', raw.DATABASE_OWNER_URL],
    ['DATABASE_OWNER_PASSWORD', raw.DATABASE_OWNER_PASSWORD],
  );
  for (const [name, url] of [
    ['DATABASE_DIRECT_URL', databaseDirectUrl],
    ['DATABASE_READ_URL', databaseReadUrl],
    ['DATABASE_OWNER_URL', databaseOwnerUrl],
  ] as const) {
    if (url !== '' && databaseUrl === '')
      throw new ConfigError(name, url, 'must be empty while DATABASE_URL is empty');
  }
  const clickhouseUrl = withPassword(
    ['CLICKHOUSE_URL', serverUrl('CLICKHOUSE_URL', raw.CLICKHOUSE_URL, ['http:', 'https:'])],
    ['CLICKHOUSE_PASSWORD', raw.CLICKHOUSE_PASSWORD],
  );
  const shortUrl = origin('SHORT_URL', raw.SHORT_URL || `http://127.0.0.1:${ingestPort}`);
  return {
    dataDir: directory('DATA_DIR', raw.DATA_DIR),
    host: listenAddress(raw.HOST),
    apiPort,
    ingestPort,
    ingestSharePort: raw.INGEST_SHARE_PORT === 'true',
    ingestLinksInMemory:
      raw.INGEST_LINKS_IN_MEMORY === 'all' ? Number.POSITIVE_INFINITY : Number(raw.INGEST_LINKS_IN_MEMORY),
    linksSnapshotTo: raw.LINKS_SNAPSHOT_TO,
    metricsHost: listenAddress(raw.METRICS_HOST),
    metricsPort: port('METRICS_PORT', raw.METRICS_PORT),
    baseUrl,
    appUrl: raw.APP_URL ? origin('APP_URL', raw.APP_URL) : baseUrl,
    shortUrl,
    publicUrl: raw.PUBLIC_URL ? origin('PUBLIC_URL', raw.PUBLIC_URL) : shortUrl,
    databaseUrl,
    databaseDirectUrl: databaseDirectUrl || databaseUrl,
    databaseReadUrl,
    databaseOwnerUrl: databaseOwnerUrl || databaseDirectUrl || databaseUrl,
    databasePools: {
      ingest: Number(raw.DATABASE_POOL_INGEST),
      workers: Number(raw.DATABASE_POOL_WORKERS),
      api: Number(raw.DATABASE_POOL_API),
    },
    clickhouseUrl,
    clickhouseReplicas: replicaSettings(raw, complete, clickhouseUrl),
    clickhouseDatabase: raw.CLICKHOUSE_DATABASE,
    kafkaBrokers: brokers(raw.KAFKA_BROKERS),
    kafka: {
      topic: raw.KAFKA_TOPIC,
      deadTopic: raw.KAFKA_DEAD_TOPIC,
      partitions: Number(raw.KAFKA_PARTITIONS),
      replication: Number(raw.KAFKA_REPLICATION),
      retentionHours: Number(raw.KAFKA_RETENTION_HOURS),
      tls: raw.KAFKA_TLS === 'true',
      tlsCa: raw.KAFKA_TLS_CA,
      tlsClient: clientCertificate(raw.KAFKA_TLS_CERT, raw.KAFKA_TLS_KEY),
      sasl: sasl(raw.KAFKA_SASL_MECHANISM, raw.KAFKA_USERNAME, raw.KAFKA_PASSWORD),
    },
    journalSyncMs: raw.JOURNAL_SYNC === 'always' ? 0 : Number.parseInt(raw.JOURNAL_SYNC, 10),
    journalBudgetBytes: size(raw.JOURNAL_BUDGET),
    streamName: raw.STREAM_NAME,
    trustProxy: proxies(raw.TRUST_PROXY),
    rootUrl: ownPage('ROOT_URL', raw.ROOT_URL, shortUrl),
    notFoundUrl: ownPage('NOT_FOUND_URL', raw.NOT_FOUND_URL, shortUrl),
    robots: raw.ROBOTS === 'none' ? 'none' : 'all',
    blockedDomainsFile: raw.BLOCKED_DOMAINS_FILE,
    dnsServers: nameServers(raw.DNS_SERVERS),
    publishableLimitPerHour: Number(raw.PUBLISHABLE_LIMIT_PER_HOUR),
    picturesPerWorkspaceBytes: size(raw.PICTURES_PER_WORKSPACE),
    webhookAllowPrivate: raw.WEBHOOK_ALLOW_PRIVATE === 'true',
    fetchDestinations: raw.FETCH_DESTINATIONS as Config['fetchDestinations'],
    stripeApiBase: raw.STRIPE_API_BASE
      ? origin('STRIPE_API_BASE', raw.STRIPE_API_BASE)
      : 'https://api.stripe.com',
    oidc: oidcSettings(raw),
    smtpUrl: raw.SMTP_URL,
    mail: mailSettings(raw),
    tracesEndpoint: serverUrl('OTEL_EXPORTER_OTLP_ENDPOINT', raw.OTEL_EXPORTER_OTLP_ENDPOINT, [
      'http:',
      'https:',
    ]),
    backupTo: raw.BACKUP_TO,
    s3: {
      endpoint: raw.AWS_ENDPOINT_URL && origin('AWS_ENDPOINT_URL', raw.AWS_ENDPOINT_URL),
      region: raw.AWS_REGION,
      accessKeyId: raw.AWS_ACCESS_KEY_ID,
      secretAccessKey: raw.AWS_SECRET_ACCESS_KEY,
      sessionToken: raw.AWS_SESSION_TOKEN,
    },
    logLevel: raw.LOG_LEVEL,
  };
}

/** Returns an absolute path. `~` is the home directory, which otherwise only a shell expands. */
function directory(name: EnvironmentName, text: string): string {
  const [first = '', ...rest] = text.split('/');
  if (!first.startsWith('~')) return resolve(text);
  if (first !== '~')
    throw new ConfigError(name, text, 'must be an absolute or relative path, without "~user"');
  return resolve(homedir(), ...rest);
}

function port(name: EnvironmentName, text: string): number {
  const value = Number(text);
  if (value > 65_535) throw new ConfigError(name, text, 'must be a port number from 0 to 65535');
  return value;
}

function origin(name: EnvironmentName, text: string): string {
  const url = parseUrl(name, text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new ConfigError(name, text, 'must be an http:// or https:// origin');
  }
  if ((url.pathname !== '/' && url.pathname !== '') || url.search || url.hash || url.username) {
    throw new ConfigError(name, text, 'must be an origin without a path, query or credentials');
  }
  return url.origin;
}

/** Returns the URL of a page elsewhere. A page on the short-link origin could redirect to itself forever. */
function ownPage(name: EnvironmentName, text: string, shortUrl: string): string {
  if (text === '') return '';
  const url = new URL(serverUrl(name, text, ['http:', 'https:']));
  if (url.username || url.password) throw new ConfigError(name, text, 'must not contain credentials');
  if (url.origin === shortUrl) throw new ConfigError(name, text, 'must not lead back to SHORT_URL');
  return url.href;
}

function sasl(mechanism: string, username: string, password: string): KafkaSettings['sasl'] {
  if (mechanism === '') return null;
  if (username === '') throw new ConfigError('KAFKA_USERNAME', '', 'must be set for KAFKA_SASL_MECHANISM');
  return { mechanism: mechanism as SaslMechanism, username, password };
}

function clientCertificate(cert: string, key: string): KafkaSettings['tlsClient'] {
  if (cert === '' && key === '') return null;
  if (cert === '') throw new ConfigError('KAFKA_TLS_CERT', '', 'must be set for KAFKA_TLS_KEY');
  if (key === '') throw new ConfigError('KAFKA_TLS_KEY', '', 'must be set for KAFKA_TLS_CERT');
  return { cert, key };
}

function brokers(text: string): string[] {
  const addresses = list(text);
  for (const address of addresses) {
    const [, port] = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):(\d{1,5})$/.exec(address) ?? [];
    if (port === undefined || Number(port) < 1 || Number(port) > 65_535) {
      throw new ConfigError('KAFKA_BROKERS', text, 'must be addresses such as "kafka-1:9092,kafka-2:9092"');
    }
  }
  return addresses;
}

function proxies(text: string): string[] {
  const blocks = list(text);
  if (!blocks.every(isAddressBlock)) {
    throw new ConfigError('TRUST_PROXY', text, 'must be addresses or CIDR blocks, with commas between');
  }
  return blocks;
}

function nameServers(text: string): string[] {
  const servers = list(text);
  if (!servers.every((server) => isIP(withoutPort(server)) !== 0)) {
    throw new ConfigError('DNS_SERVERS', text, 'must be IP addresses such as "9.9.9.9,127.0.0.1:5353"');
  }
  return servers;
}

function list(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function size(text: string): number {
  return Number.parseInt(text, 10) * (text.endsWith('GiB') ? 2 ** 30 : 2 ** 20);
}
