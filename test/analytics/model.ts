import type { AnalyticsResult } from '../../api/analytics/schemas.ts';
import { type Dimension, type Metric, type Operator, TEXT_COLUMNS } from '../../core/analytics/dimensions.ts';

/** A plain model of `POST /analytics/query`, without SQL and without the product's code for time. */

/** A row that figures come from: a click, or the share of an order or a lead with the credited click's columns. */
export type ModelRow = {
  /** Microseconds: of the click, or of the order or identify. */
  micros: number;
  link: string;
  columns: Record<string, string | number>;
  click?: { visitor: string; isBot: boolean };
  share?: { orders: number; leads: number; amountMinor: number };
};

export type ModelLink = { campaign: string; tags: string[]; folder: string | null };

export type ModelData = { rows: ModelRow[]; links: Map<string, ModelLink> };

export type ModelFilter = { dimension: Dimension; operator: Operator; values?: string[] };
export type ModelQuery = {
  metrics: Metric[];
  dimensions: Dimension[];
  filters: (ModelFilter | { any: ModelFilter[] })[];
  window: { from: string; to: string };
  compare?: 'previous' | { from: string; to: string };
  time_zone: string;
  bots: 'exclude' | 'include' | 'only';
  order_by: { by: string; direction: 'asc' | 'desc' }[];
  limit: number;
  offset: number;
};

type Value = string | number | null;
type Window = { from: number; to: number };
type Group = { dimensions: Value[]; rows: ModelRow[]; sort: (string | number)[] };

const MICROS = 1_000;
/** The finest bucket of the model's queries, milliseconds. */
const STEP = 15 * 60_000;

export function answer(data: ModelData, query: ModelQuery): Omit<AnalyticsResult, 'watermark'> {
  const window = windowOf(query.window);
  const groups = groupsOf(data, query, window);
  const sorted = sortGroups(query, groups);
  const compared = query.compare === undefined ? null : comparedWindow(query, window);
  const other = compared && groupsOf(data, query, compared);
  const buckets = compared && { own: bucketsOf(query, window), other: bucketsOf(query, compared) };
  return {
    window: shownWindow(window),
    ...(compared && { compared_window: shownWindow(compared) }),
    rows: sorted.slice(query.offset, query.offset + query.limit).map((group) => ({
      dimensions: Object.fromEntries(query.dimensions.map((name, n) => [name, group.dimensions[n] ?? null])),
      metrics: metricsOf(query, group.rows),
      ...(other &&
        buckets && { compared: metricsOf(query, counterpart(query, group, other, buckets)?.rows ?? []) }),
    })),
    totals: metricsOf(query, passing(data, query, window)),
    ...(compared && { compared_totals: metricsOf(query, passing(data, query, compared)) }),
    total_rows: groups.length,
  };
}

const windowOf = ({ from, to }: { from: string; to: string }): Window => ({
  from: Date.parse(from),
  to: Date.parse(to),
});

const shownWindow = ({ from, to }: Window) => ({
  from: new Date(from).toISOString(),
  to: new Date(to).toISOString(),
});

function comparedWindow({ compare, time_zone: zone }: ModelQuery, { from, to }: Window): Window {
  if (compare !== undefined && compare !== 'previous') return windowOf(compare);
  if (!isMidnight(from, zone) || !isMidnight(to, zone)) return { from: from - (to - from), to: from };
  const [first = '', last = ''] = [from, to].map((at) => String(labelOf('time:day', at, zone)));
  const isMonths = first.endsWith('-01') && last.endsWith('-01');
  const passed = (at: number) => {
    const day = String(labelOf('time:day', at, zone));
    return day.slice(0, isMonths ? 7 : 10);
  };
  // Goes back a step at a time until as many dates, or months, have begun as in the window.
  const begun = (begin: number, end: number) => {
    const seen = new Set<string>();
    for (let at = begin; at < end; at += STEP) seen.add(passed(at));
    return seen.size;
  };
  const wanted = begun(from, to);
  let at = from;
  for (let seen = 0; seen < wanted; ) {
    at -= STEP;
    const starts = isMonths ? String(labelOf('time:day', at, zone)).endsWith('-01') : true;
    if (isMidnight(at, zone) && starts) seen += 1;
  }
  return { from: at, to: from };
}

