import { inject } from 'vitest';
import { createClickHouse } from '../../clickhouse/client.ts';
import { createPool, type Pool } from '../../sql/database/pool.ts';
import { LIMIT_MS } from './until.ts';

/** Shared by all files of this process: otherwise each file would open two more connections. */
let shared: Pool | undefined;

/**
 * Runs statements in order on the PostgreSQL server that the whole test run shares, outside of the tests' databases.
 */
export async function onPostgres(...statements: string[]): Promise<void> {
  shared ??= createPool(inject('databaseUrl'), {
    max: 1,
    connectTimeoutMs: LIMIT_MS,
    statementTimeoutMs: LIMIT_MS,
  });
  for (const statement of statements) await shared.query(statement);
}

/** Like {@link onPostgres}, on the ClickHouse server. */
export async function onClickHouse(...statements: string[]): Promise<void> {
  const client = createClickHouse({ url: inject('clickhouseUrl'), database: 'default' });
  try {
    for (const query of statements) await client.command({ query });
  } finally {
    await client.close();
  }
}
