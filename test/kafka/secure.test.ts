import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { createKafka } from '../../core/event-log/kafka/client.ts';
import { readConfig } from '../../core/settings/config.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { accountFor } from '../faults/accounting.ts';
import { clickLinks, firstVisits } from '../support/clicker.ts';
import { makeLink } from '../support/first-click.ts';
import { EACH_SECOND, hoplog } from '../support/hoplog.ts';
import {
  changeScramPassword,
  kafkaHost,
  NO_KAFKA,
  NO_KAFKA_PROCESSES,
  startKafka,
  type TestKafka,
} from '../support/kafka.ts';
import { answerToCreation, documentedRights, grant } from '../support/kafka-acls.ts';
import { type KafkaSecurity, makeAuthority, makeKafkaSecurity } from '../support/kafka-security.ts';
import { type Service, startService } from '../support/service.ts';
import { type TestStores, testStores } from '../support/stores.ts';

/**
 * A broker that requires TLS, with certificates of its own authority on both sides, and a user name and password. It
 * denies all but what ACLs allow, and the user has those of the documentation.
 */
let kafka: TestKafka;
let stores: TestStores;
let security: KafkaSecurity;
let directory: string;
let service: Service;
let key = '';
const answered: string[] = [];
/** What the broker said before the user had any right. */
let refusal = '';

beforeAll(async () => {
  if (NO_KAFKA !== false) return;
  directory = mkdtempSync(join(tmpdir(), 'hoplog-secure-'));
  security = makeKafkaSecurity(directory, await kafkaHost());
  [kafka, stores] = await Promise.all([startKafka(1, security), testStores()]);
  await stores.createTables();
  refusal = await answerToCreation('hoplog.events.v1', settings(), security);
  await grant(documentedRights(), settings(), security);
}, 240_000);

afterAll(async () => {
  if (NO_KAFKA !== false) return;
  await Promise.all([kafka?.close(), stores?.close()]);
  if (directory) rmSync(directory, { recursive: true, force: true });
});

beforeEach((context) => context.skip(NO_KAFKA !== false, String(NO_KAFKA)));

afterEach(async () => {
  if (service?.process.exitCode === null) await service.stop();
});

const settings = () => ({
  DATABASE_URL: stores.databaseUrl,
  DATABASE_OWNER_URL: stores.databaseOwnerUrl,
  CLICKHOUSE_URL: stores.clickhouseUrl,
  CLICKHOUSE_DATABASE: stores.clickhouseDatabase,
  KAFKA_BROKERS: kafka.brokers,
  KAFKA_REPLICATION: '1',
  KAFKA_TLS: 'true',
  KAFKA_TLS_CA: security.authority,
  KAFKA_TLS_CERT: security.client.certificate,
  KAFKA_TLS_KEY: security.client.key,
  KAFKA_SASL_MECHANISM: 'scram-sha-512',
  KAFKA_USERNAME: security.user,
  KAFKA_PASSWORD: security.password,
});

/** Starts the service on the data of the previous tests. */
async function start(changes: NodeJS.ProcessEnv = {}): Promise<void> {
  service = await startService({ dataDir: join(directory, 'data'), env: { ...settings(), ...changes } });
  key ||= service.demo?.secret_key ?? '';
}

/** Returns what `hoplog status` reports about the brokers. */
async function kafkaStatus(changes: NodeJS.ProcessEnv): Promise<unknown> {
  const { stdout } = await hoplog(['status', '--json'], { ...settings(), ...changes });
  return JSON.parse(stdout).parts.kafka;
}

/** Clicks a new link; every click must get a redirect, whatever the state of the brokers. */
async function click(name: string): Promise<void> {
  const link = await makeLink(service, key, name);
  const urls = [`${service.short_url}/${link.slug}`];
  answered.push(...(await firstVisits(urls)));
  const clicked = await clickLinks({ urls, count: 100, connections: 4 });
  expect(clicked.refused).toEqual(new Map());
  expect(clicked.unanswered).toEqual([]);
  answered.push(...clicked.answered);
}

/**
 * Starts with right settings, clicks, and expects all clicks so far, also those of wrong settings, to be stored once.
 */
async function expectAllStored(mechanism: string): Promise<void> {
  await start({ KAFKA_SASL_MECHANISM: mechanism });
  await click(mechanism);
  await accountFor(service, key, answered);
  await expect
    .poll(() => kafkaStatus({ KAFKA_SASL_MECHANISM: mechanism }), EACH_SECOND)
    .toEqual({ ok: true, detail: '1 broker' });
  expect(service.log()).not.toContain(security.password);
}