/** Whether a date begins: at a quarter of an hour whose date differs from the one before it. */
const isMidnight = (at: number, zone: string): boolean =>
  at % STEP === 0 && labelOf('time:day', at, zone) !== labelOf('time:day', at - STEP, zone);

/** The rows of a window that pass the filters and can be in a figure that the query measures. */
function passing(data: ModelData, query: ModelQuery, window: Window): ModelRow[] {
  const has = (...names: Metric[]) => query.metrics.some((metric) => names.includes(metric));
  const needsClicks = has('clicks', 'visitors', 'conversion_rate', 'revenue_per_click');
  const needsOrders = has('conversions', 'revenue', 'conversion_rate', 'revenue_per_click');
  return data.rows.filter((row) => {
    if (row.micros < window.from * MICROS || row.micros >= window.to * MICROS) return false;
    if (row.click) {
      if (!needsClicks) return false;
      if (query.bots === 'exclude' && row.click.isBot) return false;
      if (query.bots === 'only' && !row.click.isBot) return false;
    } else {
      if (query.bots === 'only') return false;
      if (row.share?.leads === 0 ? !needsOrders : !has('leads')) return false;
    }
    const passes = (filter: ModelFilter) => passesFilter(data, query, row, filter);
    return query.filters.every((filter) => ('any' in filter ? filter.any.some(passes) : passes(filter)));
  });
}

function passesFilter(data: ModelData, query: ModelQuery, row: ModelRow, filter: ModelFilter): boolean {
  const values = valuesOf(data, query, row, filter.dimension).map((value) => String(value ?? ''));
  const known = values.filter((value) => value !== '');
  const wanted = filter.values ?? [];
  const contains = () =>
    known.some((value) => wanted.some((one) => value.toLowerCase().includes(one.toLowerCase())));
  switch (filter.operator) {
    case 'is':
      return known.some((value) => wanted.includes(value));
    case 'is_not':
      return !known.some((value) => wanted.includes(value));
    case 'contains':
      return contains();
    case 'contains_not':
      return !contains();
    case 'is_empty':
      return known.length === 0;
  }
}

/** The values of a dimension that a row has: several for tags, one null where it has none. */
function valuesOf(data: ModelData, query: ModelQuery, row: ModelRow, dimension: Dimension): Value[] {
  const link = data.links.get(row.link);
  switch (dimension) {
    case 'link':
      return [row.link];
    case 'campaign':
      return [link?.campaign ?? null];
    case 'folder':
      return [link?.folder ?? null];
    case 'tag':
      return link && link.tags.length > 0 ? link.tags : [null];
    case 'asn':
      return [row.columns.asn || null];
    case 'weekday':
    case 'hour_of_day':
    case 'time:minute':
    case 'time:hour':
    case 'time:day':
    case 'time:week':
    case 'time:month':
      return [labelOf(dimension, row.micros / MICROS, query.time_zone)];
    default:
      return [row.columns[TEXT_COLUMNS[dimension]] || null];
  }
}

const formats = new Map<string, Intl.DateTimeFormat>();

function labelOf(dimension: Dimension, millis: number, timeZone: string): string | number {
  const format =
    formats.get(timeZone) ??
    new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      timeZoneName: 'longOffset',
    });
  formats.set(timeZone, format);
  const parts = Object.fromEntries(
    format.formatToParts(Math.floor(millis)).map(({ type, value }) => [type, value]),
  );
  const date = `${parts.year}-${parts.month}-${parts.day}`;
  const offset = parts.timeZoneName === 'GMT' ? '+00:00' : String(parts.timeZoneName).slice(3);
  const weekday = ((new Date(`${date}T00:00:00Z`).getUTCDay() + 6) % 7) + 1;
  switch (dimension) {
    case 'time:minute':
      return `${date}T${parts.hour}:${parts.minute}:00${offset}`;
    case 'time:hour':
      return `${date}T${parts.hour}:00:00${offset}`;
    case 'time:day':
      return date;
    case 'time:week':
      return new Date(Date.parse(`${date}T00:00:00Z`) - (weekday - 1) * 86_400_000)
        .toISOString()
        .slice(0, 10);
    case 'time:month':
      return date.slice(0, 7);
    case 'weekday':
      return weekday;
    default:
      return Number(parts.hour);
  }
}

