/** Longest name in a mail. */
const MOST = 80;
const WORD_JOINER = '\u2060';

/**
 * Returns a name that somebody chose as a mail shows it: on one line, and not as a link. Mail programs make links of
 * texts that look like addresses of pages, and a name must not lead readers elsewhere.
 */
export function plainName(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  const characters = [...line];
  const short = characters.length > MOST ? `${characters.slice(0, MOST - 1).join('')}…` : line;
  return short
    .replaceAll(/:(?=\/\/)/g, `:${WORD_JOINER}`)
    .replaceAll(/(?<=\S)([.。．｡])(?=\S)/g, `$1${WORD_JOINER}`)
    .replaceAll(/(?<=\S)@(?=\S)/g, `@${WORD_JOINER}`);
}
