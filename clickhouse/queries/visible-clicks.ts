/** A half-open span of time, nanoseconds since the epoch, inside what ClickHouse can hold (`clampToStored`). */
export type Span = { from: bigint; to: bigint };

/** The condition on `ts` for a {@link Span} whose bounds are the parameters `from` and `to`. */
export const IN_SPAN = `ts >= fromUnixTimestamp64Nano({from:Int64}, 'UTC')
  AND ts < fromUnixTimestamp64Nano({to:Int64}, 'UTC')`;

/**
 * Returns the condition on `ts` for any of some spans, with its parameters `from0`, `to0` and so on; no span: `false`.
 *
 * @param prefix of the parameters, where a query has several such conditions
 */
export function inSpans(
  spans: readonly Span[],
  prefix = '',
): { sql: string; params: Record<string, bigint> } {
  const params: Record<string, bigint> = {};
  const conditions = spans.map(({ from, to }, n) => {
    const [first, end] = [`${prefix}from${n}`, `${prefix}to${n}`];
    params[first] = from;
    params[end] = to;
    return `(ts >= fromUnixTimestamp64Nano({${first}:Int64}, 'UTC') AND ts < fromUnixTimestamp64Nano({${end}:Int64}, 'UTC'))`;
  });
  return { sql: conditions.length === 0 ? 'false' : `(${conditions.join(' OR ')})`, params };
}

/**
 * The condition that leaves out the history of deleted bio buttons: SQL that begins with `AND`, to be used where
 * `link_id` and the parameter `workspace` exist. It reads `link_id`, 16 bytes a click.
 */
export const NOT_DELETED =
  'AND link_id NOT IN (SELECT link_id FROM deleted_links WHERE workspace_id = {workspace:UUID})';
