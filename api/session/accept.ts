import { hashSessionToken } from '../../core/access/session-tokens.ts';
import { AppError, badRequest } from '../../core/errors.ts';
import { isEmail, normalizeEmail } from '../../core/tracking/emails.ts';
import { consumeInvite, type Invite, openInvite } from '../../sql/console/invites.ts';
import { insertMember, lockMember, memberByEmail, setPassword } from '../../sql/console/members.ts';
import { insertPasskey } from '../../sql/console/passkeys.ts';
import { endOtherSessions, type SigningIn } from '../../sql/console/sessions.ts';
import { inTransaction, type Pool, type Queryable } from '../../sql/database/pool.ts';
import { lockWorkspace } from '../../sql/workspaces/workspaces.ts';
import { agentName } from './agent-name.ts';
import type { Passkeys } from './passkeys.ts';
import type { MemberPasswords } from './passwords.ts';
import type { AcceptBody } from './schemas.ts';

const noSuchInvite = () =>
  new AppError('unauthorized', 'this invitation was used, has expired or never was; ask for another one');

/** The invitation that a token opens. @throws {AppError} `unauthorized` when it is of no use (any more) */
export async function requireInvite(
  db: Queryable,
  token: string,
): Promise<Invite & { workspace_name: string }> {
  const hash = hashSessionToken(token);
  const invite = hash && (await openInvite(db, hash));
  if (!invite) throw noSuchInvite();
  return invite;
}

/** The email that a member is to have: the invitation's own, else what the person says. @throws {AppError} */
export function emailOf(invite: Pick<Invite, 'email'>, said: string | undefined): string | null {
  if (invite.email !== null) return invite.email;
  return said === undefined ? null : requireEmail(said);
}

/** The email that a password goes with. @throws {AppError} `bad_request` where there is none */
function emailFor(email: string | null): string {
  if (email === null) throw badRequest('email', 'is required beside a password');
  return email;
}

/** @returns the address trimmed and in lower case @throws {AppError} `bad_request` when it is none */
export function requireEmail(text: string): string {
  if (!isEmail(text)) throw badRequest('email', 'must be an email address');
  return normalizeEmail(text);
}

/**
 * Accepts an invitation with a password or a passkey: makes the member, or lets one whose email it names in again,
 * whose other sessions end then. All of it happens or nothing, and the invitation is used up with it.
 *
 * @throws {AppError} `unauthorized` for an invitation that is of no use, `conflict` for an email that a member has,
 *   `bad_request`
 */
export async function acceptInvite(
  { pool, passkeys, passwords }: { pool: Pool; passkeys: Passkeys; passwords: MemberPasswords },
  body: AcceptBody,
  userAgent: string,
): Promise<SigningIn> {
  if ((body.password === undefined) === (body.passkey === undefined)) {
    throw badRequest('password', 'give either a password or a passkey');
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
    const memberId = await memberOf(tx, taken, email);
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
      if (!kept) throw new AppError('conflict', 'this passkey is in use already');
    }
    return { workspaceId: taken.workspace_id, memberId, ...(passwordHash !== null && { passwordHash }) };
  });
}

async function memberOf(tx: Queryable, invite: Invite, email: string | null): Promise<string> {
  // Only who made the invitation may mean a member that there is: whoever accepts it may say any address.
  const known = invite.email === null ? null : await memberByEmail(tx, invite.workspace_id, invite.email);
  if (known) {
    // Held until the password is another one: who signs in with the old one meanwhile finds it changed.
    await lockMember(tx, known.id);
    await endOtherSessions(tx, known.id, null);
    return known.id;
  }
  const id = invite.member_id;
  if (!(await insertMember(tx, { id, workspaceId: invite.workspace_id, email, role: invite.role }))) {
    throw new AppError('conflict', 'the workspace has a member with this email; sign in instead');
  }
  return id;
}
