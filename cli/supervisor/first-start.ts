import { inviteUrl } from '../../core/access/session-tokens.ts';
import { createInvite } from '../../sql/console/invites.ts';
import { ADVISORY_LOCKS } from '../../sql/database/advisory-locks.ts';
import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import { createKey } from '../../sql/workspaces/keys.ts';
import { createWorkspace } from '../../sql/workspaces/workspaces.ts';

/** The workspace of the first start. Keys and link are printed once and cannot be read again. */
export type DemoWorkspace = {
  workspace_id: string;
  workspace: string;
  secret_key: string;
  publishable_key: string;
  /** Creates the first owner; works once, within 15 minutes. `hoplog console invite` creates another. */
  console_url: string;
};

/**
 * Creates the workspace `demo` (plan `unlimited`) with one key of each kind and an invitation of its first owner, if no
 * workspace exists.
 *
 * @param appUrl origin of the console
 * @param save saves the result before the commit makes it valid
 * @returns null if a workspace exists
 */
export function createDemoWorkspace(
  pool: Pool,
  appUrl: string,
  save?: (demo: DemoWorkspace) => void,
): Promise<DemoWorkspace | null> {
  return inTransaction(pool, async (db) => {
    await db.query('SELECT pg_advisory_xact_lock($1)', [ADVISORY_LOCKS.firstStart]);
    const { rowCount } = await db.query('SELECT 1 FROM workspaces LIMIT 1');
    if (rowCount !== 0) return null;
    const workspace = await createWorkspace(db, { name: 'demo', plan: 'unlimited' });
    const given = { workspaceId: workspace.id, label: 'first start' };
    const secret = await createKey(db, { ...given, kind: 'secret' });
    const publishable = await createKey(db, { ...given, kind: 'publishable' });
    const { token } = await createInvite(db, { workspaceId: workspace.id, email: null, role: 'owner' });
    const demo = {
      workspace_id: workspace.id,
      workspace: workspace.slug,
      secret_key: secret.token,
      publishable_key: publishable.token,
      console_url: inviteUrl(appUrl, token),
    };
    save?.(demo);
    return demo;
  });
}
