import type { FastifyReply, FastifyRequest } from 'fastify';
import { hashSessionToken, newSessionToken } from '../../core/access/session-tokens.ts';
import { AppError } from '../../core/errors.ts';
import type { OidcSettings } from '../../core/settings/oidc.ts';
import { hasRecentAudit, recordAudit } from '../../sql/audit/audit-log.ts';
import {
  insertProviderSignIn,
  PROVIDER_SIGN_IN_SECONDS,
  takeProviderSignIn,
} from '../../sql/console/provider-sign-ins.ts';
import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import { findWorkspace, listWorkspaces } from '../../sql/workspaces/workspaces.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { beginSession } from './begin.ts';
import { cookieAttributes } from './cookie.ts';
import { createHashKey } from './hash-key.ts';
import { createKnownBrowsers } from './known-browsers.ts';
import { createProvider, ProviderError, type ProviderFailure, type ProviderPerson } from './provider.ts';
import { memberOfPerson, type PersonRefusal } from './provider-member.ts';

/** The address where a browser starts, and to which the provider sends it back. Below the origin of the console. */
export const PROVIDER_START = '/console/oidc/start';
export const PROVIDER_CALLBACK = '/console/oidc/callback';

/** Why a sign-in failed; the console has a sentence for each. */
export type ProviderOutcome = ProviderFailure | PersonRefusal | 'expired' | 'no_workspace';

/** Registers the sign-in with the OpenID Connect provider of the settings: pages that only redirect. */
export async function providerRoutes(app: Api, deps: ApiDeps): Promise<void> {
  const { pool, config } = deps;
  const settings = config.oidc;
  if (!settings) return;
  const provider = createProvider(settings, `${config.appUrl}${PROVIDER_CALLBACK}`);
  const browsers = createKnownBrowsers(createHashKey(pool), config.appUrl);
  const cookie = `${config.appUrl.startsWith('https:') ? '__Host-' : ''}hoplog_oidc`;

  /** Sends the browser to the console's sign-in page, which shows the reason. */
  const fail = (
    request: FastifyRequest,
    reply: FastifyReply,
    outcome: ProviderOutcome,
    details: { err?: unknown; claims?: ProviderPerson['claims'] } = {},
  ) => {
    request.log.warn({ outcome, ...details }, 'a sign-in with the provider failed');
    return reply.redirect(`/console?sign_in=${outcome}`);
  };

  /**
   * Records that the provider refused an unknown person. Anyone may start a sign-in, so it writes at most once a
   * minute.
   */
  const recordRefusal = async (reason: ProviderFailure) => {
    const workspaceId = await workspaceOf(pool, settings);
    if (workspaceId === null) return;
    if (await hasRecentAudit(pool, workspaceId, SIGN_IN_FAILED, null, reason)) return;
    await inTransaction(pool, (tx) => recordAudit(tx, failedSignIn(workspaceId, null, reason)));
  };

  app.get<{ Querystring: { return_to?: string; confirm?: string } }>(
    PROVIDER_START,
    { exposeHeadRoute: false, schema: { hide: true } },
    async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const { return_to, confirm } = request.query;
      try {
        const { url, ...checks } = await provider.begin(confirm !== undefined);
        const { token, hash } = newSessionToken();
        await insertProviderSignIn(pool, hash, { ...checks, return_to: ownPath(return_to, config.appUrl) });
        const attributes = { ...cookieAttributes(config.appUrl), maxAge: PROVIDER_SIGN_IN_SECONDS };
        return reply.setCookie(cookie, token, attributes).redirect(url);
      } catch (error) {
        if (error instanceof ProviderError) return fail(request, reply, error.failure, { err: error });
        throw error;
      }
    },
  );

  app.get(
    PROVIDER_CALLBACK,
    // A HEAD would use up the sign-in.
    { exposeHeadRoute: false, schema: { hide: true, operationId: 'session.signInWithProvider' } as object },
    async (request, reply) => {
      reply
        .header('cache-control', 'no-store')
        .setCookie(cookie, '', { ...cookieAttributes(config.appUrl), maxAge: 0 });
      const hash = hashSessionToken(request.cookies[cookie] ?? '');
      const begun = hash && (await takeProviderSignIn(pool, hash));
      if (!begun) return fail(request, reply, 'expired');
      try {
        const person = await provider.finish(new URL(request.url, config.appUrl), begun);
        const workspaceId = await workspaceOf(pool, settings);
        if (workspaceId === null) return fail(request, reply, 'no_workspace');
        const found = await inTransaction(pool, async (tx) => {
          const member = await memberOfPerson(tx, settings, workspaceId, person);
          if (member.refused !== null) {
            await recordAudit(tx, failedSignIn(workspaceId, member.memberId, member.refused));
          }
          return member;
        });
        if (found.refused !== null) return fail(request, reply, found.refused, { claims: person.claims });
        const provided = { authTime: person.authTime };
        const who = { workspaceId, memberId: found.memberId, provided };
        await beginSession(deps, request, reply, who, {
          browsers,
          note: (tx, { memberId }) =>
            request.audit(tx, { workspaceId, memberId, details: { provider: settings.issuer } }),
        });
        return reply.redirect(begun.return_to);
      } catch (error) {
        if (error instanceof ProviderError) {
          await recordRefusal(error.failure);
          return fail(request, reply, error.failure, { err: error });
        }
        if (error instanceof AppError && error.code === 'unauthorized')
          return fail(request, reply, 'removed');
        throw error;
      }
    },
  );
}

const SIGN_IN_FAILED = 'session.sign_in_failed';

/** @param memberId null: the person is unknown, or is not a member */
const failedSignIn = (workspaceId: string, memberId: string | null, reason: ProviderOutcome) => ({
  workspaceId,
  actor: { type: 'service' as const, id: null },
  action: SIGN_IN_FAILED,
  target: { type: 'member', id: memberId },
  details: { reason },
});

/** Returns the workspace of the settings; without one, the only workspace of the deployment. */
async function workspaceOf(pool: Pool, { workspace }: OidcSettings): Promise<string | null> {
  if (workspace !== '') return (await findWorkspace(pool, workspace))?.id ?? null;
  const [only, ...more] = await listWorkspaces(pool);
  return only && more.length === 0 ? only.id : null;
}

/** Returns a page of the console to return to: never another origin. */
function ownPath(text: string | undefined, appUrl: string): string {
  const url = text === undefined ? null : URL.parse(text, appUrl);
  const isOwn =
    url?.origin === appUrl &&
    /^\/console(\/|$)/.test(url.pathname) &&
    !url.pathname.startsWith('/console/oidc');
  return url && isOwn ? url.pathname + url.search : '/console';
}
