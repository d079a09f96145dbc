import { type TOptional, type TString, Type } from 'typebox';
import { readFilter } from '../../analytics/filter-values.ts';
import { conditionsOf, type Filter, type FilterOrAny } from '../../analytics/filters.ts';
import { filtersOf } from '../../analytics/request.ts';
import type { ClickHouseClient } from '../../clickhouse/client.ts';
import type { Condition } from '../../clickhouse/queries/click-conditions.ts';
import {
  DIMENSIONS,
  type Dimension,
  type TimeDimension,
  timeUnitOf,
} from '../../core/analytics/dimensions.ts';
import { badRequest } from '../../core/errors.ts';
import { canonicalZone, checkTimeZone } from '../../core/time/time-buckets.ts';
import { STORED_MAX_NANOS, STORED_MIN_NANOS } from '../../core/time/timestamps.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import type { Workspace } from '../../sql/workspaces/workspaces.ts';
import { bodyCheck } from '../input/validation.ts';
import { Body } from '../schemas.ts';
import { type FilterBody, Filters } from './schemas.ts';

/** Dimensions that are query parameters. A link has `link_id` and `link_ids`; time has its bounds. */
const NAMES = DIMENSIONS.filter((name) => timeUnitOf(name) === null && name !== 'link');
const MOST_VALUES = 500;
const MOST_FILTERS = 20;

const parameter = (description: string) => Type.Optional(Type.String({ maxLength: 16_384, description }));

/**
 * Filters of clicks as query parameters: `country=DE,AT`, `not_country=DE`, and `filters` for all other filters of
 * `POST /analytics/query`.
 */
export const CLICK_FILTER_PARAMETERS = {
  ...Object.fromEntries(
    NAMES.flatMap((name) => [
      [name, parameter('Only clicks with one of these values, separated by commas. An empty one: unknown.')],
      [`not_${name}`, parameter('Only clicks with none of these values.')],
    ]),
  ),
  filters: parameter(
    '`filters` of `POST /analytics/query` as JSON. In a list of values, a comma within a value is `\\,`. At most 20 filters, with those of the other parameters.',
  ),
  time_zone: Type.Optional(
    Type.String({
      maxLength: 100,
      description:
        'IANA time zone of `weekday` and `hour_of_day`, such as `Europe/Berlin`. By default that of the workspace, else `UTC`.',
    }),
  ),
} as Record<ClickFilterName, TOptional<TString>>;

type ClickFilterName =
  | Exclude<Dimension, TimeDimension | 'link'>
  | `not_${Exclude<Dimension, TimeDimension | 'link'>}`
  | 'filters'
  | 'time_zone';

/**
 * Returns the filters of a request as conditions.
 *
 * @throws {AppError} `bad_request` that names the parameter
 */
export async function clickConditionsOf(
  { pool, clickhouse }: { pool: Queryable; clickhouse: ClickHouseClient },
  workspace: Pick<Workspace, 'id' | 'time_zone'>,
  query: Readonly<Record<string, unknown>>,
): Promise<Condition[]> {
  const filters = clickFilters(query);
  const zone = query.time_zone;
  const given = typeof zone === 'string' ? checkTimeZone('time_zone', zone) : (workspace.time_zone ?? 'UTC');
  if (filters.length === 0) return [];
  const timeZone = canonicalZone(given) ?? 'UTC';
  const span = { from: STORED_MIN_NANOS, to: STORED_MAX_NANOS };
  return conditionsOf({ db: pool, clickhouse, workspaceId: workspace.id, span, timeZone }, filters);
}

function clickFilters(query: Readonly<Record<string, unknown>>): FilterOrAny[] {
  const named = NAMES.flatMap((dimension) =>
    (['is', 'is_not'] as const).flatMap((operator): Filter[] => {
      const name = operator === 'is' ? dimension : `not_${dimension}`;
      const text = query[name];
      if (typeof text !== 'string') return [];
      const values = splitValues(text);
      if (values.length > MOST_VALUES) throw badRequest(name, `must be at most ${MOST_VALUES} values`);
      return [readFilter({ dimension, operator, values }, { list: name, value: () => name })];
    }),
  );
  const all = [...named, ...(typeof query.filters === 'string' ? fromJson(query.filters) : [])];
  if (all.length > MOST_FILTERS)
    throw badRequest('filters', `must be at most ${MOST_FILTERS} with the other parameters`);
  return all;
}

/** Splits a list at its commas, except those behind a backslash. */
function splitValues(text: string): string[] {
  return text.split(/(?<!\\),/).map((value) => value.replaceAll('\\,', ','));
}

const check = bodyCheck(Body({ filters: Filters }));

function fromJson(text: string): FilterOrAny[] {
  const body = { filters: parsedJson(text) };
  const error = check(body);
  if (error) throw error;
  const filters = filtersOf(body.filters as FilterBody[]);
  const onTime = filters
    .flatMap((one) => ('any' in one ? one.any : [one]))
    .find((one) => timeUnitOf(one.dimension));
  if (onTime)
    throw badRequest('filters', 'must not be on time:*; clicks have other parameters for their time');
  return filters;
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest('filters', 'must be JSON');
  }
}
