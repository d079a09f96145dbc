import { discordMessage } from './discord.ts';
import { filledUrl } from './get-url.ts';
import { messageOf } from './message.ts';
import { slackMessage } from './slack.ts';

/** Forms of a delivery: a body, or a `get` of the address. */
export const WEBHOOK_FORMATS = ['json', 'slack', 'discord', 'get'] as const;
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

/**
 * Returns the body that a webhook of this format gets, always the same for the same event. That of a `get` is empty.
 *
 * @param body the event, as `deliveryBody` writes it
 */
export function formatBody(format: WebhookFormat, body: string): string {
  if (format === 'json') return body;
  if (format === 'get') return '';
  const message = messageOf(JSON.parse(body));
  return JSON.stringify(format === 'slack' ? slackMessage(message) : discordMessage(message));
}

/** Returns the URL that is called for an event. @param body as for {@link formatBody} */
export function formatUrl({ format, url }: { format: WebhookFormat; url: string }, body: string): string {
  return format === 'get' ? filledUrl(url, body) : url;
}
