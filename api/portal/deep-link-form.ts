import { escapeHtml } from '../../core/text/html.ts';
import type { Account } from './account-page.ts';
import { copyRow, inputField, isolated, type Writing } from './html.ts';

/** The form that makes a link to a page below the destination, where the program has such links. */
export function deepLinkForm({ of: { program } }: Account, writing: Writing): string {
  if (!program.portal.deep_links) return '';
  const { words } = writing;
  const begins = words('deep_link_text', { url: isolated(program.destination_url.replace(/[?#].*$/, '')) });
  return `<form class="deep-link" data-call="/portal/links" data-shows="deep-link">
<h3>${escapeHtml(words('deep_link'))}</h3>
<p class="dim">${escapeHtml(begins)}</p>
<input type="hidden" name="code" value="${escapeHtml(program.code)}">
${inputField({ label: words('page_address'), name: 'url', type: 'url', maxLength: 2_000, required: true })}
<p class="problem" role="alert"></p>
<button class="plain">${escapeHtml(words('make_link'))}</button>
<div id="deep-link" role="status" hidden>${copyRow('', writing, words('your_link'))}</div>
</form>`;
}
