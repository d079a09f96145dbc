import type { EnvironmentName, KafkaSettings } from '../../settings/config.ts';

/**
 * Brokers that answer and refuse this process, or show a certificate that it does not trust. Its message names the
 * settings to look at. Not a wrong setting to end for: it may be put right at the brokers, so whoever meets it goes on
 * trying.
 */
export class RefusedByBrokers extends Error {
  readonly settings: readonly EnvironmentName[];

  constructor(settings: readonly EnvironmentName[], what: string, cause: unknown) {
    super(`setting ${settings.join(', ')}: ${what}`, { cause });
    this.name = 'RefusedByBrokers';
    this.settings = settings;
  }
}

const NOT_TRUSTED = 'the certificate of the brokers is not trusted';

/** Codes of Node's TLS for a certificate that no authority vouches for. */
const UNTRUSTED = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_SIGNATURE_FAILURE',
]);

/** What the client has thrown, said with the settings that it comes from where that is known; else as it is. */
export function explained(error: unknown, { tlsCa, sasl }: Pick<KafkaSettings, 'tlsCa' | 'sasl'>): unknown {
  for (const { name, code, type, message } of causes(error)) {
    if (UNTRUSTED.has(code)) {
      const trusted = tlsCa === '' ? 'by the authorities of this system' : `by the authority in ${tlsCa}`;
      return new RefusedByBrokers(['KAFKA_TLS_CA'], `${NOT_TRUSTED} ${trusted} (${message})`, error);
    }
    if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
      return new RefusedByBrokers(['KAFKA_BROKERS'], `${NOT_TRUSTED} (${message})`, error);
    }
    if (type === 'UNSUPPORTED_SASL_MECHANISM' || type === 'ILLEGAL_SASL_STATE') {
      const mechanism = `the brokers do not take ${sasl?.mechanism ?? 'clients without one'} (${message})`;
      return new RefusedByBrokers(['KAFKA_SASL_MECHANISM'], mechanism, error);
    }
    if (name === 'KafkaJSSASLAuthenticationError') {
      const user = `the brokers refuse the user ${JSON.stringify(sasl?.username)} (${message})`;
      return new RefusedByBrokers(['KAFKA_USERNAME', 'KAFKA_PASSWORD'], user, error);
    }
  }
  return error;
}

/** An error and what lies behind it: the client wraps the last of its attempts. */
function* causes(error: unknown) {
  let at = error;
  for (let depth = 0; at instanceof Error && depth < 10; depth++) {
    const { code, type, originalError } = at as Error & {
      code?: unknown;
      type?: unknown;
      originalError?: unknown;
    };
    yield { name: at.name, message: at.message, code: String(code ?? ''), type: String(type ?? '') };
    at = at.cause ?? originalError;
  }
}
