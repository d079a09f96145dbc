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

/** pg-pool's message, without a code, when all connections are in use (pg-pool 3, `index.js`). */
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

  /** Many connections detect at once that a host is gone. Only the first leaves it. */
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
          // The reason why the primary does not respond says more than that another host is a standby.
          if (errors.length >= found().urls.length) throw errors.find((one) => !isReadOnly(one)) ?? error;
        }
      }
    },
  };
}

/** Whether another host may respond instead. Refused credentials, or TLS, need an operator. */
function isGone(error: unknown): boolean {
  if (error instanceof Error && error.message === POOL_IS_FULL) return false;
  return databaseFault(error)?.kind === 'unavailable';
}

function isReadOnly(error: unknown): boolean {
  return databaseFault(error)?.code === READ_ONLY;
}
