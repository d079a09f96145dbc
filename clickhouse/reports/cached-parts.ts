import { createHash } from 'node:crypto';
import { type BoundedCache, createBoundedCache } from '../../core/caching/bounded-cache.ts';
import type { ClickHouseClient } from '../client.ts';
import { PROGRESS_HEADERS, runQuery } from '../queries/run-query.ts';

/**
 * The cache of results: parts of reports with many clicks, in the table `cached_report_parts`. A part that is requested
 * a second time within {@link AGAIN_MS} is computed in the background. Each query checks in ClickHouse whether a part
 * is there, so a missing part costs time and never a wrong figure.
 *
 * - The periods of a window by channel, of some links, or by the keys and conditions of a query: named by the periods'
 *   generations, so a part is never out of date (`cached-clicks.ts`).
 * - The shares of a workspace by day, and by channel or the keys and conditions of a query: a day with a share that was
 *   written since is read share by share (`cached-shares.ts`).
 *
 * With half of 20 million clicks of 60 days, a question for 30 days takes, when it is asked first and later, by country:
 * 236 and 94 ms; by city (20,000): 699 and 279; by country under two conditions: 138 and 71; a panel of a dashboard with
 * eight, all at once: 1,371 and 465 (`bench/analytics.ts --clicks 20000000 --days 60`, two cores).
 */

/** A part that is requested twice within this time is cached, and checked when it is over. Milliseconds. */
const AGAIN_MS = 40 * 60_000;
/** A part older than this is computed again: parts an hour old may be removed (`rollups/roll-up.ts`). Minutes. */
const RENEWED_AFTER = 30;
/** Parts whose latest request is cached. */
const REMEMBERED = 4_096;
/** Parts that wait to be computed. One beyond is computed when it is requested again. */
const WAITING = 16;
const FILL_SECONDS = 120;

/**
 * All tables of a query are read as of one moment: a part can't be removed, nor an order replaced, between two reads.
 */
export const ONE_MOMENT = { enable_shared_storage_snapshot_in_query: 1 } as const;

/** Selects the parts of the parameter `workspace`. */
export const OWN = 'workspace_id = {workspace:UUID}';
/** Selects parts that need not be computed again yet. */
export const IS_NEW = `made > now64(6) - INTERVAL ${RENEWED_AFTER} MINUTE`;

/** What the parts of a query are named by: its keys and its conditions. */
export type Shape = {
  /** 32 hexadecimal digits. */
  name: string;
  /** SQL of each key: a text. */
  keys: readonly string[];
  /** SQL on the columns of a click or of a share. It begins with `AND`, or is empty. */
  condition: string;
  /** Parameters of the condition. */
  params: Record<string, unknown>;
};

/** A name for a set of texts: 32 hexadecimal digits. */
export const nameOf = (texts: readonly string[]) =>
  createHash('sha256')
    .update([...texts].sort().join())
    .digest('hex')
    .slice(0, 32);

/**
 * `isCached`: it was requested a second time. `isFilled`: it has been computed since this process began. `rows`: how many
 * it had then, where that was asked for.
 */
type Request = { at: number; isCached: boolean; isFilled: boolean; rows: number };
type Cache = { requests: BoundedCache<string, Request>; filling: Promise<void>; waiting: number };

const cacheOf = new WeakMap<ClickHouseClient, Cache>();

function cache(client: ClickHouseClient): Cache {
  const found = cacheOf.get(client);
  if (found) return found;
  const made = {
    requests: createBoundedCache<string, Request>(REMEMBERED),
    filling: Promise.resolve(),
    waiting: 0,
  };
  cacheOf.set(client, made);
  return made;
}

/**
 * Fills a part the second time that it is requested, one part after the other. A failed fill is tried with a later
 * request.
 *
 * @param name names the part, with its workspace
 * @param count counts the rows of the part, as `found`
 * @returns whether this process has filled the part
 */
export function noteRequest(
  client: ClickHouseClient,
  name: string,
  query: string,
  params: Record<string, unknown>,
  count?: string,
): boolean {
  const state = cache(client);
  const now = Date.now();
  const before = state.requests.get(name);
  if (before === undefined || Math.abs(now - before.at) > AGAIN_MS) {
    state.requests.set(name, {
      at: now,
      isCached: false,
      isFilled: before?.isFilled ?? false,
      rows: before?.rows ?? 0,
    });
  } else if (!before.isCached && state.waiting < WAITING) {
    before.isCached = true;
    state.waiting += 1;
    state.filling = state.filling
      .then(() => fillPart(client, query, params))
      .then(async () => {
        if (count !== undefined) before.rows = await rowsIn(client, count, params);
        before.isFilled = true;
      })
      .catch(() => state.requests.delete(name))
      .finally(() => {
        state.waiting -= 1;
      });
  }
  return before?.isFilled ?? false;
}

/** How many rows a part had when this process filled it, where it counted them; 0: it has not. */
export const rowsFilled = (client: ClickHouseClient, name: string): number =>
  cacheOf.get(client)?.requests.get(name)?.rows ?? 0;

async function rowsIn(
  client: ClickHouseClient,
  sql: string,
  params: Record<string, unknown>,
): Promise<number> {
  const [row] = await runQuery<{ found: string }>(client, { sql, params, seconds: FILL_SECONDS });
  return Number(row?.found ?? 0);
}

/** Resolves when this process is filling no part. */
export async function partsFilled(client: ClickHouseClient): Promise<void> {
  await cache(client).filling;
}

/**
 * Inserts a part. One thread writes one block, and one block is one part of the table: it is there in full or not at
 * all.
 */
async function fillPart(
  client: ClickHouseClient,
  query: string,
  params: Record<string, unknown>,
): Promise<void> {
  await client.command({
    query,
    query_params: params,
    clickhouse_settings: {
      ...PROGRESS_HEADERS,
      max_execution_time: FILL_SECONDS,
      wait_end_of_query: 1,
      max_insert_threads: '1',
      min_insert_block_size_rows: '1000000000',
      min_insert_block_size_bytes: '0',
    },
  });
}
