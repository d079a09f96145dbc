import { logoUrl, readLogo } from '../../core/qr/logo.ts';
import { checkTimeZone } from '../../core/time/time-buckets.ts';
import { inTransaction, type Queryable } from '../../sql/database/pool.ts';
import { defaultDomain } from '../../sql/domains/domains.ts';
import { identitySecret, rotateIdentitySecret } from '../../sql/workspaces/identity-secrets.ts';
import { setWorkspaceLogo, workspaceLogo } from '../../sql/workspaces/logos.ts';
import { updateWorkspace, type Workspace } from '../../sql/workspaces/workspaces.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { setDefaultDomain } from './default-domain.ts';
import { IdentitySecret, WorkspaceChange, WorkspaceSettings } from './schemas.ts';

const CONFIG = { scope: 'secret', plan: 'any', role: 'owner', manage: true } as const;
const tags = ['Workspace'];

/** Registers the routes of the workspace's settings. Changes need a key with `manage`, or an owner's session; any plan. */
export async function workspaceRoutes(app: Api, { pool }: Pick<ApiDeps, 'pool'>): Promise<void> {
  app.get(
    '/workspace',
    {
      config: { scope: 'secret', plan: 'any' },
      schema: {
        tags,
        operationId: 'workspace.get',
        summary: "Get the workspace's settings",
        response: { 200: WorkspaceSettings },
      },
    },
    ({ auth }) => settingsOf(pool, auth.workspace),
  );

  app.patch(
    '/workspace',
    {
      config: CONFIG,
      schema: {
        tags,
        operationId: 'workspace.update',
        summary: "Change the workspace's settings",
        description:
          'Changes the given settings and leaves the others. They apply from the next call. 402 for a `default_domain` without a paid plan.',
        body: WorkspaceChange,
        response: { 200: WorkspaceSettings },
      },
    },
    async (request) => {
      const { auth, body } = request;
      const logo = typeof body.logo === 'string' ? readLogo('logo', body.logo) : body.logo;
      return inTransaction(pool, async (tx) => {
        const changed = await updateWorkspace(tx, auth.workspace.id, {
          identity_verification: body.identity_verification,
          payout_hold_days: body.payout_hold_days,
          time_zone: body.time_zone && checkTimeZone('time_zone', body.time_zone),
          tracking: body.tracking,
          retention_months: body.retention_months,
        });
        await setDefaultDomain(tx, auth.workspace.id, body.default_domain);
        if (!changed) throw new Error(`workspace ${auth.workspace.id} does not exist`);
        if (logo !== undefined) await setWorkspaceLogo(tx, auth.workspace.id, logo);
        await request.audit(tx);
        return settingsOf(tx, changed);
      });
    },
  );

  app.post(
    '/identity-secret',
    {
      config: { ...CONFIG, recentSignIn: true, idempotent: 'unkept' },
      schema: {
        tags,
        operationId: 'workspace.rotateIdentitySecret',
        summary: 'Create or replace the identity secret',
        description:
          'A `user_hash` made with the former secret is invalid immediately. `Idempotency-Key` has no effect here, because a response with a secret is not stored.',
        response: { 201: IdentitySecret },
      },
    },
    async (request, reply) => {
      const secret = await inTransaction(pool, async (tx) => {
        const made = await rotateIdentitySecret(tx, request.auth.workspace.id, new Date());
        await request.audit(tx);
        return made;
      });
      return reply.header('cache-control', 'no-store').status(201).send({ identity_secret: secret });
    },
  );
}

async function settingsOf(db: Queryable, workspace: Workspace): Promise<WorkspaceSettings> {
  const logo = await workspaceLogo(db, workspace.id);
  return {
    id: workspace.id,
    name: workspace.name,
    slug: workspace.slug,
    identity_verification: workspace.identity_verification,
    payout_hold_days: workspace.payout_hold_days,
    time_zone: workspace.time_zone,
    tracking: workspace.tracking,
    default_domain: (await defaultDomain(db, workspace.id)).domain,
    retention_months: workspace.retention_months,
    logo: logo && logoUrl(logo),
    identity_secret_set: (await identitySecret(db, workspace.id)) !== null,
  };
}
