import type { Metric } from '../../../core/analytics/dimensions.ts';
import type { ClickHouseClient } from '../../client.ts';
import { type Condition, conditionsSql, type Sql } from '../../queries/click-conditions.ts';
import { runQuery } from '../../queries/run-query.ts';
import { NOT_DELETED } from '../../queries/visible-clicks.ts';
import { ONE_MOMENT } from '../cached-parts.ts';
import { type FigureRow, type Figures, toFigures } from '../figures.ts';
import { EXACT_CLICKS, type ReportWindow } from '../request.ts';
import { planWindow } from '../window-plan.ts';
import { addedUp, HALVES } from './added-up.ts';
import { type Grouped, groupedRows, type Options, onlyOf, pageOf, sqlOf } from './grouped-rows.ts';
import type { Key } from './keys.ts';
import { type Counting, cachedRows, canBeRolledUp, coverOfBuckets, needs } from './sources.ts';

/** Selects the clicks, leads and orders of a workspace that are counted, and the keys that group them. */
export type Counted = {
  window: ReportWindow;
  metrics: readonly Metric[];
  keys: readonly Key[];
  /** Starts of the buckets, nanoseconds, ascending; empty without a key of kind `bucket`. */
  starts: readonly bigint[];
  /** Time zone of keys of kind `clock`. */
  timeZone: string;
  conditions: readonly Condition[];
  bots: 'exclude' | 'include' | 'only';
  orphans: 'exclude' | 'include' | 'only';
};

const FIGURES: readonly Metric[] = ['clicks', 'visitors', 'leads', 'conversions', 'revenue'];

/** Selects the clicks of people on links in a window, grouped by keys. */
export function countedIn(
  window: ReportWindow,
  keys: readonly Key[],
  only: Partial<Pick<Counted, 'metrics' | 'conditions'>> = {},
): Counted {
  const population = { bots: 'exclude', orphans: 'exclude' } as const;
  return {
    window,
    metrics: FIGURES,
    keys,
    starts: [],
    timeZone: 'UTC',
    conditions: [],
    ...population,
    ...only,
  };
}

/** Sort order of rows: a metric of the query, or one of its keys by its position. */
export type Order = { by: Metric | number; isDescending: boolean };

export const MOST_REVENUE_FIRST: readonly Order[] = [
  { by: 'revenue', isDescending: true },
  { by: 'clicks', isDescending: true },
];

export type Page = { order: readonly Order[]; limit: number; offset: number };

export type AnalyticsRow = { keys: string[]; figures: RatedFigures };
export type AnalyticsFigures = { totals: RatedFigures; rows: AnalyticsRow[]; totalRows: number };

/** The figures of a row with its rates, null without clicks. */
export type RatedFigures = Figures & {
  conversionRate: number | null;
  /** Minor units. */
  revenuePerClick: number | null;
};

export const NOTHING: RatedFigures = {
  clicks: 0,
  visitors: 0,
  leads: 0,
  conversions: 0,
  revenueMinor: 0n,
  conversionRate: null,
  revenuePerClick: null,
};

/**
 * From this many cached rows on, visitors are counted for the rows of a page only, by a second query. 100 of 20,000
 * cities take 225 ms of CPU instead of 340, with 4 million clicks in the window; 50 campaigns are faster in one query.
 */
const MANY_ROWS = 1_000;

/** Options of a page that needs neither the row of all nor the number of rows. */
const ALONE = { whole: false, number: false };

/** Removes rows that are not shown from a page, before visitors are counted for it. It may be called twice. */
export type ChooseShown = (rows: AnalyticsRow[]) => Promise<AnalyticsRow[]>;

/**
 * Returns the figures of a workspace's window by keys, and in all. A window with few clicks is counted click by click,
 * visitors exactly. Larger windows by channel, link, and whole UTC days or months are read from roll-ups and their
 * cache (`cached-parts.ts`). With a key of buckets and none of a clock, every bucket of every other value has a row.
 */
export function analyticsRows(
  client: ClickHouseClient,
  counted: Counted,
  page: Page,
): Promise<AnalyticsFigures> {
  return planned(client, counted, (queries) => wholePage(queries, counted, page));
}

/**
 * Returns {@link analyticsRows}; null when counting visitors for all rows would take long, so that they are counted for
 * one page only.
 */
export function rowsAhead(
  client: ClickHouseClient,
  counted: Counted,
  page: Page,
): Promise<AnalyticsFigures | null> {
  return planned(client, counted, async (queries) =>
    queries.readsLinksLater(page) ? null : wholePage(queries, counted, page),
  );
}

