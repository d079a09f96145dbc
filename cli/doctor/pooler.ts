import type { Config } from '../../core/settings/config.ts';
import { createPool, type Pool } from '../../sql/database/pool.ts';
import { type Pooling, poolingOf } from '../../sql/database/pooler.ts';
import { type Finding, findingsOf } from './finding.ts';

const TIMEOUT_MS = 3_000;

/** Checks the connection to PostgreSQL: direct, or through a pooler that the settings name. */
export async function checkPooler(
  config: Pick<Config, 'databaseUrl' | 'databaseDirectUrl'>,
): Promise<Finding[]> {
  const { ok, error } = findingsOf('pooler');
  const { databaseUrl, databaseDirectUrl } = config;
  const pool = open(databaseUrl);
  const direct = open(databaseDirectUrl);
  try {
    // When PostgreSQL is down, the check of its clock reports it.
    const pooling = await poolingOf(pool).catch(() => null);
    if (pooling === null || pooling === 'none') return [];
    const ofDirect: Pooling | null = await poolingOf(direct).catch(() => null);
    const fix =
      'set DATABASE_DIRECT_URL to the address of PostgreSQL itself; see docs/operations/pgbouncer.md';
    if (ofDirect === null) return [error('DATABASE_DIRECT_URL does not respond', fix)];
    const limits = await checkLimit(pool);
    if (ofDirect !== 'transaction') return [ok(`DATABASE_URL is a pooler of ${pooling}s`), ...limits];
    const setting = databaseDirectUrl === databaseUrl ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL';
    return [
      error(
        `${setting} is a pooler in transaction mode, where notifications of link changes do not arrive and migrations are refused`,
        fix,
      ),
      ...limits,
    ];
  } finally {
    await Promise.all([pool.end(), direct.end()]);
  }
}

const open = (url: string) =>
  createPool(url, { max: 2, connectTimeoutMs: TIMEOUT_MS, statementTimeoutMs: TIMEOUT_MS });

/** Checks the role's limit: behind a pooler only that one ends a statement outside of a transaction. */
async function checkLimit(pool: Pool): Promise<Finding[]> {
  const { warning } = findingsOf('pooler');
  const { rows } = await pool.query<{ role: string; limit: string }>(
    `SELECT current_user AS role, current_setting('statement_timeout') AS limit`,
  );
  const [found] = rows;
  if (found?.limit !== '0') return [];
  return [
    warning(
      `the role ${found.role} has no statement_timeout, and a pooler is between it and this service: statements have no limit`,
      `npx hoplog migrate, or ALTER ROLE ${found.role} SET statement_timeout = '30s'; then reconnect the pooler`,
    ),
  ];
}
