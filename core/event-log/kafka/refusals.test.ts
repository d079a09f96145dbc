import { expect, test } from 'vitest';
import { explainError, RefusedByBrokers } from './refusals.ts';

const kafka = {
  tlsCa: '/etc/ca.pem',
  sasl: { mechanism: 'plain' as const, username: 'hoplog', password: 'very secret' },
};

/** An error as the client throws it, with its `name`, `code` and `type`. */
function thrown(message: string, fields: { name?: string; code?: string; type?: string }): Error {
  const last = Object.assign(new Error(message), fields);
  return Object.assign(new Error(message), { name: 'KafkaJSNumberOfRetriesExceeded', cause: last });
}

test.each([
  [
    'another authority',
    { code: 'SELF_SIGNED_CERT_IN_CHAIN' },
    /^setting KAFKA_TLS_CA: .* in \/etc\/ca\.pem \(/,
  ],
  [
    'a need for a client certificate',
    { code: 'ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE' },
    /^setting KAFKA_TLS_CERT: the brokers reject the client certificate, or require one \(/,
  ],
  ['another name in the certificate', { code: 'ERR_TLS_CERT_ALTNAME_INVALID' }, /^setting KAFKA_BROKERS: /],
  ['another mechanism', { type: 'UNSUPPORTED_SASL_MECHANISM' }, /^setting KAFKA_SASL_MECHANISM: .* plain /],
  [
    'another password',
    { name: 'KafkaJSSASLAuthenticationError' },
    /^setting KAFKA_USERNAME, KAFKA_PASSWORD: the brokers reject the user "hoplog" \(/,
  ],
])('brokers with %s are reported with the setting, and without a secret', (_what, fields, said) => {
  const error = explainError(thrown('refused', fields), kafka) as Error;
  expect(error).toBeInstanceOf(RefusedByBrokers);
  expect(error.message).toMatch(said);
  expect(error.message).not.toContain('very secret');
});

test('any other error is unchanged', () => {
  for (const error of [thrown('closed', { code: 'ECONNRESET' }), new Error('else'), 'no error']) {
    expect(explainError(error, kafka)).toBe(error);
  }
});
