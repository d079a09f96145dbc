import { type TOptional, type TString, Type } from 'typebox';
import type { Condition } from '../../clickhouse/queries/click-conditions.ts';
import {
  DIMENSIONS,
  type Dimension,
  type TimeDimension,
  timeUnitOf,
} from '../../core/analytics/dimensions.ts';
import { badRequest } from '../../core/errors.ts';
import { STORED_MAX_NANOS, STORED_MIN_NANOS } from '../../core/time/timestamps.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import { bodyCheck } from '../input/validation.ts';
import { Body } from '../schemas.ts';
import { checkFilter, conditionsOf, type Filter, type FilterOrAny } from './filters.ts';
import { filtersOf } from './request.ts';
import { type FilterBody, Filters } from './schemas.ts';

/** Dimensions that are query parameters. A link has `link_id` and `link_ids`; time has its bounds. */
const NAMES = DIMENSIONS.filter((name) => timeUnitOf(name) === null && name !== 'link');
const MOST_VALUES = 500;
const MOST_FILTERS = 20;

const parameter = (description: string) => Type.Optional(Type.String({ maxLength: 16_384, description }));

/**
 * Filters of clicks as query parameters: `country=DE,AT`, `not_country=DE`, and `filters` for everything else that the body of
 * `POST /analytics/query` can say.
 */
export const CLICK_FILTER_PARAMETERS = {
  ...Object.fromEntries(
    NAMES.flatMap((name) => [
      [name, parameter('Only clicks with one of these values, separated by commas. An empty one: unknown.')],
      [`not_${name}`, parameter('Only clicks with none of these values.')],
    ]),
  ),
  filters: parameter('`filters` of `POST /analytics/query` as JSON.'),
} as Record<ClickFilterName, TOptional<TString>>;

type ClickFilterName =
  | Exclude<Dimension, TimeDimension | 'link'>
  | `not_${Exclude<Dimension, TimeDimension | 'link'>}`
  | 'filters';

/**
 * Returns the filters of a request as conditions.
 *
 * @throws {AppError} `bad_request` that names the parameter
 */
export async function clickConditionsOf(
  db: Queryable,
  workspaceId: string,
  query: Readonly<Record<string, unknown>>,
): Promise<Condition[]> {
  const filters = clickFilters(query);
  if (filters.length === 0) return [];
  const span = { from: STORED_MIN_NANOS, to: STORED_MAX_NANOS };
  return conditionsOf({ db, workspaceId, span, timeZone: 'UTC' }, filters);
}

function clickFilters(query: Readonly<Record<string, unknown>>): FilterOrAny[] {
  const named = NAMES.flatMap((dimension) =>
    (['is', 'is_not'] as const).flatMap((operator): Filter[] => {
      const name = operator === 'is' ? dimension : `not_${dimension}`;
      const text = query[name];
      if (typeof text !== 'string') return [];
      const values = text.split(',');
      if (values.length > MOST_VALUES) throw badRequest(name, `must be at most ${MOST_VALUES} values`);
      const filter = { dimension, operator, values };
      checkFilter(filter, { list: name, value: () => name });
      return [filter];
    }),
  );
  const all = [...named, ...(typeof query.filters === 'string' ? fromJson(query.filters) : [])];
  if (all.length > MOST_FILTERS)
    throw badRequest('filters', `must be at most ${MOST_FILTERS} with the other parameters`);
  return all;
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
