import { createHash } from 'node:crypto';
import type { ClickHouseClient } from '../client.ts';
import { createClientCaches } from '../client-caches.ts';
import { PROGRESS_HEADERS } from '../queries/run-query.ts';
import { type Cover, generationsOf } from './cover.ts';

/** Of so many things it is remembered when they were asked for. */
const REMEMBERED = 4_096;
/** What is asked for twice within this time is merged, and looked after again when it is over. Milliseconds. */
const SOON_MS = 40 * 60_000;
/** Minutes. Rows may be merged anew beyond the one and are read up to the other: they may be removed an hour old. */
const AGE = { replaced: 30, read: 50 };
const SECONDS = 120;
/** So many things wait to be merged at most; what is beyond is merged when it is asked for once more. */
const WAITING = 16;

const youngerThan = (minutes: number) => `made > now() - INTERVAL ${minutes} MINUTE`;
/** For so long what was merged is read, by this process's clock. */
export const READ_MS = AGE.read * 60_000;
/** Merged rows of a cover. Goes with {@link mergedParams}, as what follows. */
export const OF_COVER = 'workspace_id = {workspace:UUID} AND cover = {cover:String}';
/** Merged rows that may be read. */
export const READABLE = `${OF_COVER} AND ${youngerThan(AGE.read)}`;
/** Merged rows that need not be made again yet. */
export const STILL_NEW = `${OF_COVER} AND ${youngerThan(AGE.replaced)}`;

/** The rolled-up periods of a window of a workspace, as parameters. */
export type MergedParams = { workspace: string; generations: bigint[]; cover: string };

/** The parameters of merged rows. The same periods make the same cover, and another one when any was made again. */
export function mergedParams(workspaceId: string, cover: Cover): MergedParams {
  const generations = generationsOf(cover);
  return { workspace: workspaceId, generations, cover: nameOf(generations.map(String)) };
}

/** A name for a set of texts: 32 hexadecimal digits. */
export const nameOf = (texts: readonly string[]) =>
  createHash('sha256')
    .update([...texts].sort().join())
    .digest('hex')
    .slice(0, 32);

type Asked = { at: number; merged: boolean };

const askedForOf = createClientCaches<string, Asked>(REMEMBERED);
let merging: Promise<void> = Promise.resolve();
let waiting = 0;

/**
 * Notes that something was asked for which is quicker once it is merged. The second time it is merged, one thing
 * after the other, for the reports to come: nobody waits for it, and a failure only leaves them as they are.
 *
 * @param name of what was asked for
 * @param merge see {@link insertMerged}
 */
export function noteAsked(client: ClickHouseClient, name: string, merge: () => Promise<void>): void {
  const known = askedForOf(client);
  const now = Date.now();
  const before = known.get(name);
  if (before === undefined || now - before.at > SOON_MS) {
    known.set(name, { at: now, merged: false });
  } else if (!before.merged && waiting < WAITING) {
    before.merged = true;
    waiting += 1;
    merging = merging
      .then(merge)
      .catch(() => {
        known.delete(name);
      })
      .finally(() => {
        waiting -= 1;
      });
  }
}

/** Resolves when nothing is being merged by this process. */
export async function mergingDone(): Promise<void> {
  await merging;
}

/**
 * Inserts what is merged. One thread writes one block, however many rows it has, and one block is one part: it is there in full or
 * not at all.
 */
export async function insertMerged(
  client: ClickHouseClient,
  query: string,
  params: Record<string, unknown>,
): Promise<void> {
  await client.command({
    query,
    query_params: params,
    clickhouse_settings: {
      ...PROGRESS_HEADERS,
      max_execution_time: SECONDS,
      wait_end_of_query: 1,
      max_insert_threads: '1',
      min_insert_block_size_rows: '1000000000',
      min_insert_block_size_bytes: '0',
    },
  });
}
