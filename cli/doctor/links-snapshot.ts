import { existsSync } from 'node:fs';
import { openFileTarget } from '../../core/file-targets/open.ts';
import type { FileTarget } from '../../core/file-targets/target.ts';
import type { Config } from '../../core/settings/config.ts';
import {
  type Manifest,
  readManifest,
  snapshotKeys,
  unusable,
} from '../../ingest/link-table/snapshot/manifest.ts';
import { createPool, type Pool } from '../../sql/database/pool.ts';
import { readSecrets } from '../../sql/database/secrets.ts';
import { changesAfter } from '../../sql/links/link-changes.ts';
import { assertWritable } from '../backup/target.ts';
import { type Finding, findingsOf } from './finding.ts';

const TIMEOUT_MS = 3_000;
/** Ingest writes one each hour. Milliseconds. */
const OLDEST_MS = 2 * 3_600_000;

/** Checks that `LINKS_SNAPSHOT_TO` can be read and written, and that a new volume can be filled from it. */
export async function checkSnapshot(
  config: Pick<Config, 'databaseUrl' | 'linksSnapshotTo' | 's3'>,
): Promise<Finding[]> {
  const { linksSnapshotTo: to, s3 } = config;
  if (to === '') return [];
  const { error } = findingsOf('snapshot');
  let state: Manifest | string | null = null;
  let isRead = false;
  const pool = createPool(config.databaseUrl, {
    max: 1,
    connectTimeoutMs: TIMEOUT_MS,
    statementTimeoutMs: TIMEOUT_MS,
  });
  try {
    const target = openFileTarget(to, s3);
    await target.list('links/');
    isRead = true;
    // Ingest makes the folder. One that this command made could belong to another user.
    if (to.startsWith('s3://') || existsSync(target.name)) await assertWritable(target);
    state = await newestSnapshot(pool, target);
  } catch (cause) {
    return [
      error(
        `cannot ${isRead ? 'write to' : 'read'} LINKS_SNAPSHOT_TO=${to}: ${(cause as Error).message}`,
        'correct LINKS_SNAPSHOT_TO, its permissions, or the AWS settings, then run: npx hoplog doctor',
      ),
    ];
  } finally {
    await pool.end();
  }
  return state === null ? [] : [snapshotFinding(to, state)];
}

/** @returns why it can't be used; null when PostgreSQL does not respond: the check of its clock reports that */
async function newestSnapshot(pool: Pool, target: FileTarget): Promise<Manifest | string | null> {
  const known = await Promise.all([readSecrets(pool), changesAfter(pool, { xid: '0', id: '-1' }, 1)]).catch(
    () => null,
  );
  if (known === null) return null;
  const [secrets, { server }] = known;
  const found = await readManifest(target, snapshotKeys(secrets.cookie)).catch((cause: Error) => cause);
  if (found instanceof Error) return found.message;
  if (found === null) return 'there is none of this deployment';
  return unusable(found, server, Date.now()) ?? found;
}

function snapshotFinding(to: string, state: Manifest | string): Finding {
  const { ok, warning } = findingsOf('snapshot');
  const fix = 'see the log of ingest, which writes one within a minute of having all links, and each hour';
  if (typeof state === 'string')
    return warning(`no new volume can be filled from LINKS_SNAPSHOT_TO=${to}: ${state}`, fix);
  const { links, syncPoint } = state;
  const ageMs = Date.now() - syncPoint.at;
  const text = `the newest snapshot of links is ${Math.round(ageMs / 60_000)} minutes old and has ${links} links`;
  return ageMs > OLDEST_MS ? warning(text, fix) : ok(text);
}
