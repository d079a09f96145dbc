/**
 * Escapes a text for the `mrkdwn` of Slack, so that it mentions no one and makes no link.
 * Source: docs.slack.dev, "Formatting message text": `&`, `<`, and `>` are the only characters to escape.
 */
export function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Escapes a text for the Markdown of Discord. Mentions are turned off by `allowed_mentions` of the message. */
export function escapeDiscord(text: string): string {
  return text.replaceAll(/[\\*_~`|>#\-[\]()<@:]/g, '\\$&');
}
