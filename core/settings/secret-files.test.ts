import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readConfig, SETTING_NAMES } from './config.ts';
import { misspelledSettings } from './misspelled-settings.ts';
import { SECRET_SETTINGS, withDatabaseUrls, withTierDatabases } from './secrets.ts';

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-secrets-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

const SASL = { KAFKA_SASL_MECHANISM: 'plain', KAFKA_USERNAME: 'u' };

test.each(['', '\n', '\r\n'])('a secret is the text of its file, without %j at the end', (end) => {
  const database = 'postgres://hoplog:one@db:5432/hoplog';
  const config = readConfig({
    ...SASL,
    DATABASE_URL_FILE: file('database-url', database + end),
    CLICKHOUSE_URL_FILE: file('clickhouse-url', `http://hoplog:two@ch:8123${end}`),
    KAFKA_PASSWORD_FILE: file('kafka', ` three ${end}`),
  });
  expect(config.databaseUrl).toBe(database);
  expect(config.clickhouseUrl).toBe('http://hoplog:two@ch:8123');
  expect(config.kafka.sasl?.password).toBe(' three ');
});

test('each setting that holds a secret can be a file, and its value is that of the file', () => {
  const secret =
    /PASSWORD|SECRET|TOKEN|^(DATABASE|DATABASE_DIRECT|DATABASE_READ|DATABASE_OWNER|CLICKHOUSE|SMTP)_URL$/;
  const named = SETTING_NAMES.filter((name) => secret.test(name) && !name.endsWith('_FILE'));
  expect(named.toSorted()).toEqual(SECRET_SETTINGS.toSorted());
  const values: Record<string, string> = {
    DATABASE_URL: 'postgres://hoplog@db:5432/hoplog',
    DATABASE_DIRECT_URL: 'postgres://hoplog@db:5433/hoplog',
    DATABASE_READ_URL: 'postgres://hoplog@replica/hoplog',
    DATABASE_OWNER_URL: 'postgres://owner@db:5432/hoplog',
    CLICKHOUSE_URL: 'http://hoplog@ch:8123',
    SMTP_URL: 'smtp://shop:p%40ss@smtp.example',
  };
  const others = {
    MAIL_FROM: 'mail@shop.example',
    OIDC_ISSUER: 'https://id.example',
    OIDC_CLIENT_ID: 'c',
    OIDC_ALLOWED_DOMAINS: 'shop.example',
  };
  const value = (name: string) => values[name] ?? `the ${name}`;
  const by = (given: (name: string) => [string, string]) =>
    readConfig({ ...SASL, ...others, ...Object.fromEntries(SECRET_SETTINGS.map(given)) });
  const fromFiles = by((name) => [`${name}_FILE`, file(name, `${value(name)}\n`)]);
  expect(fromFiles).toEqual(by((name) => [name, value(name)]));
  expect(fromFiles).not.toEqual(readConfig({ ...SASL, ...others, ...values }));
});

test('the password of a database may have any characters, and is put into its URL', () => {
  const password = 'a/b@c:d?e#f%20 "ü\\';
  const { databaseUrl, clickhouseUrl } = readConfig({
    DATABASE_URL: 'postgres://hoplog@db:5432/hoplog?sslmode=require',
    DATABASE_PASSWORD_FILE: file('password', `${password}\n`),
    CLICKHOUSE_URL: 'https://hoplog@ch:8443',
    CLICKHOUSE_PASSWORD: password,
  });
  for (const url of [databaseUrl, clickhouseUrl]) {
    expect(new URL(url).username).toBe('hoplog');
    expect(decodeURIComponent(new URL(url).password)).toBe(password);
  }
  expect(databaseUrl).toMatch(/@db:5432\/hoplog\?sslmode=require$/);
});

test.each(SECRET_SETTINGS)('%s and its file together are rejected by both names', (name) => {
  const both = { [name]: 'a secret', [`${name}_FILE`]: file('both', 'other') };
  expect(() => readConfig(both)).toThrow(
    new RegExp(`^setting ${name}_FILE=".*": must be empty while ${name} is set$`),
  );
});

test.each([
  ['missing', () => join(directory, 'missing'), /must be a file that this user can read \(ENOENT\)/],
  ['a directory', () => directory, /must be a file that this user can read \(EISDIR\)/],
  ['empty', () => file('empty', '\n'), /must be a file with one line/],
  ['of two lines', () => file('two', 'a\nb\n'), /must be a file with one line/],
])('a file that is %s is rejected by the name of its setting, and its text is not shown', (_, path, why) => {
  const at = path();
  const read = () => readConfig({ ...SASL, KAFKA_PASSWORD_FILE: at });
  expect(read).toThrow(`setting KAFKA_PASSWORD_FILE=${JSON.stringify(at)}: `);
  expect(read).toThrow(why);
});

