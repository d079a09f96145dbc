import { isLoopback } from '../core/addresses/loopback.ts';
import { firstHost } from '../core/databases/postgres-hosts.ts';
import type { Config } from '../core/settings/config.ts';
import { CommandFailed } from './output.ts';

/** Each password in `deploy/laptop-secrets`, safe only on loopback. */
const EXAMPLE = 'laptop-only';

/**
 * Rejects the public default passwords of `docker-compose.yml` unless the ports are on loopback.
 *
 * @param addresses that the published ports listen on (`LISTEN`, `TLS_LISTEN`)
 * @throws {CommandFailed} naming the file to change
 */
export function refuseExamplePasswords(config: Config, addresses: readonly string[]): void {
  const address = addresses.find((one) => !isLoopback(one));
  if (address === undefined) return;
  for (const [file, url] of [
    ['postgres-password', firstHost(config.databaseOwnerUrl)],
    ['postgres-service-password', firstHost(config.databaseUrl)],
    ['clickhouse-password', new URL(config.clickhouseUrl)],
  ] as const) {
    if (url.password !== EXAMPLE) continue;
    throw new CommandFailed(
      `${file} in SECRETS_DIR is "${EXAMPLE}": must be a password of your own while ports listen on ${address}, which is not loopback (openssl rand -hex 24)`,
    );
  }
}
