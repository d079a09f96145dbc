import type { Letter } from '../mail/letter.ts';
import { escapeDiscord, escapeSlack } from './escape.ts';

export const CHATS = ['slack', 'discord'] as const;
export type Chat = (typeof CHATS)[number];

/** Most characters of a message: Slack truncates at 40,000, Discord refuses more than 2,000. */
const MOST: Record<Chat, number> = { slack: 3_000, discord: 1_900 };

const MARKS = {
  slack: {
    plain: escapeSlack,
    bold: (text: string) => `*${text}*`,
    link: (url: string, label: string) => `<${url}|${label}>`,
  },
  discord: {
    plain: escapeDiscord,
    bold: (text: string) => `**${text}**`,
    // Brackets around the address: no preview of it.
    link: (url: string, label: string) => `[${label}](<${url}>)`,
  },
};

/** Returns the body of a request to an incoming webhook of a chat that shows a letter. */
export function chatBody(chat: Chat, letter: Letter): string {
  const { plain, bold, link } = MARKS[chat];
  const { figures = [], facts = [], tables = [], button } = letter;
  const blocks = [
    bold(plain(letter.title)),
    ...letter.paragraphs.map(plain),
    facts.map(([name, value]) => `${plain(name)}: ${plain(value)}`).join('\n'),
    figures
      .map(
        ({ name, value, change }) =>
          `${plain(name)}: ${bold(plain(value))}${change === null ? '' : ` (${plain(change)})`}`,
      )
      .join('\n'),
    ...tables.map(({ title, rows }) =>
      [
        bold(plain(title)),
        ...rows.map(([name = '', ...values]) => `${plain(name)}: ${plain(values.join(', '))}`),
      ].join('\n'),
    ),
  ].filter((block) => block !== '');
  const end = button ? link(button.url, plain(button.label)) : '';
  const text = `${within(blocks, MOST[chat] - end.length)}\n\n${end}`.trim();
  return JSON.stringify(
    chat === 'slack'
      ? { text, unfurl_links: false, unfurl_media: false }
      : { content: text, allowed_mentions: { parse: [] } },
  );
}

/** Joins the first blocks that fit: a table is left out whole. */
function within(blocks: readonly string[], most: number): string {
  let text = '';
  for (const block of blocks) {
    const longer = text === '' ? block : `${text}\n\n${block}`;
    if (longer.length > most) break;
    text = longer;
  }
  return text;
}
