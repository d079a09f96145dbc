import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ConfigError, readConfig, SETTING_NAMES } from './config.ts';
import { isSecret } from './secrets.ts';

test('the defaults are the documented ones', () => {
  const config = readConfig({});
  expect(config).toMatchObject({
    host: '127.0.0.1',
    apiPort: 3000,
    ingestPort: 8080,
    ingestSharePort: false,
    metricsPort: 9464,
    baseUrl: 'http://127.0.0.1:3000',
    appUrl: 'http://127.0.0.1:3000',
    shortUrl: 'http://127.0.0.1:8080',
    publicUrl: 'http://127.0.0.1:8080',
    databaseUrl: '',
    clickhouseUrl: '',
    kafkaBrokers: [],
    journalSyncMs: 5,
    trustProxy: [],
    webhookAllowPrivate: false,
    stripeApiBase: 'https://api.stripe.com',
  });
});

test('addresses default to the ports, and the app and bio pages to their origins', () => {
  const config = readConfig({ API_PORT: '4000', INGEST_PORT: '9000', SHORT_URL: 'https://go.example/' });
  expect(config.baseUrl).toBe('http://127.0.0.1:4000');
  expect(config.appUrl).toBe('http://127.0.0.1:4000');
  expect(config.shortUrl).toBe('https://go.example');
  expect(config.publicUrl).toBe('https://go.example');
});

test.each([
  ['API_PORT', 'http'],
  ['INGEST_PORT', '65536'],
  ['INGEST_SHARE_PORT', 'yes'],
  ['INGEST_LINKS_IN_MEMORY', '0'],
  ['METRICS_PORT', '-1'],
  ['BASE_URL', 'api.example'],
  ['SHORT_URL', 'https://go.example/path'],
  ['PUBLIC_URL', 'ftp://go.example'],
  ['DATABASE_URL', 'mysql://localhost/db'],
  ['DATABASE_URL', 'localhost:5432/db'],
  ['DATABASE_URL', 'postgres://u@a,,b/db'],
  ['DATABASE_URL', 'postgres://u@a:1,b:x/db'],
  ['DATABASE_URL', 'postgres://u@a,b/db?target_session_attrs=standby'],
  ['DATABASE_READ_URL', 'postgres://u@a/db'],
  ['DATABASE_POOL_API', '1'],
  ['CLICKHOUSE_URL', 'clickhouse://localhost'],
  ['CLICKHOUSE_DATABASE', 'a-b'],
  ['KAFKA_TOPIC', 'a b'],
  ['KAFKA_PARTITIONS', '0'],
  ['KAFKA_REPLICATION', 'three'],
  ['KAFKA_RETENTION_HOURS', '-1'],
  ['KAFKA_TLS', 'yes'],
  ['KAFKA_SASL_MECHANISM', 'gssapi'],
  ['JOURNAL_SYNC', '5'],
  ['JOURNAL_BUDGET', '8 gigabytes'],
  ['TRUST_PROXY', 'everybody'],
  ['TRUST_PROXY', '10.0.0.0/8, 10.0.0.0/33'],
  ['WEBHOOK_ALLOW_PRIVATE', 'yes'],
  ['FETCH_DESTINATIONS', 'private'],
  ['LOG_LEVEL', 'loud'],
  ['STREAM_NAME', '../etc'],
])('%s=%s is rejected by name', (name, value) => {
  expect(() => readConfig({ [name]: value })).toThrow(ConfigError);
  const shown = isSecret(name) ? '' : `=${JSON.stringify(value)}`;
  expect(() => readConfig({ [name]: value })).toThrow(`setting ${name}${shown}: `);
});

test('a SASL mechanism without a user is rejected', () => {
  expect(() => readConfig({ KAFKA_SASL_MECHANISM: 'plain' })).toThrow(/setting KAFKA_USERNAME=""/);
  const given = { KAFKA_SASL_MECHANISM: 'scram-sha-512', KAFKA_USERNAME: 'u', KAFKA_PASSWORD: 'p' };
  expect(readConfig(given).kafka.sasl).toEqual({ mechanism: 'scram-sha-512', username: 'u', password: 'p' });
});

test('a cluster of ClickHouse, whose tables are not replicated, stops the start', () => {
  expect(() => readConfig({ CLICKHOUSE_CLUSTER: 'main' })).toThrow(
    /^setting CLICKHOUSE_CLUSTER="main" is gone, remove it: .* no replicated tables/,
  );
  expect(() => readConfig({ CLICKHOUSE_CLUSTER: '' })).not.toThrow();
  expect(SETTING_NAMES).not.toContain('CLICKHOUSE_CLUSTER');
});

test('replicas of ClickHouse are those that CLICKHOUSE_REPLICAS names, in this order', () => {
  const urls = { CLICKHOUSE_URL: 'http://a:8123', CLICKHOUSE_SECOND_URL: 'http://b:8123' };
  for (const [text, names] of [
    ['', ['main']],
    ['main,second', ['main', 'second']],
    ['second', ['second']],
  ] as const) {
    const { clickhouseReplicas } = readConfig({ ...urls, CLICKHOUSE_REPLICAS: text });
    expect(clickhouseReplicas.map(({ name }) => name)).toEqual(names);
  }
});

test('an empty value counts as unset', () => {
  expect(readConfig({ API_PORT: '', JOURNAL_SYNC: '' })).toEqual(readConfig({}));
});

test('.env.example lists exactly the settings that are read, with values that are accepted', () => {
  const example = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8');
  const lines = example.split('\n').filter((line) => /^[A-Z_]+=/.test(line));
  expect(lines.map((line) => line.slice(0, line.indexOf('='))).sort()).toEqual([...SETTING_NAMES].sort());
  const values = Object.fromEntries(lines.map((line) => line.split('=', 2)));
  expect(readConfig(values)).toEqual(readConfig({}));
});

test.each(['kafka', 'http://kafka:9092', 'kafka:0', 'kafka:70000', 'a:1,b'])(
  '%s is not a list of brokers',
  (text) => {
    expect(() => readConfig({ KAFKA_BROKERS: text })).toThrow(/^setting KAFKA_BROKERS=/);
  },
);

test('brokers are addresses with ports', () => {
  const { kafkaBrokers } = readConfig({ KAFKA_BROKERS: 'kafka-1.example:9092, 10.0.0.2:9092,[::1]:9092' });
  expect(kafkaBrokers).toEqual(['kafka-1.example:9092', '10.0.0.2:9092', '[::1]:9092']);
});

test('a URL of PostgreSQL may have several hosts, with one password for all', () => {
  const { databaseUrl, databaseDirectUrl } = readConfig({
    DATABASE_URL: 'postgres://u@a:1,b:2/db',
    DATABASE_DIRECT_URL: 'postgres://u@a:3,b:4/db?target_session_attrs=read-write',
    DATABASE_PASSWORD: 'p@s,s',
  });
  expect(databaseUrl).toBe('postgres://u:p%40s%2Cs@a:1,b:2/db');
  expect(databaseDirectUrl).toBe('postgres://u:p%40s%2Cs@a:3,b:4/db?target_session_attrs=read-write');
});
