import type { Config } from '../../core/settings/config.ts';
import { connectionCounts } from '../../sql/database/connection-counts.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { poolingOf } from '../../sql/database/pooler.ts';
import { type Finding, findingsOf } from './finding.ts';

/**
 * Connections of one process of ingest besides its pool: it reads all links on one, and listens for changes on another.
 */
const LINK_CONNECTIONS = 2;
/** Connections of `hoplog` commands and a migration. */
const COMMAND_CONNECTIONS = 4;

/** Checks that PostgreSQL accepts all connections that the running processes may open. */
export async function checkPools(
  pool: Pool,
  { databasePools }: Pick<Config, 'databasePools'>,
): Promise<Finding[]> {
  const { ok, error } = findingsOf('databases');
  // Behind a pooler, the pooler's limit counts. When PostgreSQL is down, the check of its clock reports it.
  const pooling = await poolingOf(pool).catch(() => null);
  if (pooling !== 'none') return [];
  const { accepted, processes, others } = await connectionCounts(pool);
  const each = { ...databasePools, ingest: databasePools.ingest + LINK_CONNECTIONS };
  const sums = (['ingest', 'workers', 'api'] as const).map((tier) => ({
    text: `${processes[tier]} ${tier} x ${each[tier]}`,
    count: processes[tier] * each[tier],
  }));
  const needed = sums.reduce((sum, { count }) => sum + count, others + COMMAND_CONNECTIONS);
  const terms = [
    ...sums.map(({ text }) => text),
    `${others} of other programs`,
    `${COMMAND_CONNECTIONS} of commands`,
  ];
  const text = `PostgreSQL accepts ${accepted} connections, and ${needed} may be opened: ${terms.join(', ')}`;
  if (needed <= accepted) return [ok(text)];
  return [
    error(
      text,
      'raise max_connections of PostgreSQL, lower DATABASE_POOL_INGEST, DATABASE_POOL_WORKERS, or DATABASE_POOL_API, or use a pooler; see docs/operations/sizing.md',
    ),
  ];
}
