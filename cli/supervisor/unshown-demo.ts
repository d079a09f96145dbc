import { readFileSync, rmSync } from 'node:fs';
import { inviteUrl } from '../../core/access/session-tokens.ts';
import { createInvite } from '../../sql/console/invites.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { writePrivate } from '../embedded/secret-file.ts';
import { createDemoWorkspace, type DemoWorkspace } from './first-start.ts';

/**
 * The demo workspace, as long as no ready line has shown its keys: made by this start, or by one that ended before its
 * ready line. The stores have the keys as hashes only, so until then they are kept in a file (mode 0600).
 *
 * @param path of that file; whoever has shown the keys removes it
 * @param appUrl origin of the console
 * @returns null when there is nothing to show
 */
export async function unshownDemo(
  pool: Pool,
  { path, appUrl }: { path: string; appUrl: string },
): Promise<DemoWorkspace | null> {
  const kept = keptIn(path);
  if (kept !== null && (await isThere(pool, kept.workspace_id))) {
    // The link that was kept may have expired meanwhile.
    const { token } = await createInvite(pool, {
      workspaceId: kept.workspace_id,
      email: null,
      role: 'owner',
    });
    return { ...kept, console_url: inviteUrl(appUrl, token) };
  }
  rmSync(path, { force: true });
  return createDemoWorkspace(pool, appUrl, (demo) => writePrivate(path, JSON.stringify(demo)));
}

function keptIn(path: string): DemoWorkspace | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as DemoWorkspace;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** A start that ended before its commit has kept keys of a workspace that never was. */
async function isThere(pool: Pool, workspaceId: string): Promise<boolean> {
  const { rowCount } = await pool.query('SELECT 1 FROM workspaces WHERE id = $1', [workspaceId]);
  return rowCount !== 0;
}
