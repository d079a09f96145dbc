import { escapeHtml } from '../../core/text/html.ts';
import type { Writing } from './html.ts';

/** A column of a table: its name, and whether it has figures. */
export type Column = { name: string; isFigure?: boolean };

/**
 * A table that scrolls within its card on a phone.
 *
 * @param rows texts
 * @param foot texts of the last row; left out: none
 */
export function tableOf(
  label: string,
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  foot?: readonly string[],
): string {
  const classOf = (n: number) => (columns[n]?.isFigure ? ' class="figure"' : '');
  const cells = (row: readonly string[], tag: 'td' | 'th') =>
    row.map((text, n) => `<${tag}${classOf(n)}>${escapeHtml(text)}</${tag}>`).join('');
  const head = columns
    .map(
      ({ name, isFigure }) => `<th scope="col"${isFigure ? ' class="figure"' : ''}>${escapeHtml(name)}</th>`,
    )
    .join('');
  const body = rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('');
  return `<div class="scroll" role="region" tabindex="0" aria-label="${escapeHtml(label)}"><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody>${foot ? `<tfoot><tr>${cells(foot, 'td')}</tr></tfoot>` : ''}</table></div>`;
}

/** A card with a title, and a sentence where it has nothing to show. */
export const cardOf = (title: string, content: string, { words }: Pick<Writing, 'words'>): string =>
  `<section class="card"><h2>${escapeHtml(title)}</h2>${content === '' ? `<p class="dim">${escapeHtml(words('none_yet'))}</p>` : content}</section>`;

const STATUSES = ['pending', 'eligible', 'paid', 'reversed', 'rejected'] as const;

/** Returns the status of a commission in words. */
export function statusWord(status: string, words: Writing['words']): string {
  const known = STATUSES.find((one) => one === status);
  return known ? words(`status_${known}`) : status;
}
