import type { MissedRows } from './copy-missed.ts';

/** A moment of a workspace at which rows happened: `<workspace>/<nanoseconds since the epoch>`. */
export type Moment = string;

/** Returns the name of a moment. @param workspaceId empty in `removed_clicks`, which names none */
export function momentOf(workspaceId: string, ts: number, ordinal: number): Moment {
  return `${workspaceId}/${BigInt(ts) * 1_000n + BigInt(ordinal)}`;
}

/** Returns the time of a moment in microseconds. */
export function microsOf(moment: Moment): number {
  return Number(BigInt(moment.slice(moment.indexOf('/') + 1)) / 1_000n);
}

/** Returns the rows of a table at these moments. */
export function rowsAt(table: MissedRows['table'], moments: readonly Moment[]): MissedRows {
  const parts = moments.map((moment) => moment.split('/'));
  const times = parts.map(([, time = '0']) => BigInt(time));
  if (table === 'removed_clicks') {
    const sql = "ts IN (SELECT fromUnixTimestamp64Nano(arrayJoin({times:Array(Int64)}), 'UTC') AS moment)";
    return { table, sql, params: { times } };
  }
  return {
    table,
    sql: `(workspace_id, ts) IN (SELECT given.1, fromUnixTimestamp64Nano(given.2, 'UTC') FROM (
      SELECT arrayJoin(arrayZip({workspaces:Array(UUID)}, {times:Array(Int64)})) AS given))`,
    params: { workspaces: parts.map(([workspace]) => workspace), times },
  };
}
