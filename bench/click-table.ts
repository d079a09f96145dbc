import { parseArgs } from 'node:util';
import { type ClickHouseClient, createClickHouse } from '../clickhouse/client.ts';
import { withClickHouse } from './clickhouse-server.ts';
import { generateClicks, WORKSPACES } from './generate-clicks.ts';

/**
 * Compares layouts of the table of clicks: sort order, codecs, skip indexes. Each layout gets the same generated clicks
 * and queries. Prints bytes per row and milliseconds, the best of the runs.
 *
 *   node bench/click-table.ts [--url http://…] [--rows 10000000] [--runs 5]
 *
 * Uses an embedded server, or the given one with the database `hoplog_bench_layout`, which it drops at the end.
 */

const DATABASE = 'hoplog_bench_layout';
const UNTIL = '2026-11-21';

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    rows: { type: 'string', default: '10000000' },
    runs: { type: 'string', default: '5' },
  },
});

type Layout = {
  name: string;
  orderBy: string;
  /** Codec per column; others use ClickHouse's default (LZ4). */
  codecs: Partial<Record<'ts' | 'link_id' | 'visitor_id' | 'referer' | 'sequence', string>>;
  indexes: string[];
};

const BLOOM = [
  'INDEX by_link link_id TYPE bloom_filter(0.01) GRANULARITY 1',
  'INDEX by_visitor visitor_id TYPE bloom_filter(0.01) GRANULARITY 1',
];
const CODECS = {
  ts: 'DoubleDelta, ZSTD(1)',
  link_id: 'ZSTD(1)',
  visitor_id: 'NONE',
  referer: 'ZSTD(1)',
  sequence: 'Delta, ZSTD(1)',
};

const LAYOUTS: Layout[] = [
  { name: 'workspace, ts (chosen)', orderBy: 'workspace_id, ts', codecs: CODECS, indexes: BLOOM },
  { name: 'workspace, ts; no indexes', orderBy: 'workspace_id, ts', codecs: CODECS, indexes: [] },
  {
    name: 'workspace, ts; bloom over 4 granules',
    orderBy: 'workspace_id, ts',
    codecs: CODECS,
    indexes: BLOOM.map((index) => index.replace('GRANULARITY 1', 'GRANULARITY 4')),
  },
  { name: 'workspace, ts; LZ4 everywhere', orderBy: 'workspace_id, ts', codecs: {}, indexes: BLOOM },
  {
    name: 'workspace, ts; ZSTD everywhere',
    orderBy: 'workspace_id, ts',
    codecs: {
      ts: 'ZSTD(1)',
      link_id: 'ZSTD(1)',
      visitor_id: 'ZSTD(1)',
      referer: 'ZSTD(1)',
      sequence: 'ZSTD(1)',
    },
    indexes: BLOOM,
  },
  {
    name: 'workspace, ts; Delta for ts',
    orderBy: 'workspace_id, ts',
    codecs: { ...CODECS, ts: 'Delta, ZSTD(1)' },
    indexes: BLOOM,
  },
  { name: 'workspace, link, ts', orderBy: 'workspace_id, link_id, ts', codecs: CODECS, indexes: BLOOM },
  {
    name: 'workspace, day, link, ts',
    orderBy: 'workspace_id, toDate(ts), link_id, ts',
    codecs: CODECS,
    indexes: BLOOM,
  },
];

const QUERIES: { name: string; sql: string }[] = [
  {
    name: 'newest 100',
    sql: `SELECT * FROM clicks WHERE workspace_id = {half:UUID} AND ts < {until:DateTime64(9, 'UTC')} AND NOT is_bot
          ORDER BY ts DESC LIMIT 101`,
  },
  {
    name: '500 links, last hour',
    sql: `SELECT * FROM clicks WHERE workspace_id = {half:UUID} AND ts >= {until:DateTime64(9, 'UTC')} - INTERVAL 1 HOUR
          AND link_id IN {links:Array(UUID)} AND NOT is_bot ORDER BY ts DESC LIMIT 101`,
  },
  {
    name: 'newest 100 of a cold link',
    sql: `SELECT * FROM clicks WHERE workspace_id = {half:UUID} AND link_id = {cold:UUID} AND NOT is_bot
          ORDER BY ts DESC LIMIT 101`,
  },
  {
    name: 'a visitor',
    sql: `SELECT ts, channel, link_id FROM clicks WHERE workspace_id = {half:UUID} AND visitor_id = {visitor:UUID}
          ORDER BY ts DESC LIMIT 10000`,
  },
  {
    name: 'channels, 30 days',
    sql: `SELECT channel, count(), uniqExact(visitor_id) FROM clicks WHERE workspace_id = {half:UUID}
          AND ts >= {until:DateTime64(9, 'UTC')} - INTERVAL 30 DAY AND NOT is_bot GROUP BY channel`,
  },
  {
    name: 'links, 30 days',
    sql: `SELECT link_id, count(), uniqExact(visitor_id) FROM clicks WHERE workspace_id = {half:UUID}
          AND ts >= {until:DateTime64(9, 'UTC')} - INTERVAL 30 DAY AND NOT is_bot GROUP BY link_id`,
  },
  {
    name: 'channels, 30 days, small',
    sql: `SELECT channel, count(), uniqExact(visitor_id) FROM clicks WHERE workspace_id = {small:UUID}
          AND ts >= {until:DateTime64(9, 'UTC')} - INTERVAL 30 DAY AND NOT is_bot GROUP BY channel`,
  },
];

