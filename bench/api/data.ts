import type { ClickHouseClient } from '../../clickhouse/client.ts';
import { PROGRESS_HEADERS, runQuery } from '../../clickhouse/queries/run-query.ts';
import { rollUp } from '../../clickhouse/rollups/roll-up.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { generateClicks, WORKSPACES } from '../generate-clicks.ts';
import { progress } from '../harness/bench.ts';

const DAYS = 365;
const CHUNK_ROWS = 10_000_000;
/** Human clicks per order. */
const CLICKS_AN_ORDER = 100;
const DAY_MS = 86_400_000;
/** Tolerated deviation of the kept data; a larger one means that another run created them. */
const OTHER_SIZE = 0.3;
const FILL_SECONDS = 3_600;
/** Longest wait for merges after a fill. */
const MERGES_MS = 1_800_000;

/**
 * Fills ClickHouse with clicks of the year up to now, with orders and roll-ups, and waits for merges. Reuses data of an
 * earlier run and fills the time since.
 *
 * @returns the time of the newest click, milliseconds since the epoch
 */
export async function bringToNow(
  client: ClickHouseClient,
  database: string,
  clicks: number,
): Promise<number> {
  const now = Math.floor(Date.now() / 1_000) * 1_000;
  const [found] = await runQuery<{ rows: string; next: string; newest: string }>(client, {
    sql: `SELECT count() AS rows, max(sequence) + 1 AS next, toUnixTimestamp64Milli(max(ts)) AS newest FROM clicks`,
    params: {},
    seconds: FILL_SECONDS,
  });
  const there = Number(found?.rows ?? 0);
  if (there > 0 && Math.abs(there / clicks - 1) > OTHER_SIZE) {
    throw new Error(`--keep: the directory has ${there} clicks: must have about ${clicks}`);
  }
  const from = there === 0 ? now - DAYS * DAY_MS : Number(found?.newest) + 1_000;
  const days = (now - from) / DAY_MS;
  let missing = Math.floor((clicks * days) / DAYS);
  let first = there === 0 ? 0 : Number(found?.next);
  const chunkDays = (DAYS * CHUNK_ROWS) / clicks;
  for (let end = from; missing > 0; ) {
    const rows = Math.min(missing, CHUNK_ROWS);
    end = missing === rows ? now : end + chunkDays * DAY_MS;
    progress(`filling ${rows.toLocaleString('en')} clicks, ${missing.toLocaleString('en')} to go`);
    await generateClicks(client, {
      table: `${database}.clicks`,
      rows,
      days: Math.min(days, chunkDays, (end - from) / DAY_MS),
      until: new Date(end).toISOString().slice(0, 19).replace('T', ' '),
      first,
      population: clicks,
    });
    await addOrders(client, first);
    first += rows;
    missing -= rows;
  }
  progress('rolling up');
  await rollUp(client, new Date(now).toISOString().slice(0, 10));
  progress('waiting for merges');
  await untilQuiet(client);
  return now;
}

/**
 * Adds orders, attributed shares, and emails for the clicks from `first` on. A quarter of the orders come from the
 * pixel first and then from a server, which replaces their shares.
 */
async function addOrders(client: ClickHouseClient, first: number): Promise<void> {
  const buyers = `FROM clicks WHERE sequence >= {first:UInt64} AND NOT is_bot
    AND cityHash64(sequence, 11) % ${CLICKS_AN_ORDER} = 0`;
  const order = 'toString(sequence)';
  const email = "concat('visitor-', lower(hex(cityHash64(visitor_id))), '@mail.example')";
  // Within a minute of the click, like a worker's rows.
  const written = 'toDateTime(ts) + INTERVAL 1 MINUTE';
  const amount = '500 + cityHash64(sequence, 12) % 10000';
  const credits = `INSERT INTO attributed_shares (workspace_id, ts, order_id, version, part, link_id, channel, share,
    amount_minor, first_channel, replaced, written) SELECT workspace_id`;
  const fills = [
    `INSERT INTO orders (workspace_id, order_id, version, ts, visitor_id, email, external_user_id, amount_minor,
       currency) SELECT workspace_id, ${order}, 1, ts, visitor_id, ${email}, '', ${amount}, 'usd' ${buyers}`,
    `${credits}, ts, ${order}, 2, 0, link_id, channel, 1, ${amount}, channel, false, ${written} ${buyers}`,
    `${credits}, ts - INTERVAL 3 SECOND, ${order}, 1, 0, link_id, channel, 1, ${amount}, channel, arrayJoin([false, true]),
       ${written} ${buyers} AND cityHash64(sequence, 13) % 4 = 0`,
    `INSERT INTO identifies (workspace_id, visitor_id, ts, email, external_user_id, sequence)
       SELECT workspace_id, visitor_id, ts, ${email}, '', sequence ${buyers}`,
  ];
  for (const fill of fills) {
    await client.command({
      query: fill,
      query_params: { first },
      clickhouse_settings: { ...PROGRESS_HEADERS, max_execution_time: FILL_SECONDS, wait_end_of_query: 1 },
    });
  }
}

async function untilQuiet(client: ClickHouseClient): Promise<void> {
  for (const end = Date.now() + MERGES_MS; Date.now() < end; ) {
    const [row] = await runQuery<{ n: string }>(client, {
      sql: 'SELECT count() AS n FROM system.merges',
      params: {},
      seconds: 60,
    });
    if (row?.n === '0') return;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

/** Adds the two measured workspaces, with the records that the API reads. */
export async function addRecords(client: ClickHouseClient, pool: Pool): Promise<void> {
  for (const [name, id] of Object.entries({ half: WORKSPACES.half, hundredth: WORKSPACES.hundredth })) {
    const { rowCount } = await pool.query(
      `INSERT INTO workspaces (id, name, slug, plan) VALUES ($1, $2, $2, 'unlimited') ON CONFLICT DO NOTHING`,
      [id, name],
    );
    if (rowCount === 0) continue;
    const links = await runQuery<{ link_id: string; channel: string }>(client, {
      sql: 'SELECT link_id, any(channel) AS channel FROM clicks WHERE workspace_id = {workspace:UUID} GROUP BY link_id',
      params: { workspace: id },
      seconds: FILL_SECONDS,
    });
    await pool.query(
      `WITH given AS (SELECT link, channel, n, gen_random_uuid() AS campaign, $4 || '-' || n AS slug
         FROM unnest($2::uuid[], $3::text[]) WITH ORDINALITY AS g (link, channel, n)),
       campaigns AS (INSERT INTO destinations (id, workspace_id, name, destination_url)
         SELECT campaign, $1, 'Campaign', 'https://www.example.com/landing-' || n FROM given),
       named AS (INSERT INTO slugs (slug, kind, target_id, workspace_id) SELECT slug, 'link', link, $1 FROM given)
       INSERT INTO links (id, workspace_id, destination_id, slug, channel, created_at, updated_at)
       SELECT link, $1, campaign, slug, channel, now() + n * interval '1 microsecond', now() FROM given`,
      [id, links.map(({ link_id }) => link_id), links.map(({ channel }) => channel), name],
    );
  }
}
