import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inviteUrl } from '../../core/access/session-tokens.ts';
import { createInvite } from '../../sql/console/invites.ts';
import { createPool, type Pool } from '../../sql/database/pool.ts';
import { createKey } from '../../sql/workspaces/keys.ts';
import { createWorkspace } from '../../sql/workspaces/workspaces.ts';
import { storesOf } from '../kafka/deployment.ts';
import { endBehind } from './bound-process.ts';
import { type Ready, type Service, startService } from './service.ts';

/** Delay after the last file released it; the next file follows much sooner. Milliseconds. */
const UNUSED_MS = 10_000;

/** A test file's own workspace in a running service. */
export type ServedWorkspace = {
  /** Like the ready line of a service of the file's own: with the keys of the workspace, and the link for its first owner. */
  service: Ready & { demo: NonNullable<Ready['demo']>; console_url: string };
  /** Of the workspace; unique to this file. */
  slug: string;
  /** Of the service, for commands beside it. */
  dataDir: string;
  /** The service's PostgreSQL. */
  pool: Pool;
  /** Releases it. */
  close(): Promise<void>;
};

/** No test may call Stripe itself. */
const SETTINGS = { WEBHOOK_ALLOW_PRIVATE: 'true', STRIPE_API_BASE: 'http://127.0.0.1:1' };

type Shared = { service: Service; dataDir: string; pool: Pool; end(): Promise<void> };

let shared: Promise<Shared> | null = null;
let users = 0;
let unused: NodeJS.Timeout | undefined;

/**
 * Returns a workspace `demo` in a service that the test files of this process share: it starts for the first of them and
 * ends when it was unused for a while. For tests that neither stop nor kill parts of it, nor need settings of
 * their own, except that webhooks may go to this machine.
 */
export async function servedWorkspace(): Promise<ServedWorkspace> {
  clearTimeout(unused);
  users += 1;
  shared ??= start();
  const { service, dataDir, pool } = await shared;
  const workspace = await createWorkspace(pool, { name: 'demo', plan: 'unlimited' });
  const workspaceId = workspace.id;
  const secret = await createKey(pool, { workspaceId, kind: 'secret', label: 'first start' });
  const publishable = await createKey(pool, { workspaceId, kind: 'publishable', label: 'first start' });
  const invite = await createInvite(pool, { workspaceId, email: null, role: 'owner' });
  return {
    service: {
      api_url: service.api_url,
      short_url: service.short_url,
      console_url: inviteUrl(new URL(service.api_url).origin, invite.token),
      demo: {
        workspace_id: workspaceId,
        secret_key: secret.token,
        publishable_key: publishable.token,
      },
    },
    slug: workspace.slug,
    dataDir,
    pool,
    async close() {
      users -= 1;
      if (users > 0) return;
      clearTimeout(unused);
      unused = setTimeout(endIdleService, UNUSED_MS).unref();
    },
  };
}

function endIdleService(): void {
  const ending = shared;
  shared = null;
  ending?.then(({ end }) => end()).catch(() => undefined);
}

async function start(): Promise<Shared> {
  const directory = mkdtempSync(join(tmpdir(), 'hoplog-shared-'));
  const dataDir = join(directory, 'data');
  const service = await startService({ dataDir, env: SETTINGS });
  const { databaseUrl } = storesOf(dataDir);
  const pool = createPool(databaseUrl, { max: 2 });
  // The process may run its last file before that delay ends.
  const release = endBehind(service.process.pid ?? 0, directory);
  return {
    service,
    dataDir,
    pool,
    async end() {
      await pool.end();
      await service.stop();
      release();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
