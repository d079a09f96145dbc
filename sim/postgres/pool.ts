import type { Pool } from '../../sql/database/pool.ts';
import type { Network } from '../world/network.ts';
import { type Process, world } from '../world/world.ts';
import { sqlError } from './locks.ts';

type Query = string | { text: string; values?: readonly unknown[]; name?: string };
type Result = { rows: unknown[]; rowCount: number | null };
type Session = {
  /** @param name of a statement that is prepared once */
  query(sql: string, parameters: readonly unknown[], name?: string): Promise<Result>;
  end(): void;
};

/** A server: in memory, or the real one. */
export type DatabaseServer = {
  /** Opens a connection of a process. @throws while the server is down */
  connect(client: Process): Session | Promise<Session>;
};

/** Returns what a process has in place of a pool of `pg`: its way to the database. */
export function createPool(database: DatabaseServer, network: Network): Pool {
  const pool = {
    async query(query: Query, values?: readonly unknown[]): Promise<Result> {
      const client = world().current;
      return ask(query, values, async (sql, parameters, name) => {
        const session = await database.connect(client);
        try {
          return await session.query(sql, parameters, name);
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
            return await ask(query, parameters, (sql, given, name) => session.query(sql, given, name));
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
    run: (sql: string, parameters: readonly unknown[], name?: string) => Promise<Result>,
  ): Promise<Result> {
    world().beforeOperation();
    const [sql, parameters] =
      typeof query === 'string' ? [query, values ?? []] : [query.text, query.values ?? values ?? []];
    return network.ask(() => run(sql, parameters, typeof query === 'string' ? undefined : query.name));
  }

  return pool as unknown as Pool;
}
