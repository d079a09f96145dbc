import type { ClickHouseClient } from '../client.ts';
import { runQuery } from '../queries/run-query.ts';
import { copyMissed } from './copy-missed.ts';

/** Longest time of one statement, in seconds. */
const SECONDS = 600;

export type ImportedClicks = { workspaceId: string; importId: string };

const OWN = 'workspace_id = {workspace:UUID} AND imported AND import_id = {import:UUID}';

const OF_DAY = `${OWN} AND ts >= toDateTime64({day:String}, 9, 'UTC')
  AND ts < toDateTime64({day:String}, 9, 'UTC') + INTERVAL 1 DAY`;

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
      sql: OF_DAY,
      params: { ...parametersOf(clicks), day },
    });
  }
}

/** Makes the clicks of an import those of another replica: a killed import may have stored some in one replica alone. */
export async function matchImport(
  from: ClickHouseClient,
  to: ClickHouseClient,
  clicks: ImportedClicks,
): Promise<void> {
  await copyImport(from, to, clicks);
  const [stored, present] = await Promise.all([clicksByDay(from, clicks), clicksByDay(to, clicks)]);
  const others = [...present].filter(([day, hash]) => stored.get(day) !== hash);
  if (others.length === 0) return;
  for (const [day] of others) {
    await to.command({
      query: `DELETE FROM clicks WHERE ${OF_DAY}`,
      query_params: { ...parametersOf(clicks), day },
      clickhouse_settings: { lightweight_deletes_sync: '2', max_execution_time: SECONDS },
    });
  }
  await copyImport(from, to, clicks);
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
