import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';

/** The security settings of a broker: TLS with certificates of both sides, and a user's name and password. */
export type KafkaSecurity = {
  /** PKCS #12 file with the broker's key and the certificate chain up to the authority's. */
  keystore: string;
  /** File of the authority that signed the certificates of broker and client, for `KAFKA_TLS_CA`. */
  authority: string;
  /** Files of the client's certificate, for `KAFKA_TLS_CERT` and `KAFKA_TLS_KEY`. */
  client: { certificate: string; key: string };
  user: string;
  password: string;
  /** Name of the superuser, with the same password, by `plain`. All others may do only what ACLs allow. */
  admin: string;
};

const STORE_PASSWORD = 'test-keystore';

const EC_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/**
 * Creates a certificate authority.
 *
 * @param directory of the files `<name>.key` and `<name>.pem`
 * @returns the path of `<name>.pem`, for `KAFKA_TLS_CA`
 */
export function makeAuthority(directory: string, name: string): string {
  const { key, certificate } = filesOf(directory, name);
  openssl([
    'req',
    '-x509',
    ...EC_KEY,
    '-days',
    '2',
    '-subj',
    `/CN=${name}`,
    '-keyout',
    key,
    '-out',
    certificate,
  ]);
  return certificate;
}

/** Creates an authority, and a certificate of it for a broker at this address or name, and on loopback. */
export function makeKafkaSecurity(directory: string, host: string): KafkaSecurity {
  const authority = makeAuthority(directory, 'authority');
  const { key, certificate } = filesOf(directory, 'broker');
  const keystore = join(directory, 'broker.p12');
  const own = isIP(host) === 0 ? `DNS:${host}` : `IP:${host}`;
  makeCertificate(directory, 'broker', ['-addext', `subjectAltName=IP:127.0.0.1,DNS:localhost,${own}`]);
  makeCertificate(directory, 'client', []);
  const chain = ['-inkey', key, '-in', certificate, '-certfile', authority, '-name', 'broker'];
  openssl(['pkcs12', '-export', ...chain, '-passout', `pass:${STORE_PASSWORD}`, '-out', keystore]);
  const client = filesOf(directory, 'client');
  return { keystore, authority, client, user: 'hoplog', password: 'correct horse battery', admin: 'admin' };
}

/** Creates a certificate of the authority. */
function makeCertificate(directory: string, name: string, extensions: string[]): void {
  const { key, certificate } = filesOf(directory, name);
  const request = join(directory, `${name}.csr`);
  openssl(['req', '-new', ...EC_KEY, ...extensions, '-subj', `/CN=${name}`, '-keyout', key, '-out', request]);
  const authority = filesOf(directory, 'authority');
  const signer = ['-CA', authority.certificate, '-CAkey', authority.key, '-CAcreateserial'];
  const form = ['-copy_extensions', 'copy', '-days', '2'];
  openssl(['x509', '-req', '-in', request, ...signer, ...form, '-out', certificate]);
}

function filesOf(directory: string, name: string): { key: string; certificate: string } {
  return { key: join(directory, `${name}.key`), certificate: join(directory, `${name}.pem`) };
}

/** Returns the lines of `server.properties` for a listener `SASL_SSL` that accepts `plain` and `scram-sha-512`. */
export function securityProperties({
  keystore,
  authority,
  user,
  password,
  admin,
}: KafkaSecurity): Record<string, string> {
  const module = 'org.apache.kafka.common.security';
  return {
    'ssl.keystore.location': keystore,
    'ssl.keystore.password': STORE_PASSWORD,
    'ssl.keystore.type': 'PKCS12',
    'ssl.truststore.type': 'PEM',
    'ssl.truststore.certificates': readFileSync(authority, 'utf8').trim().replaceAll('\n', ' '),
    // Without the listener's name, Kafka ignores it for SASL.
    'listener.name.sasl_ssl.ssl.client.auth': 'required',
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    // Brokers and controllers connect to each other without credentials.
    'super.users': `User:ANONYMOUS;User:${admin}`,
    'sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-512',
    'listener.name.sasl_ssl.plain.sasl.jaas.config': `${module}.plain.PlainLoginModule required user_${user}="${password}" user_${admin}="${password}";`,
    'listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config': `${module}.scram.ScramLoginModule required;`,
  };
}

/** Returns the options of `StorageTool format` that create the user. */
export function scramUser({ user, password }: KafkaSecurity): string[] {
  return ['--add-scram', `SCRAM-SHA-512=[name=${user},password=${password}]`];
}

/** Not Java's keytool, because with brokers in containers a machine needs no Java. */
function openssl(args: string[]): void {
  execFileSync('openssl', args, { stdio: 'pipe' });
}
