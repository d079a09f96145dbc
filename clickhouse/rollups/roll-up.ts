import type { ClickHouseClient } from '../client.ts';
import { PROGRESS_HEADERS, runQuery } from '../queries/run-query.ts';
import { FILL_CLICKS_BY_VISITOR } from './clicks-by-visitor.ts';
import { ON_DAY, type RolledUpPeriod, rolledUpPeriods, setRolledUp } from './periods.ts';

/** Longest time that one period may take, in seconds. */
const SECONDS = 600;
/** A month of a busy deployment has many states: what does not fit is put on disk. The redirects go first. */
const SETTINGS = {
  max_execution_time: SECONDS,
  max_threads: 2,
  max_bytes_before_external_group_by: '1073741824',
};
/** How long the rows of a generation that no longer stands are kept for reports under way, in microseconds. */
const KEPT_MICROS = 3_600_000_000n;

/** What a pass has done: the periods that it made, and the days it looked at. */
export type RollUpOutcome = { days: number; made: string[] };

/** How many clicks a day has, and a sum over which they are: as many come late as are erased between two passes. */
type DayClicks = { people: number; withBots: number; fingerprint: bigint };

const NO_CLICKS: Readonly<DayClicks> = { people: 0, withBots: 0, fingerprint: 0n };

/**
 * Brings the roll-ups up to date: a day that has ended, and whose clicks are not those that stand rolled
 * up, is made (again), then its month if that has ended. So days are added as they close, and what was erased, or
 * came from a stream after it had been retired, is put right with the next pass. Cut off anywhere, it leaves rows
 * that do not stand; two passes at once make the same thing twice. The oldest day comes first, and none is passed over:
 * `byVisitorParams` goes by that.
 *
 * @param closed `YYYY-MM-DD`: the watermark has passed every day before it
 * @param now milliseconds since the epoch
 */
export async function rollUp(
  client: ClickHouseClient,
  closed: string,
  now = Date.now(),
): Promise<RollUpOutcome> {
  const standing = await rolledUpPeriods(client);
  const clicks = await clicksByDay(client, closed);
  const outcome: RollUpOutcome = { days: clicks.size, made: [] };

  async function make(
    period: RolledUpPeriod['period'],
    start: string,
    fill: Fill,
    { byVisitor, fingerprint }: { byVisitor: number; fingerprint: bigint },
  ): Promise<void> {
    const generation = nextGeneration();
    const clicks = await fill(client, { generation, start });
    const made = { generation: String(generation), fingerprint: String(fingerprint) };
    await setRolledUp(client, { period, start, clicks, byVisitor, ...made });
    outcome.made.push(`${period} ${start}`);
  }

  const known = (wanted: RolledUpPeriod['period']) =>
    new Map(standing.filter(({ period }) => period === wanted).map((period) => [period.start, period]));
  const days = known('day');
  for (const day of days.keys()) if (!clicks.has(day)) clicks.set(day, NO_CLICKS); // everything of it was erased
  for (const [day, { people, withBots: byVisitor, fingerprint }] of clicks) {
    const stands = days.get(day);
    const isCounted = stands?.clicks === people && stands.byVisitor === byVisitor;
    if (isCounted && BigInt(stands.fingerprint) === fingerprint) continue;
    // Counted before they are listed: should more come meanwhile, the next pass makes the day again.
    await make('day', day, fillDay, { byVisitor, fingerprint });
  }
  const months = known('month');
  for (const [month, { people, fingerprint }] of clicksByMonth(clicks, closed)) {
    const stands = months.get(month);
    if (stands?.clicks === people && BigInt(stands.fingerprint) === fingerprint) continue;
    await make('month', month, fillMonth, { byVisitor: 0, fingerprint });
  }
  if (standing.length > 0 && outcome.made.length > 0) await dropReplaced(client, now);
  return outcome;
}

/** The clicks of every ended day that has any, the oldest day first. */
async function clicksByDay(client: ClickHouseClient, closed: string): Promise<Map<string, DayClicks>> {
  const rows = await runQuery<{ day: string; people: string; with_bots: string; fingerprint: string }>(
    client,
    {
      sql: `SELECT toDate(ts) AS day, countIf(NOT is_bot) AS people, count() AS with_bots,
            toString(groupBitXor(intHash64(toUnixTimestamp64Nano(ts)))) AS fingerprint
          FROM clicks WHERE ts < toDateTime64({closed:Date}, 9, 'UTC') GROUP BY day ORDER BY day`,
      params: { closed },
      seconds: SECONDS,
    },
  );
  return new Map(
    rows.map(({ day, people, with_bots: withBots, fingerprint }) => [
      day,
      { people: Number(people), withBots: Number(withBots), fingerprint: BigInt(fingerprint) },
    ]),
  );
}

