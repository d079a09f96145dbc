import type { ClickHouseClient } from '../client.ts';
import { runQuery } from '../queries/run-query.ts';
import { copyMissed } from './copy-missed.ts';

/** Longest time of one statement, in seconds. */
const SECONDS = 600;

export type ImportedClicks = { workspaceId: string; importId: string };

const OWN = 'workspace_id = {workspace:UUID} AND imported AND import_id = {import:UUID}';

/** Copies the clicks of an import that a replica lacks from another one, day by day. May be repeated. */
export async function copyImport(
  from: ClickHouseClient,
  to: ClickHouseClient,
  clicks: ImportedClicks,
): Promise<void> {
  const [stored, present] = await Promise.all([clicksByDay(from, clicks), clicksByDay(to, clicks)]);
  for (const [day, hash] of stored) {
    if (present.get(day) === hash) continue;
    await copyMissed(from, to, {
      table: 'clicks',
      sql: `${OWN} AND ts >= toDateTime64({day:String}, 9, 'UTC')
        AND ts < toDateTime64({day:String}, 9, 'UTC') + INTERVAL 1 DAY`,
      params: { ...parametersOf(clicks), day },
    });
  }
}

/** Returns a hash of the import's clicks by day (`YYYY-MM-DD`), in order. */
async function clicksByDay(client: ClickHouseClient, clicks: ImportedClicks): Promise<Map<string, string>> {
  const rows = await runQuery<{ day: string; hash: string }>(client, {
    sql: `SELECT toString(toDate(ts)) AS day, concat(toString(count()), '/', toString(sum(cityHash64(ts, sequence)))) AS hash
      FROM clicks WHERE ${OWN} GROUP BY day ORDER BY day`,
    params: parametersOf(clicks),
    seconds: SECONDS,
  });
  return new Map(rows.map(({ day, hash }) => [day, hash]));
}

const parametersOf = ({ workspaceId, importId }: ImportedClicks) => ({
  workspace: workspaceId,
  import: importId,
});