async function measure(url: string): Promise<void> {
  const client = createClickHouse({ url, database: DATABASE });
  const server = createClickHouse({ url, database: 'default' });
  await server.command({ query: `DROP DATABASE IF EXISTS ${DATABASE} SYNC` });
  await server.command({ query: `CREATE DATABASE ${DATABASE} ENGINE = Atomic` });
  print(['layout', 'bytes a row', ...QUERIES.map((query) => query.name)]);
  print(['---', '--:', ...QUERIES.map(() => '--:')]);
  try {
    for (const layout of LAYOUTS) {
      await createTable(client, layout);
      await generateClicks(client, {
        table: `${DATABASE}.clicks`,
        rows: Number(values.rows),
        days: 90,
        until: UNTIL,
      });
      print([layout.name, await bytesPerRow(client), ...(await timings(client, Number(values.runs)))]);
      await client.command({ query: 'DROP TABLE clicks SYNC' });
    }
  } finally {
    await server.command({ query: `DROP DATABASE IF EXISTS ${DATABASE} SYNC` });
    await client.close();
    await server.close();
  }
}

function print(cells: (string | number)[]): void {
  process.stdout.write(`| ${cells.join(' | ')} |\n`);
}

async function createTable(client: ClickHouseClient, layout: Layout): Promise<void> {
  const codec = (column: keyof Layout['codecs']) => {
    const chain = layout.codecs[column];
    return chain ? `CODEC(${chain})` : '';
  };
  await client.command({
    query: `CREATE TABLE clicks (
      workspace_id UUID,
      ts DateTime64(9, 'UTC') ${codec('ts')},
      link_id UUID ${codec('link_id')},
      visitor_id UUID ${codec('visitor_id')},
      channel LowCardinality(String),
      country LowCardinality(String),
      city LowCardinality(String),
      device LowCardinality(String),
      browser LowCardinality(String),
      os LowCardinality(String),
      referer String ${codec('referer')},
      is_bot Bool,
      sequence UInt64 ${codec('sequence')}
      ${layout.indexes.map((index) => `, ${index}`).join('')}
    ) ENGINE = MergeTree PARTITION BY toYYYYMM(ts) ORDER BY (${layout.orderBy})`,
  });
}

async function bytesPerRow(client: ClickHouseClient): Promise<number> {
  const result = await client.query({
    query: `SELECT round(sum(bytes_on_disk) / sum(rows), 1) AS bytes FROM system.parts
            WHERE database = {database:String} AND table = 'clicks' AND active`,
    query_params: { database: DATABASE },
    format: 'JSONEachRow',
  });
  const [found] = await result.json<{ bytes: number }>();
  return found?.bytes ?? 0;
}

/** Returns the shortest client-side time of each query in milliseconds, without the first run. */
async function timings(client: ClickHouseClient, runs: number): Promise<number[]> {
  const samples = await client.query({
    query: `SELECT groupArray(link_id) AS links, argMin(link_id, n) AS cold,
              (SELECT any(visitor_id) FROM clicks WHERE workspace_id = {half:UUID} AND sequence % 1000 = 7) AS visitor
            FROM (SELECT link_id, count() AS n FROM clicks WHERE workspace_id = {half:UUID}
                  GROUP BY link_id ORDER BY n DESC LIMIT 9000) WHERE cityHash64(link_id) % 18 = 0`,
    query_params: { half: WORKSPACES.half },
    format: 'JSONEachRow',
  });
  const [sample] = await samples.json<{ links: string[]; cold: string; visitor: string }>();
  if (!sample) throw new Error('no clicks were generated');
  const times: number[] = [];
  for (const { sql } of QUERIES) {
    let least = Number.POSITIVE_INFINITY;
    for (let run = 0; run <= runs; run++) {
      const start = performance.now();
      const result = await client.query({
        query: sql,
        query_params: { ...WORKSPACES, ...sample, until: `${UNTIL} 00:00:00` },
        format: 'JSONCompactEachRow',
      });
      await result.text();
      if (run > 0) least = Math.min(least, performance.now() - start);
    }
    times.push(Math.round(least));
  }
  return times;
}

await withClickHouse(values.url, measure);
