import { escapeHtml } from '../../core/text/html.ts';
import { inputField, type Writing } from './html.ts';

/** A form that requests a link for a program's portal. */
export function signInCard(code: string, { words, language }: Writing): string {
  return `<section class="card">
<h2>${escapeHtml(words('sign_in'))}</h2>
<p>${escapeHtml(words('sign_in_text'))}</p>
<form data-call="/portal/sign-in" data-done="link-sent">
<input type="hidden" name="code" value="${escapeHtml(code)}">
<input type="hidden" name="language" value="${language}">
${inputField({ label: words('email'), name: 'email', type: 'email', autocomplete: 'email', maxLength: 254, required: true })}
<p class="problem" role="alert"></p>
<button class="plain">${escapeHtml(words('send_link'))}</button>
</form>
${linkSent(words)}
</section>`;
}

/** Shown once a link was requested. */
export const linkSent = (words: Writing['words']): string =>
  `<div id="link-sent" hidden tabindex="-1"><h3>${escapeHtml(words('link_sent'))}</h3><p>${escapeHtml(words('link_sent_text'))}</p></div>`;

/** The page of the link in a mail. Its script takes the token out of the address, which no server's log has. */
export function completeMain(code: string, { words }: Writing): string {
  const page = `/p/${escapeHtml(code)}`;
  return `<div class="alone">
<form data-call="/portal/sign-in/complete" data-by-itself data-then="${page}" data-failed="link-ended">
<h1>${escapeHtml(words('signing_in'))}</h1>
<input type="hidden" name="token" data-fragment>
<p class="problem" role="alert"></p>
<button>${escapeHtml(words('sign_in'))}</button>
</form>
<div id="link-ended" hidden tabindex="-1">
<h1>${escapeHtml(words('link_ended'))}</h1>
<p>${escapeHtml(words('link_ended_text'))}</p>
<p><a class="button" href="${page}">${escapeHtml(words('to_sign_in'))}</a></p>
</div>
</div>`;
}
