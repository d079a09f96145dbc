import { inviteUrl } from '../../core/access/session-tokens.ts';
import { AppError, badRequest } from '../../core/errors.ts';
import { checkAll } from '../../core/faults.ts';
import { createInvite, endInvitesOf, mayReopen } from '../../sql/console/invites.ts';
import {
  countOwners,
  listMembers,
  type Member,
  memberByEmail,
  memberById,
  removeMember,
  setRole,
} from '../../sql/console/members.ts';
import { unlinkIdentities } from '../../sql/console/provider-identities.ts';
import { inTransaction, type PoolClient } from '../../sql/database/pool.ts';
import { createOutbox } from '../../sql/mail/outbox.ts';
import { lockWorkspace } from '../../sql/workspaces/workspaces.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { secretOnce, withIdempotency } from '../plugins/idempotency.ts';
import { IdParams, Ok } from '../schemas.ts';
import { requireEmail } from '../session/accept.ts';
import { InviteAnswer, InviteBody, MemberChange, MemberList, MemberView } from './schemas.ts';

const tags = ['Members'];
const READ = { scope: 'secret', plan: 'any', manage: true } as const;
const OWNERS = { ...READ, role: 'owner', recentSignIn: true } as const;

const view = ({ id, email, role, is_provider_linked, created_at, last_seen_at }: Member) => ({
  id,
  email,
  role,
  provider_linked: is_provider_linked,
  created_at: created_at.toISOString(),
  last_seen_at: last_seen_at?.toISOString() ?? null,
});

/**
 * Registers the routes of a workspace's members. A key with `manage`, or an owner's session; every member may read.
 */
export async function memberRoutes(app: Api, { pool, config }: ApiDeps): Promise<void> {
  const outbox = createOutbox(config.mail !== null);
  app.get(
    '/members',
    {
      config: READ,
      schema: {
        tags,
        operationId: 'members.list',
        summary: 'List members, oldest first',
        response: { 200: MemberList },
      },
    },
    async ({ auth }) => ({ members: (await listMembers(pool, auth.workspace.id)).map(view) }),
  );

  app.post(
    '/members/invites',
    {
      config: {
        ...OWNERS,
        idempotent: true,
        errors: ['conflict'],
        checkRest: (body: Partial<InviteBody>, faulty) => checkInvite(body, outbox.isOn, faulty),
      },
      schema: {
        tags,
        operationId: 'members.invite',
        summary: 'Create an invitation link',
        description:
          'The link works once, while its creator is an owner or an active key. With a mail server (`SMTP_URL`) it is mailed to `email`, works for three days, and is in no response. Otherwise it is in the response and works for 15 minutes: send it yourself. `role` is the role of a new member; an existing member keeps their role. Only that member and the operator of the service (`hoplog console invite`) can create a link for an existing member (409).',
        body: InviteBody,
        response: { 201: InviteAnswer },
      },
    },
    async (request, reply) => {
      const { auth, body } = request;
      checkInvite(body, outbox.isOn);
      const email = body.email ? requireEmail(body.email) : null;
      const maker = auth.member ? { memberId: auth.member.id } : { keyId: auth.key.id };
      const known = email === null ? null : await memberByEmail(pool, auth.workspace.id, email);
      const by = { maker_member_id: auth.member?.id ?? null, maker_key_id: auth.member ? null : auth.key.id };
      if (known && !mayReopen(by, known.id)) throw memberExists();
      const isMailed = body.mail ?? (outbox.isOn && email !== null);
      const given = { workspaceId: auth.workspace.id, email, role: body.role, maker, isMailed };
      reply.header('cache-control', 'no-store');
      return withIdempotency(pool, request, reply, async (tx) => {
        const { invite, token } = await createInvite(tx, given);
        await request.audit(tx, { targetId: invite.id });
        const shown = {
          mailed: isMailed,
          expires_at: invite.expires_at.toISOString(),
          role: invite.role,
          email: invite.email,
          workspace_id: invite.workspace_id,
        };
        const url = inviteUrl(config.appUrl, token);
        if (!isMailed) return secretOnce(201, { invite: { url, ...shown } }, { invite: shown });
        const invitedBy = auth.member?.email ?? null;
        const { role, expires_at: expiresAt } = shown;
        const content = { kind: 'invitation', url, role, invitedBy, expiresAt } as const;
        await outbox.queue(tx, [{ workspaceId: auth.workspace.id, recipient: email ?? '', content }]);
        return { status: 201, body: { invite: shown } };
      });
    },
  );

  app.patch(
    '/members/:id',
    {
      config: { ...OWNERS, errors: ['conflict'] },
      schema: {
        tags,
        operationId: 'members.update',
        summary: "Change a member's role",
        description:
          'Applies from the next request of their sessions. If the new role is not `owner`, their open invitations end, and so do the invitations they created. The last owner cannot change role (409).',
        params: IdParams,
        body: MemberChange,
        response: { 200: MemberView },
      },
    },
    async (request) =>
      inTransaction(pool, async (tx) => {
        const { auth, params, body } = request;
        const member = await lockedMember(tx, auth.workspace.id, params.id);
        if (body.role !== 'owner') {
          await refuseLastOwner(tx, member);
          await endInvitesOf(tx, member.id);
        }
        await setRole(tx, member.id, body.role);
        await request.audit(tx);
        return view({ ...member, role: body.role });
      }),
  );

  app.delete(
    '/members/:id',
    {
      config: { ...OWNERS, errors: ['conflict'] },
      schema: {
        tags,
        operationId: 'members.remove',
        summary: 'Remove a member',
        description:
          'Their sessions end with the next request and click streams within 15 seconds. Open invitations to their email, and invitations they created, end too. The last owner cannot be removed (409).',
        params: IdParams,
        response: { 200: Ok },
      },
    },
    async (request) =>
      inTransaction(pool, async (tx) => {
        const { auth, params } = request;
        const member = await lockedMember(tx, auth.workspace.id, params.id);
        await refuseLastOwner(tx, member);
        await endInvitesOf(tx, member.id);
        await removeMember(tx, member.id);
        await request.audit(tx);
        return { ok: true as const };
      }),
  );

  app.delete(
    '/members/:id/provider-link',
    {
      config: OWNERS,
      schema: {
        tags,
        operationId: 'members.unlinkProvider',
        summary: "End a member's tie to the identity provider",
        description:
          'For a member whose `sub` at the provider changed, as with a new client there. The next sign-in at the provider with their verified email makes a new tie. Sessions stay. Without a tie nothing ends.',
        params: IdParams,
        response: { 200: Ok },
      },
    },
    async (request) =>
      inTransaction(pool, async (tx) => {
        const { auth, params } = request;
        const member = await lockedMember(tx, auth.workspace.id, params.id);
        if (await unlinkIdentities(tx, member.id)) await request.audit(tx);
        return { ok: true as const };
      }),
  );
}

