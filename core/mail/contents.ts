import type { Role } from '../access/roles.ts';
import type { AlertContent } from '../alerts/alert-content.ts';
import type { ProblemContent } from '../alerts/problem-content.ts';
import type { Language } from '../languages/languages.ts';
import type { ReportContent } from '../reports/report-content.ts';

/** What a mail is about. A new one also belongs in the constraint of the table `mails`. */
export const MAIL_KINDS = [
  'invitation',
  'password_reset',
  'sign_in',
  'account_change',
  'key_change',
  'payout_address_change',
  'confirmation',
  'report',
  'alert',
  'application',
  'portal_sign_in',
  'problem',
  'affiliate_notice',
  'message',
] as const;
export type MailKind = (typeof MAIL_KINDS)[number];

/** Where a request came from, as its person recognizes it. */
export type Place = {
  /** Such as `Firefox on Linux`. */
  browser: string;
  /** Network address. */
  address: string;
};

/** A change of how a member signs in. */
export type AccountChange =
  | 'password_set'
  | 'password_reset'
  | 'access_renewed'
  | 'passkey_added'
  | 'passkey_deleted'
  | 'two_factor_on'
  | 'two_factor_off'
  | 'recovery_codes_replaced';

export type KeyChange = 'key_created' | 'key_revoked' | 'identity_secret_replaced' | 'key_replaced';

/** What an affiliate is told: see the table `affiliate_notices`. */
export type AffiliateNotice = 'first_sale' | 'payout' | 'payout_failed' | 'refund';

/** The facts of a mail, from which it is written when it is sent. Instants are ISO 8601. */
export type MailContent =
  | {
      kind: 'invitation';
      url: string;
      role: Role;
      /** Email of the owner who invites; null: a program with a key. */
      invitedBy: string | null;
      expiresAt: string;
    }
  | { kind: 'password_reset'; url: string; minutes: number; place: Place }
  | { kind: 'sign_in'; at: string; place: Place; accountUrl: string }
  | { kind: 'account_change'; change: AccountChange; at: string; place: Place; accountUrl: string }
  | {
      kind: 'key_change';
      change: KeyChange;
      /** Label of the key; null: none. */
      label: string | null;
      /** Email of the member, or label of the key, that made the change. */
      by: string;
      at: string;
      accountUrl: string;
    }
  | { kind: 'payout_address_change'; at: string }
  | {
      /** The first mail to an address without a membership: it gets others once it has confirmed. */
      kind: 'confirmation';
      url: string;
      /** Email of the member who adds the address; null: a program with a key. */
      addedBy: string | null;
      /** Name of the report or alert. */
      of: string;
    }
  | {
      /** Goes to an applicant. It has no word of the application, which anyone may send for any address. */
      kind: 'application';
      change: 'received' | 'approved' | 'rejected';
      /** Name of the program. */
      program: string;
      language: Language;
      /** The referral link; null: not approved. */
      link: string | null;
      /** Page of the program's portal. */
      portalUrl: string;
    }
  | { kind: 'portal_sign_in'; url: string; minutes: number; language: Language; place: Place }
  | {
      /** To an affiliate, about the own earnings alone. */
      kind: 'affiliate_notice';
      change: AffiliateNotice;
      /** Name of the program. */
      program: string;
      /** Major units. */
      amount: number;
      currency: string;
      /** Number of refunds that this mail is about; 1 for others. */
      count: number;
      language: Language;
      /** Page of the program's portal. */
      portalUrl: string;
    }
  | {
      /** To a referrer, in the words of the workspace. */
      kind: 'message';
      /** One line. */
      subject: string;
      /** Plain text; empty lines separate paragraphs. */
      text: string;
      /** Name of the program. */
      program: string;
      language: Language;
    }
  | ReportContent
  | AlertContent
  | ProblemContent;

/**
 * Returns whether a mail is about the recipient's own account. Such a mail is sent to everyone; from others the
 * recipient can unsubscribe.
 */
export function isOfOwnAccount(kind: MailKind): boolean {
  return !ENDED_BY_RECIPIENT.has(kind);
}

const ENDED_BY_RECIPIENT: ReadonlySet<MailKind> = new Set<MailKind>([
  'invitation',
  'confirmation',
  'report',
  'alert',
  'application',
  'problem',
  'affiliate_notice',
  'message',
]);
