import { createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isPaid } from '../../core/access/plans.ts';
import { AppError } from '../../core/errors.ts';
import { openDashboardByToken, type SharedDashboard } from '../../sql/console/shared-dashboards.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { type Workspace, workspaceById } from '../../sql/workspaces/workspaces.ts';
import { cookieAttributes } from '../session/cookie.ts';
import type { HashKey } from '../session/hash-key.ts';

const COOKIE = 'hoplog_dashboard';
/** How long a browser that entered the password may see the dashboard. Seconds. */
const ACCESS_SECONDS = 7 * 86_400;
const VALUE = /^(\d{1,12})\.([A-Za-z0-9_-]{43})$/;

/** A dashboard that visitors may see, and its workspace. */
export type OpenDashboard = { dashboard: SharedDashboard; workspace: Workspace };

/**
 * Returns the dashboard of a token. Null when it is unknown, deleted or ended, or when its workspace is suspended or
 * has no paid plan.
 */
export async function findOpenDashboard(pool: Pool, token: string): Promise<OpenDashboard | null> {
  const dashboard = await openDashboardByToken(pool, token);
  const workspace = dashboard && (await workspaceById(pool, dashboard.workspace_id));
  if (!workspace || workspace.suspended_at || !isPaid(workspace)) return null;
  return { dashboard, workspace };
}

/** {@link findOpenDashboard} for routes. @throws {AppError} `not_found` */
export async function requireOpenDashboard(pool: Pool, token: string): Promise<OpenDashboard> {
  const found = await findOpenDashboard(pool, token);
  if (!found) throw new AppError('not_found', 'this dashboard does not exist, or is no longer shared');
  return found;
}

/** The access of a browser that entered a dashboard's password: a cookie that a new password invalidates. */
export function createDashboardAccess(key: HashKey, appUrl: string) {
  const signatureOf = async ({ id, password_hash }: SharedDashboard, ends: string): Promise<Buffer> =>
    createHmac('sha256', await key())
      .update(`dashboard ${id} ${ends} ${password_hash}`)
      .digest();

  return {
    /** @throws {AppError} `unauthorized` when the dashboard has a password that this browser did not enter */
    async require(request: FastifyRequest, dashboard: SharedDashboard): Promise<void> {
      if (dashboard.password_hash === null) return;
      const [, ends = '', given = ''] = VALUE.exec(request.cookies[COOKIE] ?? '') ?? [];
      const isValid =
        Number(ends) * 1_000 > Date.now() &&
        timingSafeEqual(Buffer.from(given, 'base64url'), await signatureOf(dashboard, ends));
      if (!isValid) throw new AppError('unauthorized', 'this dashboard requires its password');
    },
    /** Sets the cookie. Browsers send it with this dashboard's data calls only. */
    async grant(reply: FastifyReply, dashboard: SharedDashboard): Promise<void> {
      const ends = String(Math.floor(Date.now() / 1_000) + ACCESS_SECONDS);
      const signature = (await signatureOf(dashboard, ends)).toString('base64url');
      reply.setCookie(COOKIE, `${ends}.${signature}`, {
        ...cookieAttributes(appUrl),
        sameSite: 'strict',
        path: `/api/v1/shared/${dashboard.token}`,
        maxAge: ACCESS_SECONDS,
      });
    },
  };
}
