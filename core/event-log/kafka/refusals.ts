import { isTlsCode } from '../../databases/faults.ts';
import type { EnvironmentName, KafkaSettings } from '../../settings/config.ts';

/**
 * Thrown when the brokers reject this process, or their certificate is not trusted. The message names the settings to
 * check. Callers retry instead of exiting, because the brokers may be corrected.
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

/** Alerts of a server about the certificate of its client, and about a missing one. */
const CLIENT_REFUSED = /ALERT_(BAD_CERTIFICATE|CERTIFICATE_\w+|UNSUPPORTED_CERTIFICATE|UNKNOWN_CA)$/;

/** Returns the client's error as {@link RefusedByBrokers} where the settings explain it, else as it is. */
export function explainError(
  error: unknown,
  { tlsCa, sasl }: Pick<KafkaSettings, 'tlsCa' | 'sasl'>,
): unknown {
  for (const { name, code, type, message } of causes(error)) {
    if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
      return new RefusedByBrokers(['KAFKA_BROKERS'], `${NOT_TRUSTED} (${message})`, error);
    }
    if (CLIENT_REFUSED.test(code)) {
      const what = `the brokers reject the client certificate, or require one (${message})`;
      return new RefusedByBrokers(['KAFKA_TLS_CERT'], what, error);
    }
    if (isTlsCode(code)) {
      const trusted = tlsCa === '' ? 'by the authorities of this system' : `by the authority in ${tlsCa}`;
      return new RefusedByBrokers(['KAFKA_TLS_CA'], `${NOT_TRUSTED} ${trusted} (${message})`, error);
    }
    if (type === 'UNSUPPORTED_SASL_MECHANISM' || type === 'ILLEGAL_SASL_STATE') {
      const mechanism = `the brokers do not accept ${sasl?.mechanism ?? 'clients without one'} (${message})`;
      return new RefusedByBrokers(['KAFKA_SASL_MECHANISM'], mechanism, error);
    }
    if (name === 'KafkaJSSASLAuthenticationError') {
      const user = `the brokers reject the user ${JSON.stringify(sasl?.username)} (${message})`;
      return new RefusedByBrokers(['KAFKA_USERNAME', 'KAFKA_PASSWORD'], user, error);
    }
  }
  return error;
}

/** Yields an error and its causes: the client wraps the error of its last attempt. */
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
