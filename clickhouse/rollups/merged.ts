import { createHash } from 'node:crypto';
import { createBoundedCache } from '../../core/bounded-cache.ts';
import type { ClickHouseClient } from '../client.ts';
import { ALIVE } from '../questions/ask.ts';

/** Of so many covers it is remembered when they were asked for. */
const COVERS = 4_096;
/** A cover that is asked for twice within this time is merged, and looked after again when it is over. Milliseconds. */
const SOON_MS = 40 * 60_000;
/** Minutes. Rows may be merged anew beyond the one and are read up to the other: they may be removed an hour old. */
const AGE = { replaced: 30, read: 50 };
const SECONDS = 120;

/** What is asked with: the rolled-up periods of a window, of all links of a workspace. */
export type MergedParams = { workspace: string; generations: bigint[]; cover: string };

/** The parameters of {@link MERGED_ROLL_UPS}. The same periods make the same cover, and another one when any was made again. */
export function mergedParams(workspaceId: string, generations: readonly string[]): MergedParams {
  const names = [...generations].sort().join();
  return {
    workspace: workspaceId,
    generations: generations.map(BigInt),
    cover: createHash('sha256').update(names).digest('hex').slice(0, 32),
  };
}

const OF_COVER = 'workspace_id = {workspace:UUID} AND cover = {cover:String}';
const isMerged = (minutes: number) =>
  `(SELECT count() > 0 FROM merged_roll_ups WHERE ${OF_COVER} AND made > now() - INTERVAL ${minutes} MINUTE)`;

/**
 * The rows of a cover by channel as a subquery: `channel, clicks, visitors` (a state). From `merged_roll_ups` when the
 * cover stands there, and else from the roll-ups themselves. The store decides while it answers, so nobody has to know; it
 * answers equal scalar questions once, so it can't decide twice. Goes with {@link mergedParams}.
 */
export const MERGED_ROLL_UPS = `(
  SELECT channel, clicks, visitors FROM merged_roll_ups FINAL
  WHERE ${OF_COVER} AND ${isMerged(AGE.read)}
  UNION ALL
  SELECT channel, clicks, visitors FROM clicks_rolled_up
  WHERE workspace_id = {workspace:UUID} AND generation IN {generations:Array(UInt64)} AND NOT ${isMerged(AGE.read)})`;

type Asked = { at: number; merged: boolean };

const askedFor = new WeakMap<ClickHouseClient, ReturnType<typeof createBoundedCache<string, Asked>>>();
let merging: Promise<void> | null = null;

/**
 * Notes that a report was asked for. The second time it begins to merge the cover, one cover at a time, for the reports to
 * come: nobody waits for it, and a failure only leaves them as they are.
 */
export function noteAsked(client: ClickHouseClient, asked: MergedParams): void {
  if (asked.generations.length === 0) return;
  const known = askedFor.get(client) ?? createBoundedCache<string, Asked>(COVERS);
  askedFor.set(client, known);
  const name = `${asked.workspace}/${asked.cover}`;
  const now = Date.now();
  const before = known.get(name);
  if (before === undefined || now - before.at > SOON_MS) {
    known.set(name, { at: now, merged: false });
  } else if (!before.merged && merging === null) {
    before.merged = true;
    merging = merge(client, asked)
      .catch(() => known.delete(name))
      .finally(() => {
        merging = null;
      });
  }
}

/** Resolves when no cover is being merged by this process. */
export async function mergingDone(): Promise<void> {
  await merging;
}

/** Merges a cover unless it has just been. Two at once write the same rows, of which one each counts. */
async function merge(client: ClickHouseClient, asked: MergedParams): Promise<void> {
  await client.command({
    query: `INSERT INTO merged_roll_ups (workspace_id, cover, channel, clicks, visitors)
      SELECT {workspace:UUID}, {cover:String}, channel, sum(clicks), uniqCombined64MergeState(17)(visitors)
      FROM clicks_rolled_up
      WHERE workspace_id = {workspace:UUID} AND generation IN {generations:Array(UInt64)}
        AND NOT ${isMerged(AGE.replaced)}
      GROUP BY channel`,
    query_params: asked,
    // One thread writes one part, so a cover is there in full or not at all.
    clickhouse_settings: {
      ...ALIVE,
      max_execution_time: SECONDS,
      wait_end_of_query: 1,
      max_insert_threads: '1',
    },
  });
}
