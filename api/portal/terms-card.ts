import { escapeHtml } from '../../core/text/html.ts';
import type { Account } from './account-page.ts';
import { isolated, ownText, type Writing } from './html.ts';

/** Terms with their address, or their text. */
export function termsContent(
  { url, text }: { url: string | null; text: string | null },
  { words }: Pick<Writing, 'words'>,
): string {
  if (url !== null)
    return `<p><a href="${escapeHtml(url)}" target="_blank" rel="noopener noreferrer">${escapeHtml(words('read_terms'))}</a></p>`;
  return `<section class="terms" tabindex="0" aria-label="${escapeHtml(words('terms'))}">${ownText(text ?? '')}</section>`;
}

/** Accepts a version of terms, within a form. */
export const acceptTerms = (version: string, { words }: Pick<Writing, 'words'>): string =>
  `<input type="hidden" name="terms_version" value="${escapeHtml(version)}">
<label class="check"><input type="checkbox" required> <span>${escapeHtml(words('accept_terms', { version: isolated(version) }))}</span></label>`;

/** The present terms, where the affiliate has not accepted them. */
export function dueTermsCard({ of: { program }, accepted }: Account, writing: Writing): string {
  const { terms_version: present, terms_url: url, terms_text: text } = program.portal;
  if (present === null || accepted.some(({ version }) => version === present)) return '';
  const code = escapeHtml(program.code);
  const { words } = writing;
  return `<section class="card due" id="terms"><h2>${escapeHtml(words('new_terms'))}</h2>
<p>${escapeHtml(words('new_terms_text'))}</p>
<form data-call="/portal/terms" data-then="/p/${code}">
<input type="hidden" name="code" value="${code}">
${termsContent({ url, text }, writing)}
${acceptTerms(present, writing)}
<p class="problem" role="alert"></p>
<button>${escapeHtml(words('accept'))}</button>
</form></section>`;
}

/** What the affiliate has accepted last, to be read again. */
export function acceptedTermsCard({ accepted }: Account, writing: Writing): string {
  const [last] = accepted;
  if (!last) return '';
  const { words, day } = writing;
  const when = words('terms_accepted', {
    version: isolated(last.version),
    time: day(last.accepted_at.toISOString()),
  });
  return `<details class="card"><summary>${escapeHtml(words('terms'))}</summary>
<p class="open-text">${escapeHtml(when)}</p>
${termsContent(last, writing)}</details>`;
}