/**
 * Returns the member and locks the workspace, which serializes changes of owners. @throws {AppError} `not_found`
 */
async function lockedMember(tx: PoolClient, workspaceId: string, id: string): Promise<Member> {
  await lockWorkspace(tx, workspaceId);
  const member = await memberById(tx, workspaceId, id);
  if (!member) throw new AppError('not_found', 'the workspace has no such member');
  return member;
}

/**
 * Checks an invitation: its email, and whether its link can be mailed.
 *
 * @param hasMail whether the service has a mail server
 * @param faulty fields that are left out because of a fault
 * @throws {AppError} `bad_request` that names every fault
 */
function checkInvite(
  { email, mail }: Partial<InviteBody>,
  hasMail: boolean,
  faulty: ReadonlySet<string> = new Set(),
): void {
  checkAll([
    () => email && requireEmail(email),
    () => {
      if (mail && !hasMail)
        throw badRequest('mail', 'must not be true: the service has no mail server (SMTP_URL)');
    },
    () => {
      if (mail && !email && !faulty.has('email'))
        throw badRequest('email', 'is required for an invitation that is mailed');
    },
  ]);
}

const memberExists = () =>
  new AppError(
    'conflict',
    'a member of the workspace has this email; only that member, or the operator with `hoplog console invite`, can create a link that lets them in again',
  );

/** @throws {AppError} `conflict` when no owner would remain */
async function refuseLastOwner(tx: PoolClient, { workspace_id, role }: Member): Promise<void> {
  if (role === 'owner' && (await countOwners(tx, workspace_id)) === 1) {
    throw new AppError('conflict', 'the workspace must keep an owner; make another member an owner first');
  }
}
