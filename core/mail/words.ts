import { alertLetter } from '../alerts/alert-letter.ts';
import { problemLetter } from '../alerts/problem-letter.ts';
import { type Language, localeOf } from '../languages/languages.ts';
import { mailWords } from '../languages/mails/words.ts';
import { moneyFormat } from '../money/money-format.ts';
import { reportLetter } from '../reports/report-letter.ts';
import type { MailContent, Place } from './contents.ts';
import type { Letter } from './letter.ts';
import { plainName } from './plain-name.ts';

/** What the words of a mail depend on besides its content. */
export type Setting = {
  /** Name of the workspace; null: the mail is about no single one. */
  workspaceName: string | null;
  /** IANA time zone of times; null: UTC. */
  timeZone: string | null;
  /** The recipient's. */
  language: Language;
};

/** Returns the words of a mail. */
export function letterOf(content: MailContent, { workspaceName, timeZone, language }: Setting): Letter {
  const words = mailWords(language);
  const name = workspaceName === null ? 'Hoplog' : plainName(workspaceName);
  const when = (iso: string) => instantIn(iso, timeZone, language);
  const placeFacts = ({ browser, address }: Place): [string, string][] => [
    [words('browser'), browser],
    [words('address'), address],
  ];
  switch (content.kind) {
    case 'invitation': {
      const role = words(`role_${content.role}`);
      return {
        subject: words('invitation_subject', { name }),
        title: words('invitation_title', { name }),
        paragraphs: [
          content.invitedBy === null
            ? words('invited', { name, role })
            : words('invited_by', { name, role, by: content.invitedBy }),
        ],
        button: { label: words('invitation_button'), url: content.url },
        notes: [words('invitation_ends', { time: when(content.expiresAt) }), words('invitation_unexpected')],
      };
    }
    case 'password_reset':
      return {
        subject: words('reset_title'),
        title: words('reset_title'),
        paragraphs: [words('reset_text')],
        facts: placeFacts(content.place),
        button: { label: words('reset_button'), url: content.url },
        notes: [words('reset_ends', { count: content.minutes }), words('reset_unexpected')],
      };
    case 'sign_in':
      return {
        subject: words('sign_in_subject', { name }),
        title: words('sign_in_title'),
        paragraphs: [words('sign_in_text', { name })],
        facts: [[words('time'), when(content.at)], ...placeFacts(content.place)],
        button: { label: words('sign_in_button'), url: content.accountUrl },
        notes: [words('sign_in_unexpected')],
      };
    case 'account_change':
      return {
        subject: words(content.change),
        title: words(content.change),
        paragraphs: [workspaceName === null ? words('account_everywhere') : words('account_text', { name })],
        facts: [[words('time'), when(content.at)], ...placeFacts(content.place)],
        button: { label: words('account_button'), url: content.accountUrl },
        notes: [words('account_unexpected')],
      };
    case 'key_change':
      return {
        subject: words('key_subject', { change: words(content.change), name }),
        title: words(content.change),
        paragraphs: [words('key_text', { name })],
        facts: [
          ...(content.label ? [[words('key'), plainName(content.label)] as const] : []),
          [words('by'), plainName(content.by)],
          [words('time'), when(content.at)],
        ],
        button: { label: words('key_button'), url: content.accountUrl },
        notes: [words('key_unexpected')],
      };
    case 'payout_address_change':
      return {
        subject: words('payout_subject', { name }),
        title: words('payout_title'),
        paragraphs: [words('payout_text', { name }), words('payout_unexpected', { name })],
        facts: [[words('time'), when(content.at)]],
      };
    case 'confirmation': {
      const report = plainName(content.of);
      return {
        subject: words('confirmation_subject', { name }),
        title: words('confirmation_title', { name }),
        paragraphs: [
          content.addedBy === null
            ? words('confirmation_text', { name, report })
            : words('confirmation_text_by', { name, report, by: content.addedBy }),
        ],
        button: { label: words('confirmation_button'), url: content.url },
        notes: [words('confirmation_unexpected')],
      };
    }
    case 'application': {
      const program = plainName(content.program);
      const { change, link } = content;
      return {
        subject: words(`application_${change}_subject`, { program }),
        title: words(`application_${change}_title`, { program }),
        paragraphs: [words(`application_${change}`, { program, name })],
        facts: link === null ? [] : [[words('referral_link'), link]],
        ...(change === 'approved' && { button: { label: words('portal_button'), url: content.portalUrl } }),
        notes: [words('application_unexpected')],
      };
    }
    case 'portal_sign_in':
      return {
        subject: words('portal_sign_in_subject', { name }),
        title: words('portal_sign_in_subject', { name }),
        paragraphs: [words('portal_sign_in')],
        facts: placeFacts(content.place),
        button: { label: words('portal_sign_in_button'), url: content.url },
        notes: [words('portal_sign_in_ends', { count: content.minutes }), words('portal_sign_in_unexpected')],
      };
    case 'affiliate_notice': {
      const { change, count } = content;
      const program = plainName(content.program);
      const amount = moneyFormat(content.currency, localeOf(language)).format(content.amount);
      const subject =
        change === 'payout'
          ? words('notice_payout_subject', { program, amount })
          : words(`notice_${change}_subject`, { program });
      const paragraphs = {
        first_sale: () => words('notice_first_sale', { program, name, amount }),
        payout: () => words('notice_payout', { name, amount }),
        payout_failed: () => words('notice_payout_failed', { name, amount }),
        refund: () => words('notice_refund', { count, amount, program }),
      };
      return {
        subject,
        title: subject,
        paragraphs: [paragraphs[change]()],
        button: { label: words('portal_button'), url: content.portalUrl },
        notes: [words('notice_reason', { program })],
      };
    }
    case 'message':
      return {
        subject: content.subject,
        title: content.subject,
        paragraphs: content.text
          .split(/\r?\n(?:[ \t]*\r?\n)+/)
          .map((part) => part.trim())
          .filter((part) => part !== ''),
        notes: [words('message_reason', { name, program: plainName(content.program) })],
      };
    case 'report':
      return reportLetter(content, name, language);
    case 'problem':
      return problemLetter(content, name, words, when);
    case 'alert':
      return alertLetter(content, name, language, when);
  }
}

/** Returns an instant in words, such as `November 29, 2026 at 9:18 PM UTC`. */
function instantIn(iso: string, timeZone: string | null, language: Language): string {
  return new Intl.DateTimeFormat(localeOf(language), {
    dateStyle: 'long',
    timeStyle: 'long',
    timeZone: timeZone ?? 'UTC',
  }).format(new Date(iso));
}
