import { inject } from 'vitest';
import { inviteUrl } from '../../core/access/session-tokens.ts';
import { createInvite } from '../../sql/console/invites.ts';
import { createPool, type Pool } from '../../sql/database/pool.ts';
import { createKey } from '../../sql/workspaces/keys.ts';
import { createWorkspace } from '../../sql/workspaces/workspaces.ts';
import { storesOf } from '../kafka/deployment.ts';
import type { OfferedService } from './offered-service.ts';
import type { Ready } from './service.ts';

/** A test file's own workspace in a running service. */
export type ServedWorkspace = {
  /** Like the ready line of a separate service: with the keys of the workspace, and the link for its first owner. */
  service: Ready & { demo: NonNullable<Ready['demo']>; console_url: string };
  /** Slug of the workspace; unique to this file. */
  slug: string;
  /** Process id of the service's supervisor. */
  pid: number;
  /** The service's directory, for commands beside it. */
  dataDir: string;
  /** The service's PostgreSQL. */
  pool: Pool;
  /** Closes the pool. */
  close(): Promise<void>;
};

/**
 * Returns a workspace `demo` in the service that all test files of the run share, even concurrently. The first call
 * starts it. For tests that neither stop nor kill parts of it, nor need settings of their own. Its webhooks may go to
 * this machine, and it trusts a proxy on it.
 */
export async function servedWorkspace(): Promise<ServedWorkspace> {
  const response = await fetch(inject('sharedServiceUrl'));
  if (!response.ok) throw new Error(await response.text());
  const { api_url, short_url, pid, dataDir } = (await response.json()) as OfferedService;
  const pool = createPool(storesOf(dataDir).databaseUrl, { max: 2 });
  const workspace = await createWorkspace(pool, { name: 'demo', plan: 'unlimited' });
  const workspaceId = workspace.id;
  const secret = await createKey(pool, { workspaceId, kind: 'secret', label: 'first start' });
  const publishable = await createKey(pool, { workspaceId, kind: 'publishable', label: 'first start' });
  const invite = await createInvite(pool, { workspaceId, email: null, role: 'owner' });
  return {
    service: {
      api_url,
      short_url,
      console_url: inviteUrl(new URL(api_url).origin, invite.token),
      demo: {
        workspace_id: workspaceId,
        secret_key: secret.token,
        publishable_key: publishable.token,
      },
    },
    slug: workspace.slug,
    pid,
    dataDir,
    pool,
    close: () => pool.end(),
  };
}
