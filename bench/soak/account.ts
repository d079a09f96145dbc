import { createClickHouse } from '../../clickhouse/client.ts';
import { createPool } from '../../sql/database/pool.ts';
import type { Asked } from './load.ts';
import { DATABASE, type Parts } from './parts.ts';
import type { Poller } from './poller.ts';

/** Result of the count of visitors. */
export type Account = {
  /** Redirected, but not in ClickHouse. */
  lost: string[];
  /** In ClickHouse more than once. */
  double: string[];
  stored: number;
  /** Redirected, but never received by the poller. */
  missed: string[];
  deadLetters: number;
};

/** Counts every visitor in ClickHouse and in the polls. Call it after all clicks are stored. */
export async function account(parts: Parts, asked: Asked, poller: Poller): Promise<Account> {
  const stored = await storedVisitors(parts);
  const answered = [...asked.answered.keys()];
  return {
    lost: answered.filter((visitor) => !stored.has(visitor)),
    double: [...stored].filter(([, count]) => count > 1).map(([visitor]) => visitor),
    stored: [...stored.values()].reduce((sum, count) => sum + count, 0),
    missed: answered.filter((visitor) => !poller.seen.has(visitor)),
    deadLetters: await deadLetters(parts),
  };
}

async function storedVisitors({ clickhouse }: Parts): Promise<Map<string, number>> {
  const client = createClickHouse({ url: clickhouse.url, database: DATABASE, timeoutMs: 120_000 });
  try {
    const result = await client.query({
      query: 'SELECT visitor_id, count() AS clicks FROM clicks GROUP BY visitor_id',
      format: 'JSONEachRow',
    });
    const stored = new Map<string, number>();
    for await (const rows of result.stream<{ visitor_id: string; clicks: string }>()) {
      for (const row of rows) {
        const { visitor_id, clicks } = row.json();
        stored.set(visitor_id, Number(clicks));
      }
    }
    return stored;
  } finally {
    await client.close();
  }
}

async function deadLetters({ postgres }: Parts): Promise<number> {
  const pool = createPool(postgres.url, { max: 1 });
  try {
    const { rows } = await pool.query<{ letters: string }>('SELECT count(*) AS letters FROM dead_letters');
    return Number(rows[0]?.letters);
  } finally {
    await pool.end();
  }
}
