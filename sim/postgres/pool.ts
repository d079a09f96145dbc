import type { Pool } from '../../sql/database/pool.ts';
import type { Network } from '../world/network.ts';
import { world } from '../world/world.ts';
import type { Database } from './database.ts';
import { sqlError } from './locks.ts';
import type { Result, Session } from './session.ts';

type Query = string | { text: string; values?: readonly unknown[] };

/** Returns what a process has in place of a pool of `pg`: its way to the database. */
export function createPool(database: Database, network: Network): Pool {
  const pool = {
    async query(query: Query, values?: readonly unknown[]): Promise<Result> {
      const client = world().current;
      return ask(query, values, async (sql, parameters) => {
        const session = database.connect(client);
        try {
          return await session.query(sql, parameters);
        } finally {
          session.end();
        }
      });
    },

    async connect() {
      world().beforeOperation();
      const client = world().current;
      const end = (session: Session) => session.end();
      const session = await network.ask(async () => database.connect(client), end);
      let isBroken = false;
      return {
        async query(query: Query, parameters?: readonly unknown[]): Promise<Result> {
          if (isBroken) throw sqlError('08006', 'the connection is broken');
          try {
            return await ask(query, parameters, (sql, given) => session.query(sql, given));
          } catch (error) {
            // Without a code it is none of PostgreSQL's: the connection was lost, and with it the transaction.
            if (!(error instanceof Error && 'code' in error)) {
              isBroken = true;
              network.later(() => session.end());
            }
            throw error;
          }
        },
        release: () => session.end(),
      };
    },
  };

  function ask(
    query: Query,
    values: readonly unknown[] | undefined,
    run: (sql: string, parameters: readonly unknown[]) => Promise<Result>,
  ): Promise<Result> {
    world().beforeOperation();
    const [sql, parameters] =
      typeof query === 'string' ? [query, values ?? []] : [query.text, query.values ?? values ?? []];
    return network.ask(() => run(sql, parameters));
  }

  return pool as unknown as Pool;
}
