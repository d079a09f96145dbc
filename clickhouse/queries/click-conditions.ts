import {
  type ClockDimension,
  type Operator,
  TEXT_COLUMNS,
  type TextDimension,
} from '../../core/analytics/dimensions.ts';
import { charactersThatFoldInto, foldCase } from '../../core/text/fold-case.ts';

type Values = { operator: Operator; values: readonly string[] };

/**
 * A condition on a click. It holds for an attributed share as for the click that has the share: both tables have the
 * same columns.
 */
export type Condition =
  | ({ kind: 'text'; dimension: TextDimension } & Values)
  | ({ kind: 'link' } & Values)
  | ({ kind: 'asn' } & Values)
  | ({ kind: 'clock'; dimension: ClockDimension; timeZone: string } & Values)
  /** The link is one of these, or none of them. */
  | { kind: 'links'; ids: readonly string[]; isInside: boolean }
  /** The time is in one of some buckets: starts of all buckets, and of those that match, nanoseconds. */
  | { kind: 'buckets'; starts: readonly bigint[]; matching: readonly bigint[] }
  | { kind: 'any'; of: readonly Condition[] };

/** SQL on the columns of a row, with its parameters. */
export type Sql = { sql: string; params: Record<string, unknown> };

/** Whether visits that led to no link are among the clicks, or are all of them. */
export type Orphans = 'exclude' | 'include' | 'only';

const NO_LINK = "toUUID('00000000-0000-0000-0000-000000000000')";

/** A click of a person on a link. */
export const IS_COUNTED = 'NOT is_bot AND NOT is_orphan';

/** SQL of how many clicks rows of `clicks` represent: an imported row may be a count from its source. */
export const CLICKS = 'count() + sum(extra_clicks)';

/**
 * Excludes imported clicks. Their times come from the source, so they would appear between clicks that a poller already
 * has.
 */
export const IS_OWN = 'NOT imported';

/** Returns the condition on visits that led to no link as SQL that begins with `AND`, or is empty. */
export const orphansSql = (orphans: Orphans) =>
  ({ exclude: 'AND NOT is_orphan', include: '', only: 'AND is_orphan' })[orphans];

/** Returns conditions as SQL that begins with `AND`, with its parameters; none: an empty text. */
export function conditionsSql(conditions: readonly Condition[]): Sql {
  const params: Record<string, unknown> = {};
  /** Adds a parameter and returns its use. */
  const param = (type: string, value: unknown): string => {
    const name = `filter_${Object.keys(params).length}`;
    params[name] = value;
    return `{${name}:${type}}`;
  };
  const sql = conditions.map((condition) => `AND ${conditionSql(condition, param)}`).join(' ');
  return { sql, params };
}

type Param = (type: string, value: unknown) => string;

function conditionSql(condition: Condition, param: Param): string {
  switch (condition.kind) {
    case 'any':
      return `(${condition.of.map((one) => conditionSql(one, param)).join(' OR ') || 'false'})`;
    case 'links':
      return `link_id ${condition.isInside ? 'IN' : 'NOT IN'} (SELECT arrayJoin(${param('Array(UUID)', condition.ids)}))`;
    case 'buckets':
      return `${bucketSql(param('Array(Int64)', condition.starts))} IN ${param('Array(Int64)', condition.matching)}`;
    case 'link':
      return linkSql(condition, param);
    case 'asn':
      return asnSql(condition, param);
    case 'text':
      return textSql(textColumn(condition.dimension), condition, param);
    case 'clock':
      return textSql(
        `toString(${clockSql(condition.dimension, param('String', condition.timeZone))})`,
        condition,
        param,
      );
  }
}

/** Returns the SQL of the bucket of a row. @param starts SQL of the starts of all buckets, nanoseconds, ascending */
export const bucketSql = (starts: string) => `roundDown(toUnixTimestamp64Nano(ts), ${starts})`;

/** Returns the SQL of the weekday or hour of a row. @param timeZone an SQL expression */
export const clockSql = (dimension: ClockDimension, timeZone: string) =>
  dimension === 'weekday' ? `toDayOfWeek(ts, 0, ${timeZone})` : `toHour(ts, ${timeZone})`;

function linkSql({ operator, values }: Values, param: Param): string {
  if (operator === 'is') return `link_id IN (SELECT arrayJoin(${param('Array(UUID)', values)}))`;
  if (operator === 'is_not') return `link_id NOT IN (SELECT arrayJoin(${param('Array(UUID)', values)}))`;
  return textSql(`if(link_id = ${NO_LINK}, '', toString(link_id))`, { operator, values }, param);
}

function asnSql({ operator, values }: Values, param: Param): string {
  if (operator === 'is') return `asn IN ${param('Array(UInt32)', values.map(Number))}`;
  if (operator === 'is_not') return `asn NOT IN ${param('Array(UInt32)', values.map(Number))}`;
  return textSql("if(asn = 0, '', toString(asn))", { operator, values }, param);
}

/** SQL of a dimension as a text: an enumeration can't be compared with a text that it does not have. */
export const textColumn = (dimension: TextDimension) =>
  dimension === 'trigger' ? 'toString(trigger)' : TEXT_COLUMNS[dimension];

/** @param text SQL; an empty text: unknown */
function textSql(text: string, { operator, values }: Values, param: Param): string {
  switch (operator) {
    case 'is':
      return `${text} IN ${param('Array(String)', values)}`;
    case 'is_not':
      return `${text} NOT IN ${param('Array(String)', values)}`;
    case 'contains':
      return containsSql(text, values, param);
    case 'contains_not':
      return `NOT ${containsSql(text, values, param)}`;
    case 'is_empty':
      return `${text} = ''`;
  }
}

/** Most needles of `multiSearchAny`. */
const NEEDLES = 255;

/**
 * Returns whether a text has a part, with the case folded as `foldCase` does. `caseFoldUTF8` takes five times as long
 * as `lowerUTF8`, so it sees only texts with a character that the two treat differently.
 */
function containsSql(text: string, values: readonly string[], param: Param): string {
  const parts = values.map(foldCase);
  const lower = `lowerUTF8(${text})`;
  const has = (sql: string, any: readonly string[]) => hasAnySql(sql, any, param);
  const unlike = charactersThatFoldInto(parts);
  if (unlike.length === 0) return has(lower, parts);
  return `(${has(lower, parts)} OR (${has(lower, unlike)} AND ${has(`caseFoldUTF8(${text})`, parts)}))`;
}

function hasAnySql(text: string, parts: readonly string[], param: Param): string {
  const found: string[] = [];
  for (let from = 0; from < parts.length; from += NEEDLES)
    found.push(`multiSearchAny(${text}, ${param('Array(String)', parts.slice(from, from + NEEDLES))})`);
  return `(${found.join(' OR ')})`;
}
