import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readConfig } from '../../settings/config.ts';
import { silentLogger } from '../../tier/log.ts';
import { clientConfig, KAFKAJS_VERSION } from './client.ts';

function configured(env: NodeJS.ProcessEnv) {
  const { kafkaBrokers: brokers, kafka } = readConfig({ KAFKA_BROKERS: 'a.example:9092', ...env });
  return clientConfig({ brokers, kafka }, 'hoplog-test', silentLogger());
}

/** Tells which parts of kafkajs differ from those at its import, in a process without any other test. */
const CHANGES = `
  import kafkajs from 'kafkajs';
  import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';
  import Encoder from 'kafkajs/src/protocol/encoder.js';
  import recordBatch from 'kafkajs/src/protocol/recordBatch/v0/index.js';
  const parts = () => ({
    codec: kafkajs.CompressionCodecs[kafkajs.CompressionTypes.ZSTD],
    checks: RequestQueue.prototype.scheduleCheckPendingRequests,
    memory: Encoder.prototype.ensureAvailable,
    batches: recordBatch.RecordBatch,
  });
  const changed = (before) => Object.keys(before).filter((name) => before[name] !== parts()[name]);
  const atStart = parts();
  const { createKafka } = await import('${new URL('./client.ts', import.meta.url)}');
  const { silentLogger } = await import('${new URL('../../tier/log.ts', import.meta.url)}');
  const create = (options) =>
    createKafka({ brokers: ['a.example:9092'], kafka: { tls: false } }, 'test', silentLogger(), options);
  const imported = changed(atStart);
  create();
  const first = changed(atStart);
  create({ crc32c: () => 0 });
  const shipper = changed(atStart);
  const afterShipper = parts();
  create({ crc32c: () => 0 });
  console.log(JSON.stringify({ imported, first, shipper, repeated: changed(afterShipper) }));`;

test('importing changes nothing in kafkajs; clients do, each part once', () => {
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', CHANGES];
  const output = execFileSync(process.execPath, args, { encoding: 'utf8' });
  expect(JSON.parse(output)).toEqual({
    imported: [],
    first: ['codec', 'checks', 'memory'],
    shipper: ['codec', 'checks', 'memory', 'batches'],
    repeated: [],
  });
});

test('the installed kafkajs is the release that the changes were written for', () => {
  const path = createRequire(import.meta.url).resolve('kafkajs/package.json');
  expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ version: KAFKAJS_VERSION });
});

test('without more settings the client uses neither TLS nor SASL', () => {
  expect(configured({})).toMatchObject({ clientId: 'hoplog-test', brokers: ['a.example:9092'] });
  expect(configured({})).not.toHaveProperty('ssl');
  expect(configured({})).not.toHaveProperty('sasl');
});

test.each(['plain', 'scram-sha-256', 'scram-sha-512'])(
  '%s is passed with its username and password',
  (mechanism) => {
    const env = { KAFKA_SASL_MECHANISM: mechanism, KAFKA_USERNAME: 'hoplog', KAFKA_PASSWORD: 'secret' };
    expect(configured(env).sasl).toEqual({ mechanism, username: 'hoplog', password: 'secret' });
  },
);

test('TLS trusts the authorities of the system, or the one in KAFKA_TLS_CA', () => {
  expect(configured({ KAFKA_TLS: 'true' }).ssl).toBe(true);
  const directory = mkdtempSync(join(tmpdir(), 'hoplog-ca-'));
  const path = join(directory, 'ca.pem');
  writeFileSync(path, 'certificate');
  expect(configured({ KAFKA_TLS: 'true', KAFKA_TLS_CA: path }).ssl).toEqual({ ca: ['certificate'] });
  const both = { KAFKA_TLS: 'true', KAFKA_TLS_CERT: path, KAFKA_TLS_KEY: path };
  expect(configured(both).ssl).toEqual({ cert: 'certificate', key: 'certificate' });
  rmSync(directory, { recursive: true });
  expect(() => configured({ KAFKA_TLS: 'true', KAFKA_TLS_CA: path })).toThrow(
    /^setting KAFKA_TLS_CA=.* cannot be read/,
  );
  expect(() => configured(both)).toThrow(/^setting KAFKA_TLS_CERT=.* cannot be read/);
  expect(() => configured({ ...both, KAFKA_TLS_KEY: '' })).toThrow(
    /KAFKA_TLS_KEY.* must be set for KAFKA_TLS_CERT/,
  );
});
