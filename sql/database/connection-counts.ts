import type { Queryable } from './pool.ts';

export type ConnectionCounts = {
  /** Connections that PostgreSQL accepts of this role: the least of the limits of server, database, and role. */
  accepted: number;
  /** Processes of each tier that are connected now. Processes of the API on one address count once. */
  processes: Record<'ingest' | 'workers' | 'api', number>;
  /** Connections of other programs now. */
  others: number;
};

/** Returns how PostgreSQL's connections are used. Call it without a pooler, which has connections of its own. */
export async function connectionCounts(db: Queryable): Promise<ConnectionCounts> {
  const { rows } = await db.query<{
    accepted: number;
    ingest: number;
    workers: number;
    api: number;
    others: number;
  }>(
    `WITH clients AS (
       SELECT application_name AS name, client_addr, query FROM pg_stat_activity WHERE datname IS NOT NULL
     ), limits AS (
       SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
         - coalesce(current_setting('reserved_connections', true), '0')::int AS most
       UNION ALL SELECT datconnlimit FROM pg_database WHERE datname = current_database()
       UNION ALL SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user
     )
     SELECT (SELECT min(most) FROM limits WHERE most >= 0) AS accepted,
            -- Each process of ingest listens on one connection.
            (SELECT count(*) FROM clients WHERE name = 'hoplog-ingest-links' AND query LIKE 'LISTEN %') AS ingest,
            (SELECT count(DISTINCT holder) FROM live_workers WHERE live_until > clock_timestamp()) AS workers,
            (SELECT count(DISTINCT client_addr) FROM clients WHERE name = 'hoplog-api') AS api,
            (SELECT count(*) FROM clients WHERE coalesce(name, '') NOT LIKE 'hoplog%') AS others`,
  );
  const { accepted = 0, others = 0, ...processes } = rows[0] ?? { ingest: 0, workers: 0, api: 0 };
  return { accepted, others, processes };
}
