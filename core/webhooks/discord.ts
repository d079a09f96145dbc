import { inCode, type Message } from './message.ts';

/**
 * Returns the body of a webhook of Discord. Values of users are code, and no mention is allowed. An embed has at most
 * 25 fields of 1,024 characters, and 6,000 in all.
 * https://discord.com/developers/docs/resources/webhook#execute-webhook
 */
export function discordMessage({ title, fields }: Message): object {
  return {
    allowed_mentions: { parse: [] },
    embeds: [
      { title, fields: fields.map(({ name, value }) => ({ name, value: inCode(value), inline: true })) },
    ],
  };
}
