/** A half-open span of time, nanoseconds since the epoch, inside what the store can hold (`clampToStored`). */
export type Span = { from: bigint; to: bigint };

/** The condition on `ts` for a {@link Span} whose bounds are the parameters `from` and `to`. */
export const IN_SPAN = `ts >= fromUnixTimestamp64Nano({from:Int64}, 'UTC')
  AND ts < fromUnixTimestamp64Nano({to:Int64}, 'UTC')`;

/** The condition on `ts` for any of some spans, with its parameters `from0`, `to0` and so on; no span: nothing matches. */
export function inSpans(spans: readonly Span[]): { sql: string; params: Record<string, bigint> } {
  const params: Record<string, bigint> = {};
  const conditions = spans.map(({ from, to }, n) => {
    params[`from${n}`] = from;
    params[`to${n}`] = to;
    return `(ts >= fromUnixTimestamp64Nano({from${n}:Int64}, 'UTC') AND ts < fromUnixTimestamp64Nano({to${n}:Int64}, 'UTC'))`;
  });
  return { sql: conditions.length === 0 ? 'false' : `(${conditions.join(' OR ')})`, params };
}

/** The condition that keeps to one link, whose id is the parameter `link`; null: nothing, of all links. */
export const ofLink = (linkId: string | null) => (linkId === null ? '' : 'AND link_id = {link:UUID}');

/**
 * The condition that leaves out the history of deleted bio buttons: SQL that begins with `AND`, to be used where `link_id`
 * and the parameter `workspace` exist. It reads `link_id`, 16 bytes a click: reports of many clicks leave it out where
 * nothing was deleted (`reportedClicks`).
 */
export const NOT_DELETED =
  'AND link_id NOT IN (SELECT link_id FROM deleted_links WHERE workspace_id = {workspace:UUID})';

/** Which clicks a report counts: bots and deleted links never. */
export type ReportedClicks = {
  workspaceId: string;
  span: Span;
  /** Which links: a condition on `link_id` that begins with `AND`; empty: all of them. */
  condition: string;
  /** What the condition needs. */
  params: Record<string, unknown>;
  /** Up to that many clicks in the window, visitors are counted exactly. */
  exactUpTo: number;
  /** Whether the workspace has deleted links, where that is known already (`sql/event-log/reading-points.ts`); else the store is asked. */
  hasDeleted?: boolean | undefined;
};

/** The parameters of a report: `workspace`, `from`, `to`, and the condition's own. */
export const reportedParams = ({ workspaceId, span, params }: ReportedClicks) => ({
  workspace: workspaceId,
  ...span,
  ...params,
});

/** The condition that keeps to a report's clicks, at any time. */
export const reportedWhere = ({ condition }: ReportedClicks) =>
  `workspace_id = {workspace:UUID} AND NOT is_bot ${condition}`;
