import type { FastifyRequest } from 'fastify';
import { hashSessionToken } from '../../core/access/session-tokens.ts';
import { AppError, badRequest } from '../../core/errors.ts';
import type { Config } from '../../core/settings/config.ts';
import { isEmail, normalizeEmail } from '../../core/tracking/emails.ts';
import { consumeInvite, type Invite, mayReopen, openInvite } from '../../sql/console/invites.ts';
import { insertMember, lockMember, memberByEmail, setPassword } from '../../sql/console/members.ts';
import { insertPasskey } from '../../sql/console/passkeys.ts';
import { endOtherSessions, type SigningIn } from '../../sql/console/sessions.ts';
import { inTransaction, type Pool, type Queryable } from '../../sql/database/pool.ts';
import { createOutbox } from '../../sql/mail/outbox.ts';
import { lockWorkspace } from '../../sql/workspaces/workspaces.ts';
import { ACCOUNT_PAGE, placeOf } from '../mail/place.ts';
import { agentName } from './agent-name.ts';
import type { Passkeys } from './passkeys.ts';
import type { MemberPasswords } from './passwords.ts';
import type { AcceptBody } from './schemas.ts';

const noSuchInvite = () =>
  new AppError('unauthorized', 'the invitation is unknown, used or expired; ask for a new one');

/**
 * Returns the invitation of a token. @throws {AppError} `unauthorized` when it is unknown, used or expired
 */
export async function requireInvite(
  db: Queryable,
  token: string,
): Promise<Invite & { workspace_name: string }> {
  const hash = hashSessionToken(token);
  const invite = hash && (await openInvite(db, hash));
  if (!invite) throw noSuchInvite();
  return invite;
}

/** Returns the email of the future member: the invitation's own, or the one in the request. @throws {AppError} */
export function emailOf(invite: Pick<Invite, 'email'>, sent: string | undefined): string | null {
  if (invite.email !== null) return invite.email;
  return sent === undefined ? null : requireEmail(sent);
}

/** Returns the email that a password requires. @throws {AppError} `bad_request` without one */
function emailFor(email: string | null): string {
  if (email === null) throw badRequest('email', 'is required with a password');
  return email;
}

/** @returns the address trimmed and in lower case @throws {AppError} `bad_request` when it is malformed */
export function requireEmail(text: string): string {
  if (!isEmail(text)) throw badRequest('email', 'must be an email address');
  return normalizeEmail(text);
}

/**
 * Accepts an invitation with a password or a passkey: creates the member, or gives a named existing one new
 * credentials and ends their other sessions. Atomic; uses up the invitation.
 *
 * @throws {AppError} `unauthorized` for an invalid invitation, `conflict` for a member's email, `bad_request`
 */
export async function acceptInvite(
  {
    pool,
    config,
    passkeys,
    passwords,
  }: { pool: Pool; config: Config; passkeys: Passkeys; passwords: MemberPasswords },
  body: AcceptBody,
  request: FastifyRequest,
): Promise<SigningIn> {
  const userAgent = request.headers['user-agent'] ?? '';
  if ((body.password === undefined) === (body.passkey === undefined)) {
    throw badRequest('password', 'is required, or `passkey` instead; send exactly one of them');
  }
  const invite = await requireInvite(pool, body.token);
  const email = emailOf(invite, body.email);
  const passwordHash =
    body.password === undefined ? null : await passwords.hash(emailFor(email), body.password);
  const credential = body.passkey && (await passkeys.checkNew(invite.member_id, body.passkey));

  return inTransaction(pool, async (tx) => {
    await lockWorkspace(tx, invite.workspace_id);
    const taken = await consumeInvite(tx, hashSessionToken(body.token) ?? Buffer.alloc(0));
    if (!taken) throw noSuchInvite();
    const { id: memberId, isKnown } = await memberOf(tx, taken, email);
    if (passwordHash !== null) await setPassword(tx, memberId, passwordHash);
    if (credential) {
      const kept = await insertPasskey(tx, {
        workspaceId: taken.workspace_id,
        memberId,
        credentialId: credential.id,
        publicKey: credential.publicKey,
        counter: credential.counter,
        transports: credential.transports,
        label: body.label ?? agentName(userAgent),
      });
      if (!kept) throw new AppError('conflict', 'this passkey is already registered');
    }
    await request.audit(tx, { workspaceId: taken.workspace_id, memberId });
    // The link may have reached someone else.
    if (isKnown && taken.email !== null) {
      const at = new Date().toISOString();
      const accountUrl = config.appUrl + ACCOUNT_PAGE;
      const place = placeOf(request);
      const content = { kind: 'account_change', change: 'access_renewed', at, place, accountUrl } as const;
      await createOutbox(config.mail !== null).queue(tx, [
        { workspaceId: taken.workspace_id, recipient: taken.email, content },
      ]);
    }
    return { workspaceId: taken.workspace_id, memberId, ...(passwordHash !== null && { passwordHash }) };
  });
}

/** Returns the member of an invitation, and whether it is one from before. */
async function memberOf(
  tx: Queryable,
  invite: Invite,
  email: string | null,
): Promise<{ id: string; isKnown: boolean }> {
  // Only the inviter may name an existing member, because the person who accepts may send any address.
  const known = invite.email === null ? null : await memberByEmail(tx, invite.workspace_id, invite.email);
  if (known) {
    // The member may have been created after the invitation.
    if (!mayReopen(invite, known.id)) throw memberExists();
    // Locked until the password has changed: a concurrent sign-in with the old one then fails.
    await lockMember(tx, known.id);
    await endOtherSessions(tx, known.id, null);
    return { id: known.id, isKnown: true };
  }
  const id = invite.member_id;
  const made = await insertMember(tx, {
    id,
    workspaceId: invite.workspace_id,
    email,
    role: invite.role,
    makerKeyId: invite.maker_key_id,
    makerMemberId: invite.maker_member_id,
  });
  if (!made) throw memberExists();
  return { id, isKnown: false };
}

const memberExists = () =>
  new AppError('conflict', 'a member of the workspace has this email; sign in instead');
