import type { FastifyRequest } from 'fastify';
import type { AccountChange, KeyChange } from '../../core/mail/contents.ts';
import type { NewAuditEntry } from '../../sql/audit/audit-log.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import { createOutbox, type NewMail } from '../../sql/mail/outbox.ts';
import { emailOfMember, emailsOfOwners, namesOfKeyChange } from '../../sql/mail/recipients.ts';
import type { ApiDeps } from '../dependencies.ts';
import { ACCOUNT_PAGE, KEYS_PAGE, placeOf } from './place.ts';

/** Changes of the calling member's own sign-in, by action of the audit log. */
const OF_ACCOUNT: Readonly<Record<string, AccountChange>> = {
  'password.set': 'password_set',
  'passkey.create': 'passkey_added',
  'passkey.delete': 'passkey_deleted',
  'two_factor.enable': 'two_factor_on',
  'two_factor.disable': 'two_factor_off',
  'two_factor.replace_recovery_codes': 'recovery_codes_replaced',
};

/** Changes of the workspace's secrets, of which its owners hear. */
const OF_KEYS: Readonly<Record<string, KeyChange>> = {
  'key.create': 'key_created',
  'key.revoke': 'key_revoked',
  'identity_secret.rotate': 'identity_secret_replaced',
};

/** Queues the mails of a change that the audit log records, in the same transaction. */
export type ChangeNotices = (tx: Queryable, request: FastifyRequest, entry: NewAuditEntry) => Promise<void>;

export function createChangeNotices({ config }: Pick<ApiDeps, 'config'>): ChangeNotices {
  const outbox = createOutbox(config.mail !== null);

  async function ofAccount(
    tx: Queryable,
    request: FastifyRequest,
    { workspaceId, actor }: NewAuditEntry,
    change: AccountChange,
  ): Promise<NewMail[]> {
    const recipient = actor.id === null ? null : await emailOfMember(tx, actor.id);
    if (recipient === null) return [];
    const at = new Date().toISOString();
    const accountUrl = config.appUrl + ACCOUNT_PAGE;
    const content = { kind: 'account_change', change, at, place: placeOf(request), accountUrl } as const;
    return [{ workspaceId, recipient, content }];
  }

  async function ofKeys(tx: Queryable, entry: NewAuditEntry, change: KeyChange): Promise<NewMail[]> {
    const { workspaceId, actor, target } = entry;
    if (workspaceId === null) return [];
    const owners = await emailsOfOwners(tx, workspaceId);
    const { label, by } = await namesOfKeyChange(tx, target.type === 'key' ? target.id : null, actor.id);
    const at = new Date().toISOString();
    const content = {
      kind: 'key_change',
      change,
      label,
      by: by ?? `a ${actor.type} without a name`,
      at,
      accountUrl: config.appUrl + KEYS_PAGE,
    } as const;
    return owners.map((recipient) => ({ workspaceId, recipient, content }));
  }

  return async (tx, request, entry) => {
    if (!outbox.isOn) return;
    const { action, details } = entry;
    const account = OF_ACCOUNT[action];
    if (account) await outbox.queue(tx, await ofAccount(tx, request, entry, account));
    const isReplaced = action === 'workspace.provision' && details?.rotate_key === true;
    const keys = isReplaced ? 'key_replaced' : OF_KEYS[action];
    if (keys) await outbox.queue(tx, await ofKeys(tx, entry, keys));
  };
}
