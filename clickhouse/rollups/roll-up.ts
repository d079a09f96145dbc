import type { ClickHouseClient } from '../client.ts';
import { CLICKS, IS_COUNTED } from '../queries/click-conditions.ts';
import { PROGRESS_HEADERS, runQuery } from '../queries/run-query.ts';
import { FILL_CLICKS_BY_VISITOR } from './clicks-by-visitor.ts';
import { commitPeriod, ON_DAY, type RolledUpPeriod, rolledUpPeriods } from './periods.ts';

/** Longest time of one statement, in seconds. */
const SECONDS = 600;
/**
 * A month of a busy deployment has many states: what does not fit into memory goes to disk. Two threads leave room for
 * redirects.
 */
const SETTINGS = {
  max_execution_time: SECONDS,
  max_threads: 2,
  max_bytes_before_external_group_by: '1073741824',
};
/** How long rows of a replaced generation stay for running reports, in microseconds. */
const KEPT_MICROS = 3_600_000_000n;

/** Result of a pass: how many days it compared, and the periods that it built. */
export type RollUpOutcome = { days: number; made: string[] };

/**
 * The clicks of a day: how many there are (`people`: those that are counted), and a hash of them. The hash is needed
 * because as many clicks may arrive late as are erased between two passes.
 */
type DayClicks = { people: number; withBots: number; fingerprint: bigint };

const NO_CLICKS: Readonly<DayClicks> = { people: 0, withBots: 0, fingerprint: 0n };

/**
 * Brings the roll-ups up to date. A day that has ended is built when its clicks differ from the rolled-up ones, then
 * its month if that has ended. So the next pass removes erased clicks, and adds late clicks of a retired stream. An
 * interrupted pass leaves rows that do not count; two concurrent passes build the same periods twice. Days are built
 * oldest first and none is left out: `byVisitorParams` and `window-plan.ts` rely on it.
 *
 * @param closed `YYYY-MM-DD`: the watermark has passed every day before it
 * @param now milliseconds since the epoch
 */
export async function rollUp(
  client: ClickHouseClient,
  closed: string,
  now = Date.now(),
): Promise<RollUpOutcome> {
  const current = await rolledUpPeriods(client);
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
    await commitPeriod(client, { period, start, clicks, byVisitor, ...made });
    outcome.made.push(`${period} ${start}`);
  }

  const periodsOf = (wanted: RolledUpPeriod['period']) =>
    new Map(current.filter(({ period }) => period === wanted).map((period) => [period.start, period]));
  const days = periodsOf('day');
  for (const day of days.keys()) if (!clicks.has(day)) clicks.set(day, NO_CLICKS); // all of them were erased
  for (const [day, { people, withBots: byVisitor, fingerprint }] of clicks) {
    const known = days.get(day);
    const isCounted = known?.clicks === people && known.byVisitor === byVisitor;
    if (isCounted && BigInt(known.fingerprint) === fingerprint) continue;
    // The count is read before the fill: if more clicks arrive between, the next pass builds the day again.
    await make('day', day, fillDay, { byVisitor, fingerprint });
  }
  const months = periodsOf('month');
  for (const [month, { people, fingerprint }] of clicksByMonth(clicks, closed)) {
    const known = months.get(month);
    if (known?.clicks === people && BigInt(known.fingerprint) === fingerprint) continue;
    await make('month', month, fillMonth, { byVisitor: 0, fingerprint });
  }
  if (current.length > 0 && outcome.made.length > 0) await dropReplaced(client, now);
  return outcome;
}

/** Returns the clicks of every ended day that has any, the oldest day first. */
async function clicksByDay(client: ClickHouseClient, closed: string): Promise<Map<string, DayClicks>> {
  const rows = await runQuery<{ day: string; people: string; with_bots: string; fingerprint: string }>(
    client,
    {
      sql: `SELECT toDate(ts) AS day, countIf(${IS_COUNTED}) + sumIf(extra_clicks, ${IS_COUNTED}) AS people, count() AS with_bots,
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

/** Returns the ended months among the days, with the clicks of their days. */
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
/** Fills a period and returns its clicks, without bots and visits of no link. */
type Fill = (client: ClickHouseClient, params: PeriodParams) => Promise<number>;

const ROLL_UP_DAY = `SELECT workspace_id, {generation:UInt64}, {start:Date}, link_id, channel, ${CLICKS},
    uniqCombined64State(17)(visitor_id)
  FROM clicks WHERE ${IS_COUNTED} AND ${ON_DAY}
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

/** Rolls clicks up, and returns how many there were, without bots and visits of no link. */
async function rollUpClicks(client: ClickHouseClient, select: string, params: PeriodParams): Promise<number> {
  await insert(
    client,
    `clicks_rolled_up (workspace_id, generation, start, link_id, channel, clicks, visitors) ${select}`,
    params,
  );
  await insert(
    client,
    `rolled_up_workspaces (workspace_id, generation, start, clicks, visitors)
    SELECT workspace_id, generation, start, sum(clicks), uniqCombined64MergeState(17)(visitors)
    FROM clicks_rolled_up
    WHERE generation = {generation:UInt64} AND start = {start:Date} GROUP BY workspace_id, generation, start`,
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

/**
 * Returns the current time in microseconds, the last three digits random: it rises, and two workers do not share one.
 */
function nextGeneration(): bigint {
  const now = BigInt(Date.now()) * 1_000n + BigInt(Math.floor(Math.random() * 1_000));
  lastGeneration = now > lastGeneration ? now : lastGeneration + 1n;
  return lastGeneration;
}

/**
 * Starts mutations that remove replaced rows. Rows that a report or another pass may use stay: rows built a short time
 * ago, and the rows that those replaced.
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
  // A mutation takes no parameters.
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
