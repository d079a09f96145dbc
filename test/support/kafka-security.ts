import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a broker requires of its clients: TLS with a certificate of its own, and a user's name and password. */
export type KafkaSecurity = {
  /** PKCS #12 file with the broker's key and the certificate chain up to the authority's. */
  keystore: string;
  /** File of the authority that signed the broker's certificate, for `KAFKA_TLS_CA`. */
  authority: string;
  user: string;
  password: string;
};

const STORE_PASSWORD = 'test-keystore';

const EC_KEY = ['-keyalg', 'EC', '-groupname', 'secp256r1', '-validity', '2'];

/**
 * Creates a certificate authority, with the `keytool` of the Java that runs the brokers.
 *
 * @param directory where `<name>.p12` and `<name>.pem` go
 * @returns the path of `<name>.pem`, for `KAFKA_TLS_CA`
 */
export function makeAuthority(directory: string, name: string): string {
  const store = join(directory, `${name}.p12`);
  const certificate = join(directory, `${name}.pem`);
  keytool(store, ['-genkeypair', ...EC_KEY, '-alias', 'authority', '-dname', `CN=${name}`, '-ext', 'bc:c']);
  writeFileSync(certificate, keytool(store, ['-exportcert', '-rfc', '-alias', 'authority']));
  return certificate;
}

/** Creates an authority, and a certificate of it for a broker on 127.0.0.1. */
export function makeKafkaSecurity(directory: string): KafkaSecurity {
  const keystore = join(directory, 'broker.p12');
  const authority = makeAuthority(directory, 'authority');
  keytool(keystore, ['-genkeypair', ...EC_KEY, '-alias', 'broker', '-dname', 'CN=broker']);
  const signed = keytool(
    join(directory, 'authority.p12'),
    ['-gencert', '-rfc', '-alias', 'authority', '-validity', '2', '-ext', 'san=ip:127.0.0.1,dns:localhost'],
    keytool(keystore, ['-certreq', '-alias', 'broker']),
  );
  keytool(keystore, ['-importcert', '-noprompt', '-alias', 'authority', '-file', authority]);
  keytool(keystore, ['-importcert', '-noprompt', '-alias', 'broker'], signed);
  return { keystore, authority, user: 'hoplog', password: 'correct horse battery' };
}

/** Returns the lines of `server.properties` for a listener `SASL_SSL` that accepts `plain` and `scram-sha-512`. */
export function securityProperties({ keystore, user, password }: KafkaSecurity): Record<string, string> {
  const module = 'org.apache.kafka.common.security';
  return {
    'ssl.keystore.location': keystore,
    'ssl.keystore.password': STORE_PASSWORD,
    'ssl.keystore.type': 'PKCS12',
    'sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-512',
    'listener.name.sasl_ssl.plain.sasl.jaas.config': `${module}.plain.PlainLoginModule required user_${user}="${password}";`,
    'listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config': `${module}.scram.ScramLoginModule required;`,
  };
}

/** Returns the options of `StorageTool format` that create the user. */
export function scramUser({ user, password }: KafkaSecurity): string[] {
  return ['--add-scram', `SCRAM-SHA-512=[name=${user},password=${password}]`];
}

function keytool(keystore: string, args: string[], input = ''): string {
  const store = ['-keystore', keystore, '-storetype', 'PKCS12', '-storepass', STORE_PASSWORD];
  return execFileSync('keytool', ['-J-XX:TieredStopAtLevel=1', ...args, ...store], {
    input,
    encoding: 'utf8',
    stdio: 'pipe',
  });
}
