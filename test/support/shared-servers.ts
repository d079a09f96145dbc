import { inject } from 'vitest';
import { createClickHouse } from '../../clickhouse/client.ts';
import { createPool } from '../../sql/database/pool.ts';
import { LIMIT_MS } from './until.ts';

/** Runs statements in order on the PostgreSQL server that the whole test run shares, outside of the tests' databases. */
export async function onPostgres(...statements: string[]): Promise<void> {
  const pool = createPool(inject('databaseUrl'), {
    max: 1,
    connectTimeoutMs: LIMIT_MS,
    statementTimeoutMs: LIMIT_MS,
  });
  try {
    for (const statement of statements) await pool.query(statement);
  } finally {
    await pool.end();
  }
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