const isTime = (dimension: Dimension) => dimension.startsWith('time:');
const isClock = (dimension: Dimension) => dimension === 'weekday' || dimension === 'hour_of_day';

/** Every combination of the labels of the query's dimensions of time, oldest first. */
function bucketsOf({ dimensions, time_zone }: ModelQuery, { from, to }: Window): string[] {
  const times = dimensions.filter(isTime);
  const found = new Set<string>();
  for (let at = from; at < to; at = Math.floor(at / STEP) * STEP + STEP) {
    found.add(JSON.stringify(times.map((dimension) => labelOf(dimension, at, time_zone))));
  }
  return [...found];
}

function groupsOf(data: ModelData, query: ModelQuery, window: Window): Group[] {
  const { dimensions } = query;
  if (dimensions.length === 0) return [];
  const groups = new Map<string, Group>();
  const buckets = bucketsOf(query, window);
  const positions = new Map(buckets.map((bucket, n) => [bucket, n]));
  const add = (values: Value[], row: ModelRow | null) => {
    const key = JSON.stringify(values);
    const times = JSON.stringify(values.filter((_, n) => isTime(dimensions[n] ?? 'link')));
    const group = groups.get(key) ?? {
      dimensions: values,
      rows: [],
      sort: values.map((value, n) => {
        if (isTime(dimensions[n] ?? 'link')) return positions.get(times) ?? -1;
        return dimensions[n] === 'asn' ? (value ?? 0) : (value ?? '');
      }),
    };
    if (row) group.rows.push(row);
    groups.set(key, group);
  };
  for (const row of passing(data, query, window)) {
    for (const values of combinations(
      dimensions.map((dimension) => shownValues(data, query, row, dimension)),
    )) {
      add(values, row);
    }
  }
  if (dimensions.some(isTime) && !dimensions.some(isClock)) {
    const others = dimensions.every(isTime) ? [[]] : [...groups.values()].map((group) => group.dimensions);
    for (const values of others) {
      for (const bucket of buckets) {
        const labels = JSON.parse(bucket) as string[];
        add(
          dimensions.map((dimension, n) =>
            isTime(dimension) ? (labels.shift() ?? '') : (values[n] ?? null),
          ),
          null,
        );
      }
    }
  }
  return [...groups.values()];
}

/** The rows of a grouping that a row is in: filtered by tags alone, only those tags have rows. */
function shownValues(data: ModelData, query: ModelQuery, row: ModelRow, dimension: Dimension): Value[] {
  const values = valuesOf(data, query, row, dimension);
  if (dimension !== 'tag') return values;
  const asked = query.filters.flatMap((filter) => {
    const parts = 'any' in filter ? filter.any : [filter];
    return parts.every((one) => one.dimension === 'tag' && ['is', 'contains'].includes(one.operator))
      ? parts
      : [];
  });
  if (asked.length === 0) return values;
  return values.filter((tag) =>
    asked.some(({ operator, values: wanted = [] }) =>
      operator === 'is'
        ? wanted.includes(String(tag))
        : wanted.some(
            (one) =>
              String(tag ?? '')
                .toLowerCase()
                .includes(one.toLowerCase()) && tag !== null,
          ),
    ),
  );
}

function combinations(lists: Value[][]): Value[][] {
  return lists.reduce<Value[][]>(
    (found, values) => found.flatMap((before) => values.map((value) => [...before, value])),
    [[]],
  );
}

