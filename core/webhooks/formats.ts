import { discordMessage } from './discord.ts';
import { messageOf } from './message.ts';
import { slackMessage } from './slack.ts';

/** Forms of the body of a delivery. */
export const WEBHOOK_FORMATS = ['json', 'slack', 'discord'] as const;
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

/**
 * Returns the body that a webhook of this format gets, always the same for the same event.
 *
 * @param body the event, as `deliveryBody` writes it
 */
export function formatBody(format: WebhookFormat, body: string): string {
  if (format === 'json') return body;
  const message = messageOf(JSON.parse(body));
  return JSON.stringify(format === 'slack' ? slackMessage(message) : discordMessage(message));
}
