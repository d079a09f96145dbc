import type { Portal } from '../../core/referrals/portal.ts';
import { escapeHtml } from '../../core/text/html.ts';
import { factList, inputField, isolated, ownText, type Writing } from './html.ts';
import { isOpen, type OfPortal } from './portal-of.ts';
import type { Affiliate } from './session.ts';
import { signInCard } from './sign-in-page.ts';
import { acceptTerms, termsContent } from './terms-card.ts';
import { termsFacts } from './terms-facts.ts';

/** Longest answer. Characters. */
const ANSWER_CHARACTERS = 2_000;

/**
 * The page of a program for somebody who is not in it: what it pays, and how to apply or sign in.
 *
 * @param affiliate signed in, but not in this program; null: nobody is signed in
 */
export function applyMain(
  { program, workspace }: OfPortal,
  affiliate: Affiliate | null,
  writing: Writing,
): string {
  const { words } = writing;
  const { portal } = program;
  const facts = termsFacts(program, writing);
  const welcome = portal.welcome_text === null ? '' : ownText(portal.welcome_text);
  return `<div class="intro">
<h1><bdi>${escapeHtml(program.name)}</bdi></h1>
<p class="dim">${escapeHtml(words('program_of', { name: workspace.name }))}</p>
${welcome}
${facts.length > 0 ? `<section class="card"><h2>${escapeHtml(words('what_you_earn'))}</h2>${factList(facts)}</section>` : ''}
</div>
<div class="act">
${isOpen(program) ? applyForm(program.code, portal, writing) : ''}
${affiliate ? ownPrograms(affiliate, writing) : signInCard(program.code, writing)}
</div>`;
}

function ownPrograms({ email, programs }: Affiliate, { words }: Writing): string {
  const links = programs.map(
    ({ code, name, workspace_name }) =>
      `<li><a href="/p/${escapeHtml(code)}"><bdi>${escapeHtml(name)}</bdi></a> <span class="dim"><bdi>${escapeHtml(workspace_name)}</bdi></span></li>`,
  );
  return `<section class="card"><h2>${escapeHtml(words('your_programs'))}</h2>
<p class="dim">${escapeHtml(words('signed_in_as', { email: isolated(email) }))}</p><ul>${links.join('')}</ul></section>`;
}

function applyForm(code: string, portal: Portal, writing: Writing): string {
  const { words, language } = writing;
  const fields = portal.fields.map(({ name, label, required }) =>
    inputField({
      label: required ? label : words('optional', { label }),
      name: `answers.${name}`,
      maxLength: ANSWER_CHARACTERS,
      required,
    }),
  );
  return `<section class="card">
<h2>${escapeHtml(words('apply'))}</h2>
<form data-call="/portal/applications" data-work data-done="applied">
<input type="hidden" name="code" value="${escapeHtml(code)}">
<input type="hidden" name="language" value="${language}">
${inputField({ label: words('your_name'), name: 'name', autocomplete: 'name', maxLength: 100, required: true })}
${inputField({ label: words('email'), name: 'email', type: 'email', autocomplete: 'email', maxLength: 254, required: true })}
${fields.join('\n')}
<div class="trap" aria-hidden="true"><label>Website <input name="website" tabindex="-1" autocomplete="off"></label></div>
${termsOf(portal, writing)}
<p class="problem" role="alert"></p>
<button>${escapeHtml(words('send_application'))}</button>
</form>
<div id="applied" hidden tabindex="-1"><h3>${escapeHtml(words('applied'))}</h3><p>${escapeHtml(words('applied_text'))}</p></div>
</section>`;
}

function termsOf(
  { terms_text: text, terms_url: url, terms_version: version }: Portal,
  writing: Writing,
): string {
  return version === null ? '' : termsContent({ url, text }, writing) + acceptTerms(version, writing);
}