function metricsOf({ metrics }: ModelQuery, rows: readonly ModelRow[]) {
  const clicked = rows.flatMap(({ click }) => click ?? []);
  const shares = rows.flatMap(({ share }) => share ?? []);
  const exact = (of: (share: NonNullable<ModelRow['share']>) => number) =>
    shares.reduce((all, share) => all + of(share), 0);
  const sum = (of: (share: NonNullable<ModelRow['share']>) => number) => Number(exact(of).toFixed(9));
  const [clicks, conversions, revenue] = [
    clicked.length,
    sum(({ orders }) => orders),
    sum((s) => s.amountMinor),
  ];
  const all: Record<Metric, number | null> = {
    clicks,
    visitors: new Set(clicked.map(({ visitor }) => visitor)).size,
    leads: sum(({ leads }) => leads),
    conversions,
    revenue: revenue / 100,
    conversion_rate: clicks === 0 ? null : Number((exact(({ orders }) => orders) / clicks).toFixed(12)),
    revenue_per_click: clicks === 0 ? null : Number((revenue / 100 / clicks).toFixed(12)),
  };
  return Object.fromEntries(metrics.map((metric) => [metric, all[metric]]));
}

function sortGroups(query: ModelQuery, groups: Group[]): Group[] {
  const { dimensions, metrics } = query;
  const time = dimensions.find(isTime);
  const first = { by: String(metrics[0]), direction: 'desc' as const };
  const byDefault = time ? [{ by: String(time), direction: 'asc' as const }, first] : [first];
  const order = query.order_by.length > 0 ? query.order_by : byDefault;
  const keyed = groups.map((group) => ({ group, figures: metricsOf(query, group.rows) }));
  keyed.sort((a, b) => {
    for (const { by, direction } of order) {
      const at = query.dimensions.map(String).indexOf(by);
      const [one, two] = at === -1 ? [a.figures[by], b.figures[by]] : [a.group.sort[at], b.group.sort[at]];
      const found = compare(one ?? null, two ?? null, direction === 'desc');
      if (found !== 0) return found;
    }
    for (let at = 0; at < dimensions.length; at++) {
      const found = compare(a.group.sort[at] ?? null, b.group.sort[at] ?? null, false);
      if (found !== 0) return found;
    }
    return 0;
  });
  return keyed.map(({ group }) => group);
}

/** Null is last in either direction. Texts go by their bytes. */
function compare(one: Value, two: Value, isDescending: boolean): number {
  if (one === null || two === null) return Number(one === null) - Number(two === null);
  const found =
    typeof one === 'number' && typeof two === 'number'
      ? one - two
      : Buffer.compare(Buffer.from(String(one)), Buffer.from(String(two)));
  return isDescending ? -found : found;
}

/** The labels of the bucket beside one: of hours with the same time on the clock since the start, else by position. */
function besideOf({ own, other }: { own: string[]; other: string[] }, labels: string): string | undefined {
  const hours = (all: string[]) => {
    const times = all.map((one) => (JSON.parse(one) as string[]).find((label) => label.includes('T')));
    const clock = times.map((time) => Date.parse(`${time?.slice(0, 16)}Z`));
    return clock.map((at) => at - (clock[0] ?? 0));
  };
  const index = own.indexOf(labels);
  const passed = hours(own);
  if (index === -1 || Number.isNaN(passed[0])) return other[index];
  const at = passed[index] ?? -1;
  // Of an hour that a clock repeats, only one has a counterpart.
  return passed.indexOf(at) === index ? other[hours(other).indexOf(at)] : undefined;
}

function counterpart(
  { dimensions }: ModelQuery,
  group: Group,
  other: readonly Group[],
  buckets: { own: string[]; other: string[] },
): Group | undefined {
  const labels = JSON.stringify(group.dimensions.filter((_, n) => isTime(dimensions[n] ?? 'link')));
  const there = besideOf(buckets, labels);
  if (dimensions.some(isTime) && there === undefined) return undefined;
  const times = there === undefined ? [] : (JSON.parse(there) as string[]);
  const wanted = group.dimensions.map((value, n) =>
    isTime(dimensions[n] ?? 'link') ? (times.shift() ?? null) : value,
  );
  return other.find((candidate) => JSON.stringify(candidate.dimensions) === JSON.stringify(wanted));
}
