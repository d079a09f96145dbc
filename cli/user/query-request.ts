import { InvalidArgumentError } from 'commander';
import { DIMENSIONS, METRICS, TIME_UNITS } from '../../core/analytics/dimensions.ts';
import { nearestName } from '../../core/text/near-names.ts';
import type { AnalyticsFilter, AnalyticsQuery } from '../../sdk/typescript/src/generated/types.ts';
import { given, names } from './arguments.ts';

export type QueryOptions = {
  metrics: string[];
  by?: string[];
  filter?: AnalyticsFilter[];
  days?: number;
  from?: string;
  to?: string;
  compare?: boolean;
  timeZone?: string;
  bots?: 'exclude' | 'include' | 'only';
  order?: { by: string; direction: 'asc' | 'desc' }[];
  limit: number;
};

/** Reads `--metrics`. */
export const metrics = (text: string): string[] => known(text, METRICS);

/** Reads `--by`: dimensions, where `day` is `time:day`. */
export const dimensions = (text: string): string[] => known(text, DIMENSIONS);

function known(text: string, all: readonly string[]): string[] {
  return names(text).map((name) => {
    const whole = (TIME_UNITS as readonly string[]).includes(name) ? `time:${name}` : name;
    if (all.includes(whole)) return whole;
    const near = nearestName(name, all);
    throw new InvalidArgumentError(
      near === null ? `must be of ${all.join(', ')}` : `has ${name}: did you mean ${near}?`,
    );
  });
}

const OPERATORS = { '=': 'is', '!=': 'is_not', '~': 'contains', '!~': 'contains_not' } as const;

/** Reads one `--filter`, and adds it to those before. */
export function queryFilter(text: string, before: readonly AnalyticsFilter[] = []): AnalyticsFilter[] {
  const [, name = '', sign = '', rest = ''] = /^([\w:]+)(!=|!~|=|~)(.*)$/s.exec(text) ?? [];
  const operator = OPERATORS[sign as keyof typeof OPERATORS];
  if (operator === undefined) {
    throw new InvalidArgumentError('must be a dimension, one of = != ~ !~, and values: country=DE,AT');
  }
  const [dimension = ''] = dimensions(name);
  // A comma within a value is escaped, as the API's filters say.
  const values = rest.split(/(?<!\\),/).map((value) => value.replaceAll('\\,', ','));
  const filter = rest === '' && operator === 'is' ? { operator: 'is_empty' as const } : { operator, values };
  return [...before, { dimension: dimension as NonNullable<AnalyticsFilter['dimension']>, ...filter }];
}

/** Reads `--order`: metrics or dimensions, largest first; `+clicks` is smallest first. */
export function order(text: string): { by: string; direction: 'asc' | 'desc' }[] {
  return names(text).map((one) => {
    const by = one.replace(/^[+-]/, '');
    const whole = (TIME_UNITS as readonly string[]).includes(by) ? `time:${by}` : by;
    return { by: whole, direction: one.startsWith('+') ? 'asc' : 'desc' };
  });
}

/** Returns the query of the options. */
export function queryOf(options: QueryOptions): AnalyticsQuery {
  const { days, from, to } = options;
  const window = given({ days, from, to });
  return given({
    metrics: options.metrics as AnalyticsQuery['metrics'],
    dimensions: options.by as AnalyticsQuery['dimensions'],
    filters: options.filter,
    window: Object.keys(window).length === 0 ? undefined : window,
    compare: options.compare ? 'previous' : undefined,
    time_zone: options.timeZone,
    bots: options.bots,
    order_by: options.order,
    limit: options.limit,
  }) as AnalyticsQuery;
}
