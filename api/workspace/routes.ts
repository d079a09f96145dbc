import { readOrigin } from '../../core/access/allowed-origins.ts';
import { AppError, badRequest } from '../../core/errors.ts';
import { readAll, readEach } from '../../core/faults.ts';
import { registrableDomain } from '../../core/links/destinations.ts';
import { isCurrency } from '../../core/money/money.ts';
import { logoUrl, readLogo } from '../../core/qr/logo.ts';
import { checkTimeZone } from '../../core/time/time-buckets.ts';
import { inTransaction, type Queryable } from '../../sql/database/pool.ts';
import { defaultDomain } from '../../sql/domains/domains.ts';
import { identitySecret, rotateIdentitySecret } from '../../sql/workspaces/identity-secrets.ts';
import { setWorkspaceLogo, workspaceLogo } from '../../sql/workspaces/logos.ts';
import {
  hasOrders,
  lockWorkspace,
  updateWorkspace,
  type Workspace,
} from '../../sql/workspaces/workspaces.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { secretOnce, withIdempotency } from '../plugins/idempotency.ts';
import { setDefaultDomain } from './default-domain.ts';
import { IdentitySecret, WorkspaceChange, WorkspaceSettings } from './schemas.ts';

const CONFIG = { scope: 'secret', plan: 'any', role: 'owner', manage: true } as const;
const tags = ['Workspace'];

/**
 * Registers the routes of the workspace's settings. Changes need a key with `manage`, or an owner's session; any plan.
 */
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
      config: {
        ...CONFIG,
        errors: ['conflict', 'payment_required'],
        checkRest: (body: WorkspaceChange) => void readChange(body),
      },
      schema: {
        tags,
        operationId: 'workspace.update',
        summary: "Change the workspace's settings",
        description:
          'Changes the given settings and leaves the others. They apply from the next call. 402 for a `default_domain` without a paid plan. 409 for another `currency` once the workspace has orders: its reports hold amounts in the present one.',
        body: WorkspaceChange,
        response: { 200: WorkspaceSettings },
      },
    },
    async (request) => {
      const { auth, body } = request;
      const { logo, primaryDomain, origins, timeZone, currency } = readChange(body);
      return inTransaction(pool, async (tx) => {
        await requireChangeableCurrency(tx, auth.workspace.id, currency);
        const changed = await updateWorkspace(tx, auth.workspace.id, {
          name: body.name?.trim(),
          attribution_model: body.attribution_model,
          attribution_window: body.attribution_window,
          primary_domain: primaryDomain,
          currency,
          identity_verification: body.identity_verification,
          payout_hold_days: body.payout_hold_days,
          allowed_origins: origins && [...new Set(origins)],
          language: body.language,
          problem_mails: body.problem_mails,
          check_destinations: body.check_destinations,
          time_zone: timeZone,
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
      config: { ...CONFIG, recentSignIn: true, idempotent: true },
      schema: {
        tags,
        operationId: 'workspace.rotateIdentitySecret',
        summary: 'Create or replace the identity secret',
        description: 'A `user_hash` made with the former secret is invalid immediately.',
        response: { 201: IdentitySecret },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store');
      return withIdempotency(pool, request, reply, async (tx) => {
        const secret = await rotateIdentitySecret(tx, request.auth.workspace.id, new Date());
        await request.audit(tx);
        return secretOnce(201, { identity_secret: secret }, {});
      });
    },
  );
}

/** Returns the settings that are stored otherwise than sent. @throws {AppError} `bad_request` that names every fault */
function readChange(body: WorkspaceChange) {
  return readAll({
    logo: () => (typeof body.logo === 'string' ? readLogo(body.logo) : body.logo),
    primaryDomain: () => body.primary_domain && readPrimaryDomain(body.primary_domain),
    origins: () =>
      body.allowed_origins &&
      readEach(body.allowed_origins, (text, n) => readOrigin(`allowed_origins.${n}`, text)),
    timeZone: () => body.time_zone && checkTimeZone('time_zone', body.time_zone),
    currency() {
      if (body.currency !== undefined && !isCurrency(body.currency))
        throw badRequest('currency', 'must be an ISO 4217 code');
      return body.currency?.toLowerCase();
    },
  });
}

/**
 * Returns the registrable domain of a host, as the first own-site link sets it.
 *
 * @throws {AppError} `bad_request` when it is not a host name
 */
function readPrimaryDomain(text: string): string {
  const host = text.trim().toLowerCase();
  const url = URL.parse(`https://${host}`);
  if (!url || url.host !== host || !host.includes('.')) {
    throw badRequest('primary_domain', 'must be a domain such as shop.example, without scheme and path');
  }
  return registrableDomain(url);
}

/** @throws {AppError} `conflict` for another currency once there are orders */
async function requireChangeableCurrency(
  tx: Queryable,
  workspaceId: string,
  currency: string | undefined,
): Promise<void> {
  if (currency === undefined) return;
  const { currency: present } = await lockWorkspace(tx, workspaceId);
  if (currency === present || !(await hasOrders(tx, workspaceId))) return;
  throw new AppError('conflict', `the currency must stay ${present} because the workspace has orders`);
}

async function settingsOf(db: Queryable, workspace: Workspace): Promise<WorkspaceSettings> {
  const logo = await workspaceLogo(db, workspace.id);
  return {
    id: workspace.id,
    name: workspace.name,
    slug: workspace.slug,
    attribution_model: workspace.attribution_model,
    attribution_window: workspace.attribution_window,
    primary_domain: workspace.primary_domain,
    currency: workspace.currency,
    identity_verification: workspace.identity_verification,
    payout_hold_days: workspace.payout_hold_days,
    allowed_origins: workspace.allowed_origins,
    language: workspace.language,
    problem_mails: workspace.problem_mails,
    check_destinations: workspace.check_destinations,
    time_zone: workspace.time_zone,
    tracking: workspace.tracking,
    default_domain: (await defaultDomain(db, workspace.id)).domain,
    retention_months: workspace.retention_months,
    logo: logo && logoUrl(logo),
    identity_secret_set: (await identitySecret(db, workspace.id)) !== null,
  };
}
