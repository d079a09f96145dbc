import type pg from 'pg';
import { DatabaseConnectionError } from '../../core/databases/connection-error.ts';
import { databaseFault } from '../../core/databases/faults.ts';
import type { Credentials } from '../../core/settings/credentials.ts';
import type { Hosts } from './hosts.ts';
import { assertOutsideTransaction } from './nested-connections.ts';
import { ServiceClient } from './pooler.ts';

/**
 * Returns a client class for a pool. A client uses the host and the credentials that are current when it is created.
 */
export function clientWith(hosts: Hosts): typeof pg.Client {
  return class extends ServiceClient {
    constructor(options?: pg.ClientConfig) {
      super({ ...options, connectionString: hosts.url() });
    }
  };
}

type Connect = () => Promise<pg.PoolClient>;
type Connected = (
  error: Error | undefined,
  client?: pg.PoolClient,
  release?: pg.PoolClient['release'],
) => void;

/**
 * Returns the `connect` of a pool. It tries each host; when credentials are refused, it reads them again and tries once
 * more. It rejects with errors that the table of faults knows. `pool.query` connects through it too, with a callback.
 */
export function connecting(connect: Connect, credentials: Credentials, hosts: Hosts): pg.Pool['connect'] {
  const connected = (callback?: Connected) => {
    assertOutsideTransaction();
    const client = connectOnceMore(() => hosts.connectToOne(connect), credentials);
    if (callback === undefined) return client;
    client.then(
      (found) => callback(undefined, found, found.release),
      (error: Error) => callback(error),
    );
    return undefined;
  };
  return connected as pg.Pool['connect'];
}

async function connectOnceMore(connect: Connect, credentials: Credentials): Promise<pg.PoolClient> {
  const used = credentials.url();
  try {
    return await connect();
  } catch (error) {
    const isRefused = databaseFault(error)?.kind === 'credentials';
    if (!isRefused || !credentials.renew(used)) throw explained(error, credentials);
  }
  try {
    return await connect();
  } catch (error) {
    throw explained(error, credentials);
  }
}

/** Adds to an error what it lacks: the name PostgreSQL for an error of TLS, and the setting for refused credentials. */
function explained(error: unknown, { setting }: Credentials): unknown {
  const fault = databaseFault(error);
  const { message } = error as Error;
  if (fault?.kind === 'tls' && fault.database === null) {
    return new DatabaseConnectionError(
      'PostgreSQL',
      'tls',
      `no trusted TLS connection to PostgreSQL: ${message}`,
      { cause: error, code: fault.code },
    );
  }
  if (fault?.kind !== 'credentials' || setting === null) return error;
  return new DatabaseConnectionError(
    'PostgreSQL',
    'credentials',
    `PostgreSQL refuses the credentials of ${setting}: ${message}`,
    { cause: error, code: fault.code, setting },
  );
}