test.each([
  [
    { DATABASE_URL: 'postgres://u:p@h/d', DATABASE_PASSWORD: 'q' },
    'must be empty while DATABASE_URL has a password',
  ],
  [{ DATABASE_URL: 'postgres://h/d', DATABASE_PASSWORD: 'q' }, 'needs a user name in DATABASE_URL'],
  [{ CLICKHOUSE_PASSWORD: 'q' }, 'must be empty while CLICKHOUSE_URL is empty'],
])('a password that its URL has no place for is rejected: %j', (env, why) => {
  expect(() => readConfig(env)).toThrow(why);
});

test('an error about a secret does not show it', () => {
  const leak = /hidden/;
  const wrong = [
    { DATABASE_URL: 'mysql://u:hidden@h/d' },
    { CLICKHOUSE_URL: 'hidden' },
    { DATABASE_URL_FILE: file('wrong', 'mysql://u:hidden@h/d') },
  ];
  for (const env of wrong) {
    expect(() => readConfig(env)).toThrow(/^setting (DATABASE|CLICKHOUSE)_URL: must /);
    expect(() => readConfig(env)).not.toThrow(leak);
  }
});

test('complete URLs replace the settings and files of both databases', () => {
  const env = {
    DATABASE_URL: 'postgres://hoplog@db/hoplog',
    DATABASE_READ_URL: 'postgres://hoplog@replica/hoplog',
    DATABASE_PASSWORD_FILE: file('database', 'one'),
    CLICKHOUSE_URL_FILE: file('clickhouse', 'http://hoplog:two@ch:8123'),
    KAFKA_PASSWORD_FILE: file('kept', 'three'),
  };
  const { databaseUrl, databaseReadUrl, clickhouseUrl } = readConfig(env);
  expect(databaseReadUrl).toBe('postgres://hoplog:one@replica/hoplog');
  const complete = withDatabaseUrls(env, {
    databaseUrl,
    databaseDirectUrl: databaseUrl,
    databaseReadUrl,
    clickhouseUrl,
  });
  expect(readConfig(complete)).toMatchObject({ databaseUrl, databaseReadUrl, clickhouseUrl });
  expect(complete.KAFKA_PASSWORD_FILE).toBe(env.KAFKA_PASSWORD_FILE);
});

test('a misspelled name of a file is found', () => {
  expect(misspelledSettings({ KAFKA_PASSWORD_FLE: 'x', DATABASE_URL_FILES: 'x' })).toEqual([
    { name: 'KAFKA_PASSWORD_FLE', near: 'KAFKA_PASSWORD_FILE' },
    { name: 'DATABASE_URL_FILES', near: 'DATABASE_URL_FILE' },
  ]);
});

test('a tier gets the files of passwords, to read them again, and neither the owner nor an embedded address', () => {
  const env = {
    DATABASE_URL: 'postgres://service@db/hoplog',
    DATABASE_PASSWORD_FILE: '/run/secrets/service',
    DATABASE_DIRECT_URL: 'postgres://service@direct/hoplog',
    DATABASE_READ_URL: 'postgres://service@replica/hoplog',
    DATABASE_OWNER_URL: 'postgres://owner@db/hoplog',
    DATABASE_OWNER_PASSWORD_FILE: '/run/secrets/owner',
    CLICKHOUSE_PASSWORD: 'of another start',
    LOG_LEVEL: 'warn',
  };
  const urls = {
    databaseUrl: 'postgres://service:secret@db/hoplog',
    databaseDirectUrl: 'postgres://service:secret@direct/hoplog',
    databaseReadUrl: 'postgres://service:secret@replica/hoplog',
    clickhouseUrl: 'http://a:b@127.0.0.1:1',
  };
  expect(withTierDatabases(env, urls)).toEqual({
    DATABASE_URL: 'postgres://service@db/hoplog',
    DATABASE_PASSWORD_FILE: '/run/secrets/service',
    DATABASE_DIRECT_URL: 'postgres://service@direct/hoplog',
    DATABASE_READ_URL: 'postgres://service@replica/hoplog',
    CLICKHOUSE_URL: 'http://a:b@127.0.0.1:1',
    LOG_LEVEL: 'warn',
  });
});