test('over TLS with a client certificate, with scram-sha-512, every click is shipped, read and stored once', () =>
  expectAllStored('scram-sha-512'));

test('writers and readers report a wrong password by the name of its setting, while redirects continue', async () => {
  await start({ KAFKA_PASSWORD: 'a wrong secret' });
  await click('wrong password');
  expect(await kafkaStatus({ KAFKA_PASSWORD: 'a wrong secret' })).toMatchObject({ ok: false });
  await untilLogged('shipper', 'setting KAFKA_USERNAME, KAFKA_PASSWORD: the brokers reject the user');
  await untilLogged('workers', 'setting KAFKA_USERNAME, KAFKA_PASSWORD: the brokers reject the user');
  expect(service.log()).not.toContain('a wrong secret');
});

test('writers and readers report a missing client certificate by the name of its setting', {
  tags: 'nightly',
}, async () => {
  const none = { KAFKA_TLS_CERT: '', KAFKA_TLS_KEY: '' };
  await start(none);
  await click('no certificate');
  await untilLogged(
    'shipper',
    'setting KAFKA_TLS_CERT: the brokers reject the client certificate, or require one',
  );
  await untilLogged(
    'workers',
    'setting KAFKA_TLS_CERT: the brokers reject the client certificate, or require one',
  );
});

test('writers and readers report a wrong authority by the name of its setting, while redirects continue', {
  tags: 'nightly',
}, async () => {
  const other = makeAuthority(directory, 'other');
  await start({ KAFKA_TLS_CA: other });
  await click('wrong authority');
  await untilLogged(
    'shipper',
    `setting KAFKA_TLS_CA: the certificate of the brokers is not trusted by the authority in ${other}`,
  );
  await untilLogged('workers', 'setting KAFKA_TLS_CA: the certificate of the brokers is not trusted');
});

test('once the settings are right, with plain, clicks made meanwhile and new ones are stored once', () =>
  expectAllStored('plain'));

test('the documented rights suffice for more partitions, and without them the broker refuses', async () => {
  expect(refusal).toMatch(/authori[sz]ation failed/i);
  await start();
  const added = await hoplog(['partitions', 'add', '5', '--json'], settings());
  expect(added).toMatchObject({ status: 0 });
  expect(JSON.parse(added.stdout)).toMatchObject({ partitions: 5, added: 1 });
  await click('more partitions');
  await accountFor(service, key, answered);
});

test('a password that changes at the brokers, then in its file, is used by a client that runs', {
  tags: 'nightly',
}, async (context) => {
  context.skip(NO_KAFKA_PROCESSES !== false, String(NO_KAFKA_PROCESSES));
  const file = join(directory, 'kafka-password');
  writeFileSync(file, `${security.password}\n`);
  // Vitest sets BASE_URL.
  const env = { ...settings(), KAFKA_PASSWORD: '', KAFKA_PASSWORD_FILE: file, BASE_URL: '' };
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  const config = readConfig(process.env);
  const client = createKafka({ brokers: config.kafkaBrokers, kafka: config.kafka }, 'test', silentLogger());
  const admin = client.admin();
  onTestFinished(() => admin.disconnect());
  await admin.connect();
  const asked = () =>
    admin.listTopics().then(
      () => 'answered',
      (error: Error) => error.name,
    );
  expect(await asked()).toBe('answered');

  const page = readFileSync(new URL('../../docs/operations/passwords.md', import.meta.url), 'utf8');
  const [, options = ''] = /kafka-configs\.sh .*?--command-config \S+ ([^`]*)/s.exec(page) ?? [];
  const command = options.replaceAll(/[\\']/g, '').trim().split(/\s+/);
  expect(command).toContain('SCRAM-SHA-512=[password=new-password]');
  await grant(['--cluster --operation Alter'], settings(), security);
  await changeScramPassword(kafka, { security, command, properties: join(directory, 'admin.properties') });
  // A connection that has signed in stays.
  expect(await asked()).toBe('answered');
  await kafka.nodes[0]?.kill();
  await kafka.nodes[0]?.start();
  await expect.poll(asked).toBe('KafkaJSSASLAuthenticationError');
  writeFileSync(file, 'new-password\n');
  await expect.poll(asked).toBe('answered');
});

/** Waits for a log line of this component that contains this text. */
async function untilLogged(part: string, text: string): Promise<void> {
  const lines = () => service.log().split('\n');
  await expect
    .poll(() => lines().some((line) => line.includes(`"${part}"`) && line.includes(text)))
    .toBe(true);
}