async function wholePage(queries: Queries, counted: Counted, page: Page): Promise<AnalyticsFigures> {
  if (counted.keys.length === 0) return { totals: await queries.totals(), rows: [], totalRows: 0 };
  const withWhole = page.offset === 0 && !countsTwice(counted) && !queries.readsLinksLater(page);
  const [{ rows, totals, found }, separate] = await Promise.all([
    queries.page(page, { whole: withWhole, number: true }),
    withWhole ? null : queries.totals(),
  ]);
  // No row of a page beyond the last one has the number of all rows.
  const isBeyond = rows.length === 0 && page.offset > 0;
  const all = isBeyond
    ? await queries.page({ ...page, offset: 0, limit: 1 }, { whole: false, number: true })
    : { found };
  return { totals: separate ?? totals, rows, totalRows: all.found };
}

/** Returns a page of the rows of {@link analyticsRows} alone. @param shown removes rows; by default none */
export async function pageOfRows(
  client: ClickHouseClient,
  counted: Counted,
  page: Page,
  shown?: ChooseShown,
): Promise<AnalyticsRow[]> {
  return planned(client, counted, async (queries) => (await queries.page(page, ALONE, shown)).rows);
}

/**
 * Returns all rows, most revenue first, by two queries at once: one of clicks, one of leads and orders. ClickHouse plans
 * a query on one core, which takes most of the time of a large window's report. For few rows: they are added up here.
 */
export async function allRows(client: ClickHouseClient, counted: Counted): Promise<AnalyticsRow[]> {
  return planned(client, counted, (queries) => queries.all());
}

/** Returns the figures of some rows of a query, and in all. @param only the keys of each of the rows */
export async function figuresOfRows(
  client: ClickHouseClient,
  counted: Counted,
  only: readonly (readonly string[])[],
): Promise<Omit<AnalyticsFigures, 'totalRows'>> {
  return planned(client, counted, async (queries) => {
    if (counted.keys.length === 0 || only.length === 0) return { totals: await queries.totals(), rows: [] };
    const withWhole = !countsTwice(counted) && !queries.readsLinksAlone;
    const [{ rows, totals }, separate] = await Promise.all([
      queries.only(only, withWhole),
      withWhole ? null : queries.totals(),
    ]);
    return { totals: separate ?? totals, rows };
  });
}

/** Whether a click may be in several rows, because its link has several values. The totals count it once. */
const countsTwice = ({ keys }: Counted): boolean => keys.some(({ kind }) => kind === 'mapped');

/** Plans a window once and runs queries over it. @param run called again when the roll-ups changed meanwhile */
export function planned<T>(
  client: ClickHouseClient,
  counted: Counted,
  run: (queries: Queries) => Promise<T>,
): Promise<T> {
  if (!needs(counted).clicks) return run(queriesOf(client, counted, () => ({ kind: 'exact' })));
  const { window } = counted;
  const own = canBeRolledUp(counted) ? conditionsSql(counted.conditions) : { sql: '', params: {} };
  const clicks = {
    exactUpTo: EXACT_CLICKS,
    ...window,
    condition: `${own.sql}${window.hasDeleted ? ` ${NOT_DELETED}` : ''}`,
    params: own.params,
  };
  return planWindow(client, clicks, (cover, periods) => {
    const countingOf = (some: Counted): Counting => {
      if (cover === null) return { kind: 'exact' };
      const usable = canBeRolledUp(some) ? coverOfBuckets(some, cover, periods) : null;
      return usable === null ? { kind: 'estimated', cover } : { kind: 'rolled up', cover: usable };
    };
    return run(queriesOf(client, counted, countingOf));
  });
}

type Row = { whole: number; found?: string } & Partial<
  FigureRow & { conversion_rate: number | null; revenue_per_click: number | null }
> &
  Record<`k${number}`, string | number>;
/** Rows by key, the figures of all rows (zeros if not requested), and the number of all rows. */
type Found = { rows: AnalyticsRow[]; totals: RatedFigures; found: number };

type Queries = ReturnType<typeof queriesOf>;

