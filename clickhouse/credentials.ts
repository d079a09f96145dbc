import { DatabaseConnectionError } from '../core/databases/connection-error.ts';
import { databaseFault } from '../core/databases/faults.ts';
import type { Credentials } from '../core/settings/credentials.ts';

/** Returns user and password of an address. */
export function loginOf(address: string): { username: string; password: string } {
  const { username, password } = new URL(address);
  return { username: decodeURIComponent(username) || 'default', password: decodeURIComponent(password) };
}

/** Returns the header `Authorization` for an address. */
export function authorizationOf(address: string): string {
  const { username, password } = loginOf(address);
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

/**
 * Sends a request with the current credentials. When they are refused, reads them again, and if they changed sends the
 * request once more.
 *
 * @param send sends it with user and password of an address
 * @param options.once the request can't be repeated: the next one has the new credentials
 * @throws what `send` throws; a refusal names the setting
 */
export async function withCredentials<Result>(
  credentials: Credentials,
  send: (address: string) => Promise<Result>,
  { once = false }: { once?: boolean } = {},
): Promise<Result> {
  const used = credentials.url();
  try {
    return await send(used);
  } catch (error) {
    const isRefused = databaseFault(error)?.kind === 'credentials';
    const isRenewed = isRefused && credentials.renew(used);
    if (!isRenewed || once) throw named(error, credentials);
  }
  return send(credentials.url()).catch((error: unknown) => {
    throw named(error, credentials);
  });
}

function named(error: unknown, { setting }: Credentials): unknown {
  const fault = databaseFault(error);
  if (fault?.kind !== 'credentials' || setting === null) return error;
  const message = `ClickHouse refuses the credentials of ${setting}: ${(error as Error).message}`;
  const { code } = fault;
  return new DatabaseConnectionError('ClickHouse', 'credentials', message, { cause: error, code, setting });
}
