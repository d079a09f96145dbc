import { readFileSync, rmSync } from 'node:fs';
import { inviteUrl } from '../../core/access/session-tokens.ts';
import { createInvite } from '../../sql/console/invites.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { writePrivate } from '../embedded/secret-file.ts';
import { createDemoWorkspace, type DemoWorkspace } from './first-start.ts';

/**
 * Returns the demo workspace until its keys are printed. The databases store only hashes of the keys, so a file
 * (mode 0600) contains them until a ready line prints them.
 *
 * @param path path of the file; the caller removes it after printing the keys
 * @param appUrl origin of the console
 * @returns null when there is nothing to print
 */
export async function demoKeysToPrint(
  pool: Pool,
  { path, appUrl }: { path: string; appUrl: string },
): Promise<DemoWorkspace | null> {
  const saved = savedIn(path);
  if (saved !== null && (await exists(pool, saved.workspace_id))) {
    // The link in the file may have expired.
    const { token } = await createInvite(pool, {
      workspaceId: saved.workspace_id,
      email: null,
      role: 'owner',
    });
    return { ...saved, console_url: inviteUrl(appUrl, token) };
  }
  rmSync(path, { force: true });
  return createDemoWorkspace(pool, appUrl, (demo) => writePrivate(path, JSON.stringify(demo)));
}

function savedIn(path: string): DemoWorkspace | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as DemoWorkspace;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** A start that exited before its commit leaves keys of a workspace that does not exist. */
async function exists(pool: Pool, workspaceId: string): Promise<boolean> {
  const { rowCount } = await pool.query('SELECT 1 FROM workspaces WHERE id = $1', [workspaceId]);
  return rowCount !== 0;
}