/** The queries of a planned window. */
function queriesOf(client: ClickHouseClient, counted: Counted, countingOf: (some: Counted) => Counting) {
  const { keys, metrics } = counted;
  /** Roll-ups have a state of visitors for each link and period, so a few links are read by themselves. */
  const readsLinksAlone =
    keys.length === 1 && keys[0]?.kind === 'link' && countingOf(counted).kind === 'rolled up';

  async function ask(some: Counted, how: Options, over: (grouped: Grouped) => Sql): Promise<Found> {
    const { sql, params } = over(groupedRows(client, some, countingOf(some), how));
    const rows = await runQuery<Row>(client, { sql, params, seconds: 60, settings: ONE_MOMENT });
    const whole = rows.find((row) => row.whole === 1);
    return {
      rows: rows
        .filter((row) => row.whole === 0)
        .map((row) => ({
          keys: some.keys.map((_, n) => String(row[`k${n}`] ?? '')),
          figures: ratedFigures(row),
        })),
      totals: whole ? ratedFigures(whole) : NOTHING,
      found: Math.max(0, Number(rows[0]?.found ?? 0) - (whole ? 1 : 0)),
    };
  }
  /** Some values of the only key. */
  const ofValues = (some: Counted, only: readonly string[], withWhole: boolean) =>
    ask(some, { withWhole, only }, (grouped) => onlyOf(grouped, [only]));
  const ofLinks = (some: Counted, links: string[]) => ask(some, { withWhole: false, links }, sqlOf);
  const canCountLater = ({ order }: Page) =>
    metrics.includes('visitors') && !order.some(({ by }) => by === 'visitors');
  const readsLinksLater = (given: Page) => readsLinksAlone && canCountLater(given);
  const readsManyRows = ({ limit }: Page) =>
    keys.length === 1 && cachedRows(client, counted, countingOf(counted)) > Math.max(MANY_ROWS, 4 * limit);
  const countsVisitorsLater = (given: Page) =>
    readsLinksLater(given) || (canCountLater(given) && readsManyRows(given));

  async function page(
    given: Page,
    with_: { whole: boolean; number: boolean },
    shown: ChooseShown = async (rows) => rows,
  ): Promise<Found> {
    const isLater = countsVisitorsLater(given);
    const others = new Set(metrics.map((metric) => (metric === 'visitors' ? 'clicks' : metric)));
    const some = isLater ? { ...counted, metrics: [...others] } : counted;
    const found = await ask(some, { withWhole: with_.whole }, (grouped) =>
      pageOf(some, grouped, given, with_),
    );
    const rows = await shown(found.rows);
    return isLater ? withVisitors({ ...found, rows }, with_.whole) : { ...found, rows };
  }

  /**
   * Counts the visitors of the rows in the response only, and in all: visitors of many clicks cost far more to count
   * than the clicks.
   */
  async function withVisitors(found: Found, withWhole: boolean): Promise<Found> {
    if (found.rows.length === 0) return found;
    const values = found.rows.map((row) => row.keys[0] ?? '');
    const some = { ...counted, metrics: ['visitors'] as const };
    const counts = readsLinksAlone ? await ofLinks(some, values) : await ofValues(some, values, withWhole);
    const visitors = new Map(counts.rows.map((row) => [row.keys[0], row.figures.visitors]));
    // A click may arrive between the two queries.
    const counting = (figures: RatedFigures, own = 0) => ({
      ...figures,
      visitors: Math.min(own, figures.clicks),
    });
    return {
      ...found,
      totals: withWhole ? counting(found.totals, counts.totals.visitors) : found.totals,
      rows: found.rows.map(({ keys: own, figures }) => ({
        keys: own,
        figures: counting(figures, visitors.get(own[0])),
      })),
    };
  }

  /** See {@link allRows}. */
  async function all(): Promise<AnalyticsRow[]> {
    const halves = HALVES.map((half) => ({
      ...counted,
      metrics: metrics.filter((one) => half.includes(one)),
    }));
    const found = await Promise.all(halves.map((half) => ask(half, { withWhole: false }, sqlOf)));
    return addedUp(found.flatMap(({ rows }) => rows));
  }

  return {
    all,
    /** Whether the window has more clicks than are counted exactly. */
    isLarge: countingOf(counted).kind !== 'exact',
    readsLinksAlone,
    readsLinksLater,
    page,
    async totals(): Promise<RatedFigures> {
      return (await ask({ ...counted, keys: [], starts: [] }, { withWhole: true }, sqlOf)).totals;
    },
    async only(rows: readonly (readonly string[])[], withWhole: boolean): Promise<Found> {
      if (readsLinksAlone)
        return ofLinks(
          counted,
          rows.map(([link = '']) => link),
        );
      const byKey = keys.map((_, n) => rows.map((row) => row[n] ?? ''));
      const [only, ...others] = byKey;
      const how = { withWhole, ...(only && others.length === 0 && { only }) };
      return ask(counted, how, (grouped) => onlyOf(grouped, byKey));
    },
  };
}

const ratedFigures = (row: Row): RatedFigures => ({
  ...toFigures(row),
  conversionRate: row.conversion_rate ?? null,
  revenuePerClick: row.revenue_per_click ?? null,
});
