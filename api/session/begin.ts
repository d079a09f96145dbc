import { randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isPaid } from '../../core/access/plans.ts';
import { csrfTokenOf, hashSessionToken, newSessionToken } from '../../core/access/session-tokens.ts';
import { AppError } from '../../core/errors.ts';
import type { Config } from '../../core/settings/config.ts';
import { storableText } from '../../core/text/storable.ts';
import {
  endBrowserSessions,
  hasSessionOf,
  type OtherWorkspace,
  otherWorkspaces,
  parkSession,
} from '../../sql/console/browser-sessions.ts';
import { callerBySession, createSession, type SigningIn } from '../../sql/console/sessions.ts';
import { inTransaction, type Pool, type Queryable } from '../../sql/database/pool.ts';
import { createOutbox } from '../../sql/mail/outbox.ts';
import type { Workspace } from '../../sql/workspaces/workspaces.ts';
import type { SignedIn } from '../dependencies.ts';
import { ACCOUNT_PAGE, placeOf } from '../mail/place.ts';
import { sessionTokenOf, setSessionCookie } from './cookie.ts';
import type { KnownBrowsers } from './known-browsers.ts';
import type { SessionBody } from './schemas.ts';

/** Maximum characters of a user agent in a session. */
const USER_AGENT_LIMIT = 500;

/** Options of a sign-in: what happens to the browser's other sessions, and what else it proved. */
export type Beginning = {
  /** The browser is known from now on. */
  browsers: KnownBrowsers;
  /** Whether the member expects a browser that is new; by default they get a mail about one. */
  isExpected?: boolean;
  /** Keeps the browser's other sessions, so that it can switch back to them. */
  keep?: boolean;
  /** Further members whose credentials the same sign-in has checked: the browser can switch to them. */
  alsoProven?: readonly SigningIn[];
  /** Writes the audit entry of a member that signs in; by default that of the request's operation. */
  note?: (tx: Queryable, who: SigningIn) => Promise<void>;
};

/**
 * Signs a member in and sets the session's cookie. The browser's earlier sessions end, unless `keep` says otherwise or
 * one of them is the same member's, who then signed in again.
 *
 * @throws {AppError} `unauthorized` when the member was removed, or the password changed, since it was checked
 */
export async function beginSession(
  { pool, config }: { pool: Pool; config: Config },
  request: FastifyRequest,
  reply: FastifyReply,
  who: SigningIn,
  {
    browsers,
    isExpected = false,
    keep = false,
    alsoProven = [],
    note = (tx, { workspaceId, memberId }) => request.audit(tx, { workspaceId, memberId }),
  }: Beginning,
): Promise<SessionBody> {
  const before = sessionTokenOf(request, config.appUrl);
  const beforeHash = before === null ? null : hashSessionToken(before);
  const userAgent = storableText((request.headers['user-agent'] ?? '').slice(0, USER_AGENT_LIMIT));
  const { token, hash } = newSessionToken();
  await browsers.load();
  const body = await inTransaction(pool, async (tx) => {
    const had = beforeHash && (await parkSession(tx, beforeHash));
    const isKept = had !== null && (keep || (await hasSessionOf(tx, had, who.memberId)));
    if (had !== null && !isKept) await endBrowserSessions(tx, had);
    const browserId = isKept ? had : randomUUID();
    // Ordered by id, so that concurrent sign-ins lock the members in the same order.
    for (const one of [who, ...alsoProven].toSorted((a, b) => (a.memberId < b.memberId ? -1 : 1))) {
      const isChosen = one.memberId === who.memberId;
      const place = { browserId, userAgent, tokenHash: isChosen ? hash : null };
      const isCreated = await createSession(tx, { ...one, ...place });
      if (isCreated) await note(tx, one);
      else if (isChosen) {
        throw new AppError('unauthorized', 'these credentials are no longer valid; sign in again');
      }
    }
    // Read within the transaction, because the session may be ended concurrently after it.
    const session = await sessionOfToken(tx, config, token);
    const { email } = session.member;
    if (email !== null && !isExpected && (await browsers.idOf(request, email)) === null) {
      await queueNotice(tx, config, request, email, who.workspaceId);
    }
    return session;
  });
  setSessionCookie(reply, token, config.appUrl);
  if (body.member.email !== null) await browsers.remember(reply, body.member.email);
  reply.header('cache-control', 'no-store');
  return body;
}

/** Queues the mail about a sign-in from a new browser. */
async function queueNotice(
  tx: Queryable,
  config: Config,
  request: FastifyRequest,
  recipient: string,
  workspaceId: string,
): Promise<void> {
  const at = new Date().toISOString();
  const accountUrl = config.appUrl + ACCOUNT_PAGE;
  const content = { kind: 'sign_in', at, place: placeOf(request), accountUrl } as const;
  await createOutbox(config.mail !== null).queue(tx, [{ workspaceId, recipient, content }]);
}

/** Describes the session of a token. @throws {AppError} `unauthorized` when it has none */
export async function sessionOfToken(db: Queryable, config: Config, token: string): Promise<SessionBody> {
  const caller = await callerBySession(db, hashSessionToken(token) ?? Buffer.alloc(0));
  if (!caller) throw new AppError('unauthorized', 'the session has ended; sign in again');
  const member = { ...caller.member, session: caller.session, csrfToken: csrfTokenOf(token) };
  return describeSession(config, caller.workspace, member, await otherWorkspaces(db, caller.session.id));
}

/** Describes a session: member, workspace, and the deployment's settings that the console needs. */
export function describeSession(
  { baseUrl, appUrl, shortUrl, publicUrl, mail }: Config,
  workspace: Workspace,
  member: Pick<SignedIn, 'id' | 'email' | 'role' | 'csrfToken' | 'session'>,
  others: readonly OtherWorkspace[],
): SessionBody {
  return {
    member: { id: member.id, email: member.email, role: member.role },
    workspace: {
      id: workspace.id,
      name: workspace.name,
      slug: workspace.slug,
      primary_domain: workspace.primary_domain ?? '',
      plan: workspace.plan,
      paid: isPaid(workspace),
      time_zone: workspace.time_zone,
      currency: workspace.currency,
      sample_of: workspace.sample_of,
    },
    first_steps: member.session.shows_first_steps,
    other_workspaces: others.map(({ workspace_id: id, ...other }) => ({ id, ...other })),
    sends_mail: mail !== null,
    csrf_token: member.csrfToken,
    urls: { base_url: baseUrl, app_url: appUrl, short_url: shortUrl, public_url: publicUrl },
  };
}
