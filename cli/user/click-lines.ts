import type { Click } from '../../sdk/typescript/src/generated/types.ts';
import { cell } from '../output.ts';

/** Columns of a click on a terminal. `--json` has all fields. */
const COLUMNS: readonly { title: string; width: number; text: (click: Click) => string }[] = [
  { title: 'time (UTC)', width: 19, text: ({ ts }) => ts.slice(0, 19).replace('T', ' ') },
  { title: 'link', width: 24, text: ({ domain, slug }) => (domain ? `${domain}/${slug}` : slug) },
  { title: 'channel', width: 12, text: ({ channel }) => channel },
  { title: 'from', width: 20, text: ({ country, city }) => [country, city].filter(Boolean).join(' ') },
  {
    title: 'with',
    width: 26,
    text: ({ device, browser, os, is_bot }) =>
      is_bot ? 'bot' : [device, browser, os].filter(Boolean).join(', '),
  },
  { title: 'referer', width: 30, text: ({ referer_host }) => referer_host },
];

/** The header above {@link clickLine}. */
export const CLICK_HEADER = COLUMNS.map(({ title, width }) => title.padEnd(width))
  .join('  ')
  .trimEnd();

/** Returns a click as one line of text. Texts of strangers are escaped. */
export function clickLine(click: Click): string {
  return COLUMNS.map(({ width, text }) => cell(text(click), width))
    .join('  ')
    .trimEnd();
}
