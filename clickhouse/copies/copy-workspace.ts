import { ARCHIVED_EVENTS } from '../archive/archived-tables.ts';
import type { ClickHouseClient } from '../client.ts';
import { ELSEWHERE } from '../inserts/elsewhere.ts';
import { copyMissed } from './copy-missed.ts';

/** What the log gives a replica must not be copied: clicks could be there twice. */
const FROM_ARCHIVE: Readonly<Partial<Record<string, string>>> = {
  clicks: `AND (sequence >= ${ELSEWHERE} OR imported)`,
  identifies: `AND sequence >= ${ELSEWHERE}`,
};

/** Copies the events that the import of a workspace stored to a replica that lacks some of them. May be repeated. */
export async function copyWorkspace(
  from: ClickHouseClient,
  to: ClickHouseClient,
  workspaceId: string,
): Promise<void> {
  for (const { name } of ARCHIVED_EVENTS) {
    const sql = `workspace_id = {workspace:UUID} ${FROM_ARCHIVE[name] ?? ''}`;
    await copyMissed(from, to, { table: name, sql, params: { workspace: workspaceId } });
  }
}
