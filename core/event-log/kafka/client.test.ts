import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readConfig } from '../../settings/config.ts';
import { silentLogger } from '../../tier/log.ts';
import { clientConfig } from './client.ts';

function told(env: NodeJS.ProcessEnv) {
  const { kafkaBrokers: brokers, kafka } = readConfig({ KAFKA_BROKERS: 'a.example:9092', ...env });
  return clientConfig({ brokers, kafka }, 'hoplog-test', silentLogger());
}

test('without more settings the client speaks plainly', () => {
  expect(told({})).toMatchObject({ clientId: 'hoplog-test', brokers: ['a.example:9092'] });
  expect(told({})).not.toHaveProperty('ssl');
  expect(told({})).not.toHaveProperty('sasl');
});

test.each(['plain', 'scram-sha-256', 'scram-sha-512'])(
  '%s is passed with its name and password',
  (mechanism) => {
    const env = { KAFKA_SASL_MECHANISM: mechanism, KAFKA_USERNAME: 'hoplog', KAFKA_PASSWORD: 'secret' };
    expect(told(env).sasl).toEqual({ mechanism, username: 'hoplog', password: 'secret' });
  },
);

test('TLS trusts the system, or the authority that is named', () => {
  expect(told({ KAFKA_TLS: 'true' }).ssl).toBe(true);
  const directory = mkdtempSync(join(tmpdir(), 'hoplog-ca-'));
  const path = join(directory, 'ca.pem');
  writeFileSync(path, 'certificate');
  expect(told({ KAFKA_TLS: 'true', KAFKA_TLS_CA: path }).ssl).toEqual({ ca: ['certificate'] });
  rmSync(directory, { recursive: true });
  expect(() => told({ KAFKA_TLS: 'true', KAFKA_TLS_CA: path })).toThrow(
    /^setting KAFKA_TLS_CA=.* can not be read/,
  );
});
