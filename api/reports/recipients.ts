import { badRequest } from '../../core/errors.ts';
import { readEach } from '../../core/faults.ts';
import { createHostResolver } from '../../core/webhooks/resolve-host.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import {
  addressStates,
  confirmationToken,
  recentConfirmations,
  withoutRecentConfirmation,
} from '../../sql/mail/confirmations.ts';
import { createOutbox, type Outbox } from '../../sql/mail/outbox.ts';
import { createMailSealers, type MailSealers } from '../../sql/mail/sealer.ts';
import { chatErrors } from '../../sql/reports/chat-messages.ts';
import type { Recipient } from '../../sql/reports/reports.ts';
import type { ApiDeps, Auth } from '../dependencies.ts';
import { readEmail } from '../emails.ts';
import { parseReceiverUrl, requireReachable } from '../webhooks/receiver-url.ts';
import type { RecipientList, ReportRecord } from './schemas.ts';

/** Most mails with a link to confirm that a workspace causes in a day. */
const MOST_CONFIRMATIONS = 50;

/**
 * Validates recipients, and returns them in the spelling in which they are stored.
 *
 * @throws {AppError} `bad_request` that names every fault
 */
export async function readRecipients(
  given: RecipientList,
  { config, resolveHost }: Pick<ApiDeps, 'config' | 'resolveHost'>,
): Promise<Recipient[]> {
  const rules = { resolve: resolveHost ?? createHostResolver(), allowPrivate: config.webhookAllowPrivate };
  const read = checkRecipients(given, recipientRules(config));
  for (const [n, { type, address }] of read.entries())
    if (type !== 'email') await requireReachable(new URL(address), rules, `recipients.${n}.address`);
  return read;
}

export type RecipientRules = { hasMail: boolean; allowPrivate: boolean };

/** Returns the rules of a deployment for recipients. */
export const recipientRules = ({ mail, webhookAllowPrivate }: ApiDeps['config']): RecipientRules => ({
  hasMail: mail !== null,
  allowPrivate: webhookAllowPrivate,
});

/**
 * Validates recipients as {@link readRecipients} does, without a look at their hosts.
 *
 * @throws {AppError} `bad_request` that names every fault
 */
export function checkRecipients(
  given: readonly Partial<RecipientList[number]>[],
  { hasMail, allowPrivate }: RecipientRules,
): Recipient[] {
  const read: Recipient[] = [];
  readEach(given, ({ type, address = '' }, n) => {
    if (type === undefined) return;
    const path = `recipients.${n}.address`;
    if (type === 'email' && !hasMail)
      throw badRequest(
        `recipients.${n}.type`,
        'must not be `email`: the service has no mail server (SMTP_URL)',
      );
    const stored = type === 'email' ? readEmail(address, path) : address.trim();
    if (type !== 'email' && parseReceiverUrl(stored, path).protocol !== 'https:' && !allowPrivate)
      throw badRequest(path, 'must begin with https://');
    if (read.some((one) => one.type === type && one.address === stored))
      throw badRequest(path, 'must not repeat another recipient');
    read.push({ type, address: stored });
  });
  return read;
}

/** Mails a link to confirm to new addresses of a report or alert of this name. As {@link askToConfirm}. */
export type Ask = (tx: Queryable, of: string, recipients: readonly Recipient[]) => Promise<void>;

/**
 * Returns what prepares {@link Ask} for a caller. It is called before the transaction, which would wait for another
 * connection.
 */
export function createAsker({ pool, config }: ApiDeps): (auth: Auth) => Promise<Ask> {
  const outbox = createOutbox(config.mail !== null);
  const sealersOf = createMailSealers();
  return async ({ workspace, member }) => {
    const mail = { outbox, sealers: await sealersOf(pool), appUrl: config.appUrl };
    const by = { workspaceId: workspace.id, addedBy: member?.email ?? null };
    return (tx, of, recipients) => askToConfirm(tx, mail, { ...by, of }, recipients);
  };
}

/**
 * Mails a link to the addresses that are neither members nor confirmed, each at most once a day.
 *
 * @param about.addedBy email of the member who adds the addresses
 * @throws {AppError} `bad_request` when the workspace caused too many of these mails
 */
async function askToConfirm(
  tx: Queryable,
  { outbox, sealers, appUrl }: { outbox: Outbox; sealers: MailSealers; appUrl: string },
  about: { workspaceId: string; addedBy: string | null; of: string },
  recipients: readonly Recipient[],
): Promise<void> {
  const { workspaceId, addedBy, of } = about;
  const emails = emailsOf(recipients);
  const states = await addressStates(tx, workspaceId, emails);
  const open = emails.filter((email) => states.get(email) === 'unconfirmed');
  const wanted = await withoutRecentConfirmation(tx, workspaceId, open);
  if (wanted.length === 0) return;
  if ((await recentConfirmations(tx, workspaceId)) + wanted.length > MOST_CONFIRMATIONS)
    throw badRequest('recipients', `must not add more than ${MOST_CONFIRMATIONS} new addresses a day`);
  await outbox.queue(
    tx,
    wanted.map((recipient) => {
      const token = confirmationToken(sealers.unsubscribes, { workspaceId, email: recipient });
      const url = `${appUrl}/console/confirm-mail#${token}`;
      return { workspaceId, recipient, content: { kind: 'confirmation' as const, url, addedBy, of } };
    }),
  );
}

/** Returns reports or alerts with the states of their recipients. */
export async function withStates<T extends { recipients: readonly Recipient[] }>(
  db: Queryable,
  workspaceId: string,
  records: readonly T[],
): Promise<(Omit<T, 'recipients'> & Pick<ReportRecord, 'recipients'>)[]> {
  const states = await recipientStates(
    db,
    workspaceId,
    records.map(({ recipients }) => recipients),
  );
  return records.map((record, n) => ({ ...record, recipients: states[n] ?? [] }));
}

/** Returns recipients with their states, in the order of the lists. */
async function recipientStates(
  db: Queryable,
  workspaceId: string,
  lists: readonly (readonly Recipient[])[],
): Promise<ReportRecord['recipients'][]> {
  const all = lists.flat();
  const emails = emailsOf(all);
  const chats = all.flatMap(({ type, address }) => (type === 'email' ? [] : address));
  const [states, errors] = [
    emails.length > 0 ? await addressStates(db, workspaceId, emails) : new Map(),
    chats.length > 0 ? await chatErrors(db, workspaceId, chats) : new Map<string, string>(),
  ];
  return lists.map((list) =>
    list.map(({ type, address }) => {
      if (type === 'email')
        return { type, address, state: states.get(address) ?? 'unconfirmed', error: null };
      const error = errors.get(address) ?? null;
      return { type, address, state: error === null ? 'ok' : 'failing', error };
    }),
  );
}

const emailsOf = (recipients: readonly Recipient[]) =>
  recipients.flatMap(({ type, address }) => (type === 'email' ? address : []));
