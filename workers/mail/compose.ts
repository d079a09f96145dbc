import { DEFAULT_LANGUAGE } from '../../core/languages/languages.ts';
import { isOfOwnAccount, type MailContent } from '../../core/mail/contents.ts';
import { htmlOf, LOGO_CID, PICTURE_CID, type Sender, textOf } from '../../core/mail/letter.ts';
import { plainName } from '../../core/mail/plain-name.ts';
import { letterOf } from '../../core/mail/words.ts';
import { chartPicture } from '../../core/reports/chart-picture.ts';
import { isEmptyReport } from '../../core/reports/report-letter.ts';
import type { MailSettings } from '../../core/settings/mail.ts';
import type { ClaimedMail, MailContext } from '../../sql/mail/mail-queue.ts';
import type { MailSealers } from '../../sql/mail/sealer.ts';
import { unsubscribeToken } from '../../sql/mail/unsubscribes.ts';

/** A mail as the client of the mail server takes it. */
export type Message = ReturnType<typeof composeMail>;

/** What all mails have in common. */
export type Composing = { settings: MailSettings; appUrl: string; baseUrl: string };

/** Writes a mail. Equal arguments give an equal mail, so a repeated attempt sends what the first one sent. */
export function composeMail(
  { settings, appUrl, baseUrl }: Composing,
  { id, recipient, workspaceId, createdAt }: ClaimedMail,
  content: MailContent,
  { workspaceName, timeZone, logo, language: ofRecipient }: MailContext,
  { unsubscribes }: Pick<MailSealers, 'unsubscribes'>,
) {
  const token =
    workspaceId === null || isOfOwnAccount(content.kind)
      ? null
      : unsubscribeToken(unsubscribes, { workspaceId, email: recipient });
  const language = 'language' in content ? content.language : (ofRecipient ?? DEFAULT_LANGUAGE);
  const sender: Sender = {
    workspaceName: workspaceName === null ? null : plainName(workspaceName),
    hasLogo: logo !== null,
    appUrl,
    unsubscribeUrl: token === null ? null : `${appUrl}/console/unsubscribe#${token}`,
    language,
  };
  const letter = letterOf(content, { workspaceName, timeZone, language });
  return {
    messageId: messageIdOf(id, settings),
    date: createdAt,
    from: settings.from,
    to: recipient,
    ...(settings.replyTo && { replyTo: settings.replyTo }),
    subject: letter.subject,
    text: textOf(letter, sender),
    html: htmlOf(letter, sender),
    headers: {
      // No replies of machines, such as notices of absence.
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      ...(token !== null && {
        'List-Unsubscribe': `<${baseUrl}/api/v1/mails/unsubscribe?token=${token}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      }),
    },
    attachments: [
      ...(logo ? [pictureOf('logo.png', LOGO_CID, logo)] : []),
      ...(content.kind === 'report' && !isEmptyReport(content)
        ? [pictureOf('chart.png', PICTURE_CID, chartPicture(content.chart.values, content.chart.before))]
        : []),
    ],
  };
}

const pictureOf = (filename: string, cid: string, content: Buffer) => ({
  filename,
  content,
  contentType: 'image/png',
  cid,
});

/** Returns the `Message-ID` of a mail: the same at each attempt, so that a mail program shows two copies as one. */
const messageIdOf = (id: string, { from }: Pick<MailSettings, 'from'>): string =>
  `<${id}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`;
