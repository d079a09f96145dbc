import type pg from 'pg';
import { databaseFault } from '../../core/databases/faults.ts';
import { postgresHosts } from '../../core/databases/postgres-hosts.ts';
import type { Credentials } from '../../core/settings/credentials.ts';

/** The hosts that a pool connects to, one of which is the primary. */
export type Hosts = {
  /** URL of the host to connect to now. */
  url(): string;
  needsPrimary(): boolean;
  /** Calls `connect` for one host after the other, beginning with the one that worked last. */
  connectToOne(connect: () => Promise<pg.PoolClient>): Promise<pg.PoolClient>;
};

/** Message, without a code, of pg-pool where all connections are in use (pg-pool 3, `index.js`). */
const POOL_IS_FULL = 'timeout exceeded when trying to connect';
const READ_ONLY = '25006';

/** Returns the hosts of credentials, whose URL may change. */
export function createHosts(credentials: Credentials): Hosts {
  let at = 0;
  const found = () => postgresHosts(credentials.url());

  function url(): string {
    const { urls } = found();
    return urls[at % urls.length] ?? urls[0];
  }

  /** Many connections find out at once that a host is gone. They leave it once. */
  function leave(left: string): void {
    if (url() === left) at = (at + 1) % found().urls.length;
  }

  return {
    url,
    needsPrimary: () => found().needsPrimary,
    async connectToOne(connect) {
      const errors: unknown[] = [];
      for (;;) {
        const tried = url();
        try {
          return await connect();
        } catch (error) {
          errors.push(error);
          if (!isGone(error)) throw error;
          leave(tried);
          // That a standby is one says less than why the primary does not respond.
          if (errors.length >= found().urls.length) throw errors.find((one) => !isReadOnly(one)) ?? error;
        }
      }
    },
  };
}

/** Whether another host may be the one to connect to. Refused credentials, or TLS, are for an operator. */
function isGone(error: unknown): boolean {
  if (error instanceof Error && error.message === POOL_IS_FULL) return false;
  return databaseFault(error)?.kind === 'unavailable';
}

function isReadOnly(error: unknown): boolean {
  return databaseFault(error)?.code === READ_ONLY;
}
