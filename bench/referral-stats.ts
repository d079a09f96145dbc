import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Registry } from 'prom-client';
import { createApi } from '../api/app.ts';
import { startEmbeddedClickHouse } from '../cli/embedded/clickhouse.ts';
import { startEmbeddedPostgres } from '../cli/embedded/postgres.ts';
import { type ClickHouseClient, createClickHouse } from '../clickhouse/client.ts';
import { migrate as migrateClickHouse } from '../clickhouse/migrate.ts';
import { rollUp } from '../clickhouse/rollups/roll-up.ts';
import type { EventLogWriter } from '../core/event-log/port.ts';
import { readConfig } from '../core/settings/config.ts';
import { createLogger, silentLogger } from '../core/tier/log.ts';
import { migrate } from '../sql/database/migrate.ts';
import { createPool, type Pool } from '../sql/database/pool.ts';
import { createKey } from '../sql/workspaces/keys.ts';
import { createWorkspace } from '../sql/workspaces/workspaces.ts';

/**
 * Measures `GET /referrals/stats` over HTTP for an enrollment with many clicks, signups, and purchases, in a workspace
 * where other referrers have more.
 *
 *   node bench/referral-stats.ts [--clicks 100000] [--others 900000] [--referees 500] [--requests 1000]
 *     [--at-once 1]
 *
 * Closed days have roll-ups. Uses temporary embedded servers, durable as in production.
 */

const DATABASE = 'hoplog_bench_referrals';
const DAYS = 90;

const { values } = parseArgs({
  options: {
    clicks: { type: 'string', default: '100000' },
    others: { type: 'string', default: '900000' },
    referees: { type: 'string', default: '500' },
    requests: { type: 'string', default: '1000' },
    'at-once': { type: 'string', default: '1' },
  },
});
const [clicks, others, referees, requests, atOnce] = [
  values.clicks,
  values.others,
  values.referees,
  values.requests,
  values['at-once'],
].map(Number) as [number, number, number, number, number];

/** Rejects writes: stats write no events. */
const noEventLog: EventLogWriter = {
  stream: { streamId: '00000000-0000-7000-8000-000000000000', ordinal: 0 },
  append: () => {
    throw new Error('an event was written: stats must not write events');
  },
  flush: () => undefined,
  fill: () => 0,
  loss: () => null,
  ready: () => true,
  close: async () => undefined,
};

type Ask = <T>(method: 'GET' | 'POST', path: string, body?: object) => Promise<T>;

const dataDir = mkdtempSync(join(tmpdir(), 'hoplog-bench-'));
const log = createLogger('bench', 'error');
const postgres = await startEmbeddedPostgres({ dataDir, log });
const server = await startEmbeddedClickHouse({ dataDir, log });
try {
  const pool = createPool(postgres.url, { max: 20 });
  await migrate(pool);
  const client = createClickHouse({ url: server.url, database: 'default' });
  await migrateClickHouse(client, { database: DATABASE });
  await client.close();
  const clickhouse = createClickHouse({ url: server.url, database: DATABASE });
  const app = await createApi({
    config: readConfig({}),
    pool,
    clickhouse,
    eventLog: noEventLog,
    log: silentLogger(),
    registry: new Registry(),
  });
  const origin = await app.listen({ port: 0, host: '127.0.0.1' });
  await measure(origin, pool, clickhouse);
  await app.close();
  await clickhouse.close();
  await pool.end();
} finally {
  await Promise.all([server.stop(), postgres.stop()]);
  rmSync(dataDir, { recursive: true, force: true });
}

async function measure(origin: string, pool: Pool, clickhouse: ClickHouseClient): Promise<void> {
  const workspace = await createWorkspace(pool, { name: 'Bench', plan: 'unlimited' });
  const { token } = await createKey(pool, { workspaceId: workspace.id, kind: 'secret', label: 'bench' });
  const ask: Ask = async (method, path, body) => {
    const response = await fetch(`${origin}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(await response.text());
    return (await response.json()) as Awaited<ReturnType<Ask>> as never;
  };
  await fill(ask, pool, clickhouse, workspace.id);
  const times: number[] = [];
  const one = async () => {
    const start = performance.now();
    await ask('GET', '/referrals/stats?external_user_id=star&days=90');
    times.push(performance.now() - start);
  };
  for (let warm = 0; warm < 50; warm++) await one();
  times.length = 0;
  const lanes = Array.from({ length: atOnce }, async () => {
    for (let request = 0; request < requests / atOnce; request++) await one();
  });
  await Promise.all(lanes);
  const { stats } = await ask<{ stats: object }>('GET', '/referrals/stats?external_user_id=star&days=90');
  report(times, stats);
}

async function fill(ask: Ask, pool: Pool, clickhouse: ClickHouseClient, workspaceId: string): Promise<void> {
  await ask('POST', '/programs', {
    name: 'Bench',
    destination_url: 'https://shop.example/join',
    commission_rate: 20,
    hold_days: 0,
  });
  for (const user of ['star', 'other']) {
    await ask('POST', '/referrals/enroll', {
      email: `${user}@mail.example`,
      external_user_id: user,
      tier: 'free',
    });
  }
  for (let n = 0; n < referees; n++) {
    const referral = { new_user_external_user_id: `n${n}`, referrer_external_user_id: 'star' };
    await ask('POST', '/referrals/report-signup', referral);
    await ask('POST', '/referrals/report-purchase', {
      external_user_id: `n${n}`,
      order_id: `o${n}`,
      amount: 19.99,
    });
  }
  const { rows } = await pool.query<{ link_id: string; user: string }>(
    'SELECT link_id, external_user_id AS user FROM referral_links JOIN enrollments e ON e.id = enrollment_id',
  );
  const linkOf = (user: string) => rows.find((row) => row.user === user)?.link_id ?? '';
  const all = clicks + others;
  // The clicks of the measured referrer are spread among the others.
  await clickhouse.command({
    query: `INSERT INTO clicks (workspace_id, ts, link_id, visitor_id, channel, country, is_bot, sequence)
      SELECT {workspace:UUID}, now64(9) - toIntervalMicrosecond(intDiv({days:UInt64} * 86400000000, {all:UInt64}) * number),
        if(cityHash64(number) % {all:UInt64} < {clicks:UInt64}, {star:UUID}, {other:UUID}), generateUUIDv4(),
        'referral', 'DE', 0, number
      FROM numbers({all:UInt64})`,
    query_params: {
      workspace: workspaceId,
      days: DAYS - 1,
      all,
      clicks,
      star: linkOf('star'),
      other: linkOf('other'),
    },
    clickhouse_settings: { max_partitions_per_insert_block: '1000' },
  });
  // Like the workers, leaves today without a roll-up.
  await rollUp(clickhouse, new Date().toISOString().slice(0, 10));
}

function report(times: number[], stats: object): void {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): string =>
    (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN).toFixed(1);
  process.stdout.write(`${JSON.stringify(stats)}\n`);
  process.stdout.write(
    '| requests | at once | fastest ms | p50 ms | p95 ms | p99 ms | slowest ms |\n|---|---|---|---|---|---|---|\n',
  );
  process.stdout.write(
    `| ${sorted.length} | ${atOnce} | ${at(0)} | ${at(0.5)} | ${at(0.95)} | ${at(0.99)} | ${at(1)} |\n`,
  );
}
