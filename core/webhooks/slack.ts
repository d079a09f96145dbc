import { escapeSlack } from '../chat/escape.ts';
import { inCode, type Message } from './message.ts';

/**
 * Returns the body of an incoming webhook of Slack, and of services that take the same. Values of users are code:
 * Slack reads nothing in it but `&`, `<`, and `>`, which are escaped as it documents. A section has at most ten fields
 * of 2,000 characters.
 * https://docs.slack.dev/messaging/formatting-message-text
 */
export function slackMessage({ title, fields }: Message): object {
  return {
    text: title,
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      {
        type: 'section',
        text: text(`*${title}*`),
        fields: fields.map(({ name, value }) => text(`*${name}*\n${inCode(escapeSlack(value))}`)),
      },
    ],
  };
}

/** `verbatim`: Slack makes no links of addresses, channels, and names. */
const text = (markdown: string) => ({ type: 'mrkdwn', text: markdown, verbatim: true });
