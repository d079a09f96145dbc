import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../../core/settings/config.ts';
import { createPool, type Pool } from '../../sql/database/pool.ts';
import { FIRST_ID } from '../../sql/links/link-table.ts';
import {
  linksOfReplicaAfter,
  putReplicaMarker,
  removeReplicaMarker,
} from '../../sql/links/replica-markers.ts';
import { type Finding, findingsOf } from './finding.ts';

const TIMEOUT_MS = 3_000;
/** Longest wait for what was committed at the primary. Ingest waits for 30 s. */
const LAG_MS = 3_000;
const ASK_EVERY_MS = 50;

const open = (url: string) =>
  createPool(url, { max: 1, connectTimeoutMs: TIMEOUT_MS, statementTimeoutMs: TIMEOUT_MS });

const OTHER_REPLICA =
  'set DATABASE_READ_URL to a standby of the primary of DATABASE_URL, or leave it empty; see docs/operations/postgresql-failover.md';

/** Checks that `DATABASE_READ_URL` is a standby of the primary, as the role of `DATABASE_URL`, and how far behind. */
export async function checkReplica(
  { databaseUrl, databaseReadUrl }: Pick<Config, 'databaseUrl' | 'databaseReadUrl'>,
  lagMs = LAG_MS,
): Promise<Finding[]> {
  if (databaseReadUrl === '') return [];
  const [primary, replica] = [open(databaseUrl), open(databaseReadUrl)];
  try {
    return [await replicaFinding(primary, replica, lagMs)].flatMap((finding) => finding ?? []);
  } finally {
    await Promise.all([primary.end(), replica.end()]);
  }
}

/** @returns null when the primary does not respond: the check of its clock reports that */
async function replicaFinding(primary: Pool, replica: Pool, lagMs: number): Promise<Finding | null> {
  const { ok, warning, error } = findingsOf('replica');
  const isStandby = await inRecovery(replica).catch((cause: Error) => cause);
  if (isStandby instanceof Error)
    return error(`DATABASE_READ_URL does not respond: ${isStandby.message}`, OTHER_REPLICA);
  const marker = await putReplicaMarker(primary).catch(() => null);
  if (marker === null) return null;
  try {
    const behindMs = await untilSeen(replica, marker, lagMs);
    if (behindMs !== null && !isStandby) {
      return warning(
        'DATABASE_READ_URL is the primary itself, which is read as without the setting',
        OTHER_REPLICA,
      );
    }
    if (behindMs !== null)
      return ok(
        `DATABASE_READ_URL is a standby of the primary, and had its newest commit within ${behindMs} ms`,
      );
    const [own, other] = await Promise.all([systemOf(primary), systemOf(replica)]);
    if (!isStandby || (own !== null && other !== null && own !== other))
      return error("DATABASE_READ_URL does not replicate DATABASE_URL's server", OTHER_REPLICA);
    return warning(
      `DATABASE_READ_URL is a standby that is more than ${lagMs / 1_000} s behind: ${await lagOf(primary, replica)}; ingest waits for 30 s, then reads the primary`,
      'see pg_stat_replication of the primary: the standby is disconnected, its replay is paused, or a long query holds it up',
    );
  } catch (cause) {
    return error(`links cannot be read from DATABASE_READ_URL: ${(cause as Error).message}`, OTHER_REPLICA);
  } finally {
    await removeReplicaMarker(primary, marker).catch(() => {}); // the next one removes it
  }
}

/** Returns the milliseconds until the server had the marker; null: it did not within the limit. */
async function untilSeen(replica: Pool, marker: string, lagMs: number): Promise<number | null> {
  const began = performance.now();
  while ((await linksOfReplicaAfter(replica, { marker, id: FIRST_ID, limit: 1 })) === null) {
    if (performance.now() - began > lagMs) return null;
    await delay(ASK_EVERY_MS);
  }
  return Math.ceil(performance.now() - began);
}

async function inRecovery(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query<{ found: boolean }>('SELECT pg_is_in_recovery() AS found');
  return rows[0]?.found === true;
}

/** Returns what a primary and its standbys share; null where a managed service does not tell. */
async function systemOf(pool: Pool): Promise<string | null> {
  const { rows } = await pool
    .query<{ system: string }>('SELECT system_identifier::text AS system FROM pg_control_system()')
    .catch(() => ({ rows: [] }));
  return rows[0]?.system ?? null;
}

async function lagOf(primary: Pool, replica: Pool): Promise<string> {
  const written = await primary.query<{ at: string }>('SELECT pg_current_wal_lsn()::text AS at');
  const { rows } = await replica.query<{ bytes: string | null; seconds: number | null }>(
    `SELECT pg_wal_lsn_diff($1, pg_last_wal_replay_lsn())::text AS bytes,
       extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())::int AS seconds`,
    [written.rows[0]?.at],
  );
  const { bytes = null, seconds = null } = rows[0] ?? {};
  return `it lacks ${bytes ?? 'an unknown number of'} bytes of WAL, and its newest commit is ${seconds ?? 'an unknown number of'} s old`;
}
