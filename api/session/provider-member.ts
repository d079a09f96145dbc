import { ROLES, type Role } from '../../core/access/roles.ts';
import { uuidv7 } from '../../core/ids.ts';
import type { OidcSettings } from '../../core/settings/oidc.ts';
import { isEmail, normalizeEmail } from '../../core/tracking/emails.ts';
import { recordAudit } from '../../sql/audit/audit-log.ts';
import { consumeInvitesFor, endInvitesOf } from '../../sql/console/invites.ts';
import { countOwners, insertMember, memberByEmail, memberById, setRole } from '../../sql/console/members.ts';
import {
  hasOtherIdentity,
  hasRemovedMember,
  linkIdentity,
  memberOfIdentity,
} from '../../sql/console/provider-identities.ts';
import { endOtherSessions } from '../../sql/console/sessions.ts';
import type { PoolClient } from '../../sql/database/pool.ts';
import { lockWorkspace } from '../../sql/workspaces/workspaces.ts';
import type { ProviderPerson } from './provider.ts';

/** Why a person of the provider is not signed in. */
export type PersonRefusal =
  | 'email_missing'
  | 'email_unverified'
  | 'email_verified_missing'
  | 'domain_refused'
  | 'no_member'
  | 'removed'
  | 'no_group'
  | 'groups_missing'
  | 'groups_overage'
  | 'other_person';

/** The member of a person, if any, and the reason if it may not sign in. */
export type FoundMember =
  | { memberId: string; refused: null }
  | { memberId: string | null; refused: PersonRefusal };

/**
 * Returns the member that a person of the provider signs in as: links, creates and changes it as the settings say.
 *
 * - An email counts only if the provider has verified it, or the settings trust it, and its domain is allowed.
 * - A removed member is not created again: an owner must invite it first. A sign-in accepts an open invitation.
 * - Where groups give roles, a person without one of them is refused, and the member's sessions end. Where the provider
 *   does not tell the groups, the person is refused, and role and sessions stay.
 *
 * A refusal does not throw, because a rollback would restore the sessions that it ended.
 */
export async function memberOfPerson(
  tx: PoolClient,
  settings: OidcSettings,
  workspaceId: string,
  person: ProviderPerson,
): Promise<FoundMember> {
  const email = person.email !== null && isEmail(person.email) ? normalizeEmail(person.email) : null;
  if (email === null) return { memberId: null, refused: 'email_missing' };
  if (person.isEmailVerified === false) return { memberId: null, refused: 'email_unverified' };
  if (person.isEmailVerified === null && !settings.trustsEmail)
    return { memberId: null, refused: 'email_verified_missing' };
  const domain = email.slice(email.lastIndexOf('@') + 1);
  if (!settings.allowedDomains.includes(domain)) return { memberId: null, refused: 'domain_refused' };

  await lockWorkspace(tx, workspaceId);
  const { groups } = person;
  if (settings.groupRoles.size > 0 && groups.state !== 'given') {
    const identity = { issuer: settings.issuer, subject: person.subject };
    const linked = await memberOfIdentity(tx, workspaceId, identity);
    return { memberId: linked?.id ?? null, refused: `groups_${groups.state}` };
  }
  const role = groups.state === 'given' ? roleOf(settings, groups.names) : null;
  const found = await linkedMember(tx, settings, workspaceId, { subject: person.subject, email, role });
  if (found.refused !== null || found.memberId === null) return found;
  if (settings.groupRoles.size === 0) return found;
  if (role === null) {
    await endOtherSessions(tx, found.memberId, null);
    await endInvitesOf(tx, found.memberId);
    return { memberId: found.memberId, refused: 'no_group' };
  }
  await followRole(tx, workspaceId, found.memberId, role);
  return found;
}

/** Returns the highest role that the groups give, or null. */
function roleOf({ groupRoles }: OidcSettings, groups: readonly string[]): Role | null {
  const given = groups.map((group) => groupRoles.get(group));
  return ROLES.findLast((role) => given.includes(role)) ?? null;
}

async function linkedMember(
  tx: PoolClient,
  { issuer, groupRoles }: OidcSettings,
  workspaceId: string,
  { subject, email, role }: { subject: string; email: string; role: Role | null },
): Promise<FoundMember> {
  const identity = { issuer, subject };
  const linked = await memberOfIdentity(tx, workspaceId, identity);
  if (linked && !linked.is_removed) return { memberId: linked.id, refused: null };
  const known = await memberByEmail(tx, workspaceId, email);
  if (known) {
    // The provider gave the address to another person.
    if (await hasOtherIdentity(tx, known.id, identity))
      return { memberId: known.id, refused: 'other_person' };
    await linkIdentity(tx, { workspaceId, memberId: known.id, ...identity });
    await record(tx, workspaceId, 'member.link', known.id);
    return { memberId: known.id, refused: null };
  }
  if (groupRoles.size > 0 && role === null) return { memberId: null, refused: 'no_group' };
  const invite = await consumeInvitesFor(tx, workspaceId, email);
  if (!invite && (linked || (await hasRemovedMember(tx, workspaceId, email))))
    return { memberId: null, refused: 'removed' };
  const given = role ?? invite?.role;
  if (given === undefined) return { memberId: null, refused: 'no_member' };
  const id = invite?.member_id ?? uuidv7();
  const maker = {
    makerKeyId: invite?.maker_key_id ?? null,
    makerMemberId: invite?.maker_member_id ?? null,
  };
  await insertMember(tx, { id, workspaceId, email, role: given, ...maker });
  await linkIdentity(tx, { workspaceId, memberId: id, ...identity });
  await record(tx, workspaceId, 'member.create', id, {
    role: given,
    ...(invite && { invite_id: invite.id }),
  });
  return { memberId: id, refused: null };
}

/** Gives a member the role of its groups. The last owner keeps theirs. */
async function followRole(tx: PoolClient, workspaceId: string, memberId: string, role: Role): Promise<void> {
  const member = await memberById(tx, workspaceId, memberId);
  if (!member || member.role === role) return;
  if (member.role === 'owner') {
    if ((await countOwners(tx, workspaceId)) === 1) return;
    await endInvitesOf(tx, memberId);
  }
  await setRole(tx, memberId, role);
  await record(tx, workspaceId, 'member.update', memberId, { role });
}

const record = (tx: PoolClient, workspaceId: string, action: string, id: string, details = {}) =>
  recordAudit(tx, {
    workspaceId,
    actor: { type: 'provider', id: null },
    action,
    target: { type: 'member', id },
    details,
  });
