import type { ClickHouseClient } from '../clickhouse/client.ts';
import type { Condition } from '../clickhouse/reports/index.ts';
import {
  type Dimension,
  isClockDimension,
  isLinkDimension,
  isTextDimension,
  type LinkDimension,
  type Operator,
  timeUnitOf,
} from '../core/analytics/dimensions.ts';
import { matches } from '../core/analytics/match.ts';
import { badRequest } from '../core/errors.ts';
import { bucketLabels, bucketStarts } from '../core/time/time-buckets.ts';
import type { Queryable } from '../sql/database/pool.ts';
import { linkValues, valuesInUse } from '../sql/links/link-dimensions.ts';
import { requireAgentParts } from './agent-parts.ts';

/** A filter of a request, parsed. An empty value is unknown. */
export type Filter = {
  dimension: Dimension;
  operator: Operator;
  values: string[];
  /** The place of its values in the request. */
  paths?: string[];
};
export type FilterOrAny = Filter | { any: Filter[] };

const NO_ID = '00000000-0000-0000-0000-000000000000';

/** Most buckets of a query: a week of minutes, a year of hours. */
const MOST_BUCKETS = 10_080;

type Around = {
  db: Queryable;
  clickhouse: ClickHouseClient;
  workspaceId: string;
  /** Nanoseconds; for filters on time. */
  span: { from: bigint; to: bigint };
  timeZone: string;
};

/**
 * Returns filters as conditions on clicks. Filters on links' data in PostgreSQL become lists of links.
 *
 * @throws {AppError} `bad_request` for a browser or system that no click can have
 */
export function conditionsOf(around: Around, filters: readonly FilterOrAny[]): Promise<Condition[]> {
  return Promise.all(
    filters.map(
      async (filter): Promise<Condition> =>
        'any' in filter
          ? { kind: 'any', of: await Promise.all(filter.any.map((one) => conditionOf(around, one))) }
          : conditionOf(around, filter),
    ),
  );
}

async function conditionOf(around: Around, filter: Filter): Promise<Condition> {
  const { dimension, operator, values } = filter;
  await requireAgentParts(around.clickhouse, around.workspaceId, filter);
  if (dimension === 'link')
    return { kind: 'link', operator, values: values.map((id) => id.toLowerCase() || NO_ID) };
  if (dimension === 'asn') return { kind: 'asn', operator, values: values.map((value) => value || '0') };
  if (isTextDimension(dimension)) return { kind: 'text', dimension, operator, values };
  if (isClockDimension(dimension)) {
    return { kind: 'clock', dimension, timeZone: around.timeZone, operator, values };
  }
  if (isLinkDimension(dimension)) return linksCondition(around, dimension, operator, values);
  const unit = timeUnitOf(dimension) ?? 'day';
  const starts = bucketsOf(around, unit);
  const labels = bucketLabels(starts, unit, around.timeZone);
  const matching = starts.filter((_, n) => matches(labels[n] ?? '', operator, values));
  return { kind: 'buckets', starts, matching };
}

/** @throws {AppError} `bad_request` for a window with too many buckets */
export function bucketsOf(
  { span, timeZone }: Pick<Around, 'span' | 'timeZone'>,
  unit: Parameters<typeof bucketStarts>[1],
): bigint[] {
  const starts = bucketStarts(span, unit, timeZone, MOST_BUCKETS);
  if (starts) return starts;
  throw badRequest('window', `must have at most ${MOST_BUCKETS} buckets of time:${unit}`);
}

async function linksCondition(
  { db, workspaceId }: Around,
  dimension: LinkDimension,
  operator: Operator,
  values: readonly string[],
): Promise<Condition> {
  const known = values.filter((value) => value !== '');
  const isInside = operator === 'is' || operator === 'contains';
  const only =
    operator === 'is_empty' ? null : await valuesThatMatch(db, workspaceId, dimension, operator, known);
  const { links } = await linkValues(db, workspaceId, dimension, only);
  const ids = [...new Set(links)];
  const condition: Condition = { kind: 'links', ids, isInside };
  if (known.length === values.length) return condition;
  // An empty value is unknown: a link without the dimension's value.
  const all = (await linkValues(db, workspaceId, dimension)).links;
  if (isInside) return { kind: 'any', of: [condition, { kind: 'links', ids: all, isInside: false }] };
  const excluded = new Set(ids);
  return { kind: 'links', ids: all.filter((id) => !excluded.has(id)), isInside: true };
}

async function valuesThatMatch(
  db: Queryable,
  workspaceId: string,
  dimension: LinkDimension,
  operator: Operator,
  values: readonly string[],
): Promise<readonly string[]> {
  if (operator === 'is' || operator === 'is_not') {
    return dimension === 'tag' ? values : values.map((id) => id.toLowerCase());
  }
  const used = await valuesInUse(db, workspaceId, dimension);
  return used.filter((value) => matches(value, 'contains', values));
}

/**
 * Returns the tags to show in a grouping by tag: those that a filter on tags alone selects; null: all.
 *
 * @param used every tag of the workspace
 */
export function shownTags(filters: readonly FilterOrAny[], used: readonly string[]): string[] | null {
  const asked = filters.flatMap((filter) => {
    const parts = 'any' in filter ? filter.any : [filter];
    const isOfTags = parts.every(
      ({ dimension, operator }) => dimension === 'tag' && (operator === 'is' || operator === 'contains'),
    );
    return isOfTags ? parts : [];
  });
  if (asked.length === 0) return null;
  return used.filter((tag) => asked.some(({ operator, values }) => matches(tag, operator, values)));
}
