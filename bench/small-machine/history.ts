import { createClickHouse } from '../../clickhouse/client.ts';
import { createKey } from '../../sql/workspaces/keys.ts';
import { addRecords } from '../api/data.ts';
import { generateClicks, WORKSPACES } from '../generate-clicks.ts';
import type { BenchService } from '../service/start.ts';

/** Whole days within the window of 365 days that ends now. */
export const DAYS = 364;
const DAY_MS = 86_400_000;

/**
 * Inserts a year of clicks in parts, so that generating them takes little of the limited memory. One workspace has half
 * of them.
 *
 * @param daysOfPart divides the 364 days
 * @returns the key of that workspace and the number of its clicks
 */
export async function fillYear(
  service: Pick<BenchService, 'clickhouseUrl' | 'pool'>,
  clicks: number,
  daysOfPart = 1,
): Promise<{ key: string; clicks: number }> {
  const client = createClickHouse({ url: service.clickhouseUrl, database: 'hoplog', timeoutMs: 600_000 });
  try {
    const parts = DAYS / daysOfPart;
    const rows = Math.floor((clicks * 2) / parts);
    const midnight = Math.floor(Date.now() / DAY_MS) * DAY_MS;
    for (let part = 0; part < parts; part += 1) {
      const until = new Date(midnight - part * daysOfPart * DAY_MS)
        .toISOString()
        .slice(0, 19)
        .replace('T', ' ');
      await generateClicks(client, {
        table: 'clicks',
        rows,
        days: daysOfPart,
        until,
        first: part * rows,
        population: rows * parts,
      });
    }
    await addRecords(client, service.pool);
    const { token } = await createKey(service.pool, {
      workspaceId: WORKSPACES.half,
      kind: 'secret',
      label: 'bench',
    });
    const result = await client.query({
      query: 'SELECT count() AS stored FROM clicks WHERE workspace_id = {workspace:UUID}',
      query_params: { workspace: WORKSPACES.half },
      format: 'JSONEachRow',
    });
    const [row] = await result.json<{ stored: string }>();
    return { key: token, clicks: Number(row?.stored ?? 0) };
  } finally {
    await client.close();
  }
}
