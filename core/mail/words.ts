import type { Role } from '../access/roles.ts';
import { reportLetter } from '../reports/report-letter.ts';
import type { AccountChange, KeyChange, MailContent, Place } from './contents.ts';
import type { Letter } from './letter.ts';
import { plainName } from './plain-name.ts';

/** What the words of a mail depend on besides its content. */
export type Setting = {
  /** Name of the workspace; null: the mail is about no single one. */
  workspaceName: string | null;
  /** IANA time zone of times; null: UTC. */
  timeZone: string | null;
};

/** What each role may do, as the console says it. */
const ROLES: Record<Role, string> = {
  analyst: 'analyst, who reads everything',
  operator: 'operator, who also changes links and programs',
  owner: 'owner, who also manages keys and members',
};

const ACCOUNT_CHANGES: Record<AccountChange, string> = {
  password_set: 'Your password was changed',
  password_reset: 'Your password was reset',
  access_renewed: 'Your sign-in was renewed by an invitation link',
  passkey_added: 'A passkey was added to your account',
  passkey_deleted: 'A passkey of your account was deleted',
  two_factor_on: 'Two-factor sign-in was turned on',
  two_factor_off: 'Two-factor sign-in was turned off',
  recovery_codes_replaced: 'Your recovery codes were replaced',
};

const KEY_CHANGES: Record<KeyChange, string> = {
  key_created: 'A key was created',
  key_revoked: 'A key was revoked',
  key_replaced: 'A key was replaced',
  identity_secret_replaced: 'The identity secret was replaced',
};

/** Returns the words of a mail. */
export function letterOf(content: MailContent, { workspaceName, timeZone }: Setting): Letter {
  const name = workspaceName === null ? 'Hoplog' : plainName(workspaceName);
  const when = (iso: string) => instantIn(iso, timeZone);
  switch (content.kind) {
    case 'invitation':
      return {
        subject: `Invitation to ${name}`,
        title: `You are invited to ${name}`,
        paragraphs: [
          `${content.invitedBy === null ? 'You are invited' : `${content.invitedBy} invites you`} to the workspace ${name} as ${ROLES[content.role]}.`,
        ],
        button: { label: 'Accept the invitation', url: content.url },
        notes: [
          `The link works once, until ${when(content.expiresAt)}.`,
          'If you do not expect this invitation, ignore this mail: without the link nothing happens.',
        ],
      };
    case 'password_reset':
      return {
        subject: 'Reset your password',
        title: 'Reset your password',
        paragraphs: ['Somebody requested a new password for the account with this address.'],
        facts: placeFacts(content.place),
        button: { label: 'Choose a new password', url: content.url },
        notes: [
          `The link works once, for ${content.minutes} minutes.`,
          'If it was not you, ignore this mail: your password stays as it is.',
        ],
      };
    case 'sign_in':
      return {
        subject: `New sign-in to ${name}`,
        title: 'A new browser signed in to your account',
        paragraphs: [`It signed in to ${name}, for the first time with this browser.`],
        facts: [['Time', when(content.at)], ...placeFacts(content.place)],
        button: { label: 'Show your sessions', url: content.accountUrl },
        notes: ['If it was not you, end the session there, and change your password.'],
      };
    case 'account_change':
      return {
        subject: ACCOUNT_CHANGES[content.change],
        title: ACCOUNT_CHANGES[content.change],
        paragraphs: [
          workspaceName === null
            ? 'It holds in each workspace that you sign in to with this address.'
            : `It is the account with which you sign in to ${name}.`,
        ],
        facts: [['Time', when(content.at)], ...placeFacts(content.place)],
        button: { label: 'Show your sign-in', url: content.accountUrl },
        notes: ['If it was not you, reset your password now, and tell an owner of the workspace.'],
      };
    case 'key_change':
      return {
        subject: `${KEY_CHANGES[content.change]} in ${name}`,
        title: KEY_CHANGES[content.change],
        paragraphs: [`It belongs to the workspace ${name}. You get this mail as one of its owners.`],
        facts: [
          ...(content.label ? [['Key', plainName(content.label)] as const] : []),
          ['By', plainName(content.by)],
          ['Time', when(content.at)],
        ],
        button: { label: 'Show the keys', url: content.accountUrl },
        notes: ['If none of you did this, revoke the key, and read the audit log under Settings.'],
      };
    case 'payout_address_change':
      return {
        subject: `Your payout address at ${name} was changed`,
        title: 'Your payout address was changed',
        paragraphs: [
          `${name} paid you at this address. From now on it pays you at another one.`,
          `If you did not change it, tell ${name} before the next payout.`,
        ],
        facts: [['Time', when(content.at)]],
      };
    case 'confirmation':
      return {
        subject: `Confirm mail from ${name}`,
        title: `Do you want mail from ${name}?`,
        paragraphs: [
          `${content.addedBy ?? 'Somebody'} added your address to “${plainName(content.of)}” of the workspace ${name}. You get it when you confirm.`,
        ],
        button: { label: 'Confirm', url: content.url },
        notes: ['If you do not expect it, ignore this mail: you get no other.'],
      };
    case 'report':
      return reportLetter(content, name);
  }
}

const placeFacts = ({ browser, address }: Place): [string, string][] => [
  ['Browser', browser],
  ['Address', address],
];

/** Returns an instant in words, such as `November 29, 2026 at 9:18 PM UTC`. */
function instantIn(iso: string, timeZone: string | null): string {
  return new Intl.DateTimeFormat('en-US', {
    dateStyle: 'long',
    timeStyle: 'long',
    timeZone: timeZone ?? 'UTC',
  }).format(new Date(iso));
}
