import type { ClockDimension, LinkDimension, TextDimension } from '../../../core/analytics/dimensions.ts';
import { bucketSql, clockSql, textColumn } from '../../queries/click-conditions.ts';

/** A dimension that rows are grouped by. */
export type Key =
  | { kind: 'text'; dimension: TextDimension }
  | { kind: 'link' }
  | { kind: 'asn' }
  | { kind: 'clock'; dimension: ClockDimension }
  /** The bucket that a row's time is in; its value is the bucket's start, nanoseconds. */
  | { kind: 'bucket' }
  /**
   * Values of links in PostgreSQL: `values[i]` belongs to `links[i]`. A link with several values counts for each. A
   * link that is not listed has an empty value, or is left out.
   */
  | {
      kind: 'mapped';
      dimension: LinkDimension;
      links: readonly string[];
      values: readonly string[];
      leavesOutOthers: boolean;
    };

/** The keys of a query as SQL. The nth key has the name `k<n>`. */
export type KeysSql = {
  names: string[];
  /** `expression AS k0, …`, each followed by a comma; empty without keys. */
  selected: string;
  /** Joins that the expressions need, after a table with the columns of a click. */
  joins: string;
  params: Record<string, unknown>;
};

/** @param starts when buckets begin, for a key of kind `bucket` */
export function keysSql(keys: readonly Key[], starts: readonly bigint[], timeZone: string): KeysSql {
  const names = keys.map((_, n) => `k${n}`);
  const joins: string[] = [];
  const params: Record<string, unknown> = {};
  if (keys.some(({ kind }) => kind === 'bucket')) params.starts = starts;
  if (keys.some(({ kind }) => kind === 'clock')) params.zone = timeZone;
  const expressions = keys.map((key, n): string => {
    if (key.kind === 'text') return textColumn(key.dimension);
    if (key.kind === 'clock') return clockSql(key.dimension, '{zone:String}');
    if (key.kind === 'bucket') return bucketSql('{starts:Array(Int64)}');
    if (key.kind !== 'mapped') return key.kind === 'link' ? 'link_id' : 'asn';
    params[`links_${n}`] = key.links;
    params[`values_${n}`] = key.values;
    joins.push(`${key.leavesOutOthers ? 'INNER' : 'LEFT'} JOIN (
      SELECT pair.1 AS link_of_${n}, pair.2 AS value_${n}
      FROM (SELECT arrayJoin(arrayZip({links_${n}:Array(UUID)}, {values_${n}:Array(String)})) AS pair)
    ) AS map_${n} ON link_id = link_of_${n}`);
    return `value_${n}`;
  });
  const selected = expressions.map((sql, n) => `${sql} AS ${names[n]}, `).join('');
  return { names, selected, joins: joins.join(' '), params };
}
