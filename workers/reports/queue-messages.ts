import { chatBody } from '../../core/chat/chat-body.ts';
import { DEFAULT_LANGUAGE, type Language } from '../../core/languages/languages.ts';
import type { MailContent } from '../../core/mail/contents.ts';
import { letterOf } from '../../core/mail/words.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import { addressStates } from '../../sql/mail/confirmations.ts';
import type { Outbox } from '../../sql/mail/outbox.ts';
import { queueChatMessage } from '../../sql/reports/chat-messages.ts';
import type { Recipient } from '../../sql/reports/reports.ts';

/** Queues the messages of a report or an alert, to the recipients that want them. */
export async function queueMessages(
  tx: Queryable,
  outbox: Outbox,
  workspace: { id: string; name: string; time_zone: string | null; language: Language | null },
  recipients: readonly Recipient[],
  content: MailContent,
): Promise<void> {
  const emails = recipients.flatMap(({ type, address }) => (type === 'email' ? address : []));
  const states = await addressStates(tx, workspace.id, emails);
  const wanting = emails.filter((email) => states.get(email) === 'ok');
  await outbox.queue(
    tx,
    wanting.map((recipient) => ({ workspaceId: workspace.id, recipient, content })),
  );
  const letter = letterOf(content, {
    workspaceName: workspace.name,
    timeZone: workspace.time_zone,
    language: workspace.language ?? DEFAULT_LANGUAGE,
  });
  for (const { type, address } of recipients) {
    if (type === 'email') continue;
    await queueChatMessage(tx, {
      workspaceId: workspace.id,
      chat: type,
      address,
      body: chatBody(type, letter),
    });
  }
}