/** The ended months among the days, with the clicks of all of their days. */
function clicksByMonth(days: Map<string, DayClicks>, closed: string): Map<string, DayClicks> {
  const months = new Map<string, DayClicks>();
  for (const [day, clicks] of days) {
    const month = `${day.slice(0, 7)}-01`;
    if (month.slice(0, 7) >= closed.slice(0, 7)) continue;
    const others = months.get(month) ?? NO_CLICKS;
    months.set(month, {
      people: others.people + clicks.people,
      withBots: others.withBots + clicks.withBots,
      fingerprint: others.fingerprint ^ clicks.fingerprint,
    });
  }
  return months;
}

type PeriodParams = { generation: bigint; start: string };
/** Resolves with how many clicks without bots. */
type Fill = (client: ClickHouseClient, params: PeriodParams) => Promise<number>;

const ROLL_UP_DAY = `SELECT workspace_id, {generation:UInt64}, {start:Date}, link_id, channel, count(),
    uniqCombined64State(17)(visitor_id)
  FROM clicks WHERE NOT is_bot AND ${ON_DAY}
  GROUP BY workspace_id, link_id, channel`;

const ROLL_UP_MONTH = `SELECT workspace_id, {generation:UInt64}, {start:Date}, link_id, channel, sum(clicks),
    uniqCombined64MergeState(17)(visitors)
  FROM clicks_rolled_up WHERE toStartOfMonth(start) = {start:Date} AND generation IN (
    SELECT generation FROM rolled_up_periods FINAL
    WHERE period = 'day' AND toStartOfMonth(start) = {start:Date})
  GROUP BY workspace_id, link_id, channel`;

const fillDay: Fill = async (client, params) => {
  const clicks = await rollUpClicks(client, ROLL_UP_DAY, params);
  await insert(client, FILL_CLICKS_BY_VISITOR, params);
  return clicks;
};

const fillMonth: Fill = (client, params) => rollUpClicks(client, ROLL_UP_MONTH, params);

/** @returns how many clicks without bots */
async function rollUpClicks(client: ClickHouseClient, select: string, params: PeriodParams): Promise<number> {
  await insert(
    client,
    `clicks_rolled_up (workspace_id, generation, start, link_id, channel, clicks, visitors) ${select}`,
    params,
  );
  await insert(
    client,
    `rolled_up_workspaces (workspace_id, generation, clicks)
    SELECT workspace_id, generation, sum(clicks) FROM clicks_rolled_up
    WHERE generation = {generation:UInt64} AND start = {start:Date} GROUP BY workspace_id, generation`,
    params,
  );
  const [row] = await runQuery<{ clicks: string }>(client, {
    sql: 'SELECT sum(clicks) AS clicks FROM rolled_up_workspaces FINAL WHERE generation = {generation:UInt64}',
    params: { generation: params.generation },
    seconds: SECONDS,
  });
  return Number(row?.clicks ?? 0);
}

async function insert(client: ClickHouseClient, query: string, params: PeriodParams): Promise<void> {
  await client.command({
    query: `INSERT INTO ${query}`,
    query_params: params,
    clickhouse_settings: { ...SETTINGS, ...PROGRESS_HEADERS, wait_end_of_query: 1 },
  });
}

let lastGeneration = 0n;

/** Microseconds of now with three random digits: rises, and two workers at once do not share one. */
function nextGeneration(): bigint {
  const now = BigInt(Date.now()) * 1_000n + BigInt(Math.floor(Math.random() * 1_000));
  lastGeneration = now > lastGeneration ? now : lastGeneration + 1n;
  return lastGeneration;
}

/**
 * Begins to remove the rows that no longer stand, except those that a report or another pass may be using: what was made
 * a short time ago, and what was replaced by it.
 */
async function dropReplaced(client: ClickHouseClient, now: number): Promise<void> {
  const before = BigInt(now) * 1_000n - KEPT_MICROS;
  const rows = await runQuery<{ generation: string }>(client, {
    sql: `SELECT generation FROM (
            SELECT generation, start FROM clicks_rolled_up
            UNION ALL SELECT generation, toDate(at) FROM clicks_by_visitor)
          WHERE generation < {before:UInt64}
            AND generation NOT IN (SELECT generation FROM rolled_up_periods FINAL)
          GROUP BY generation
          HAVING max(start IN (SELECT start FROM rolled_up_periods FINAL WHERE generation >= {before:UInt64})) = 0`,
    params: { before },
    seconds: SECONDS,
  });
  if (rows.length === 0) return;
  // A mutation is kept as text and takes no parameters.
  const replaced = `generation IN (${rows.map(({ generation }) => BigInt(generation)).join(', ')})`;
  const gone = {
    clicks_rolled_up: replaced,
    rolled_up_workspaces: replaced,
    clicks_by_visitor: replaced,
    // A cached part does not say which generations it has. Parts in use are computed again when they are requested.
    cached_report_parts: `made < toDateTime(${before / 1_000_000n})`,
  };
  for (const [table, condition] of Object.entries(gone)) {
    await client.command({
      query: `ALTER TABLE ${table} DELETE WHERE ${condition}`,
      clickhouse_settings: { mutations_sync: '0' },
    });
  }
}
