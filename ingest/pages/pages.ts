import { byLanguage, type Language } from '../../core/languages/languages.ts';
import { negotiateLanguage } from '../../core/languages/negotiate.ts';
import { pageWords } from '../../core/languages/pages/words.ts';
import { escapeHtml } from '../../core/text/html.ts';
import type { Headers } from '../http/exchange.ts';
import type { WorkspacePolicies } from '../link-table/workspace-policies.ts';
import type { Visit } from '../redirect/visit.ts';
import { createPage, type Page } from './layout.ts';

/** Pages shown instead of a redirect. */
export type Pages = {
  /** Page of the host's `/`. */
  root: Page;
  notFound: Page;
  gone: Page;
  /** Page of a link that the operator has blocked. */
  blocked: Page;
  unavailable: Page;
  /** @param referer of the visit; text, sent along with the form */
  passwordForm(referer: string): Page;
  wrongPassword(referer: string): Page;
  /** Shown in a frame in place of the form. */
  framedPasswordForm: Page;
  tooManyAttempts: Page;
};

/** The pages in the language of a visit. Redirects never call it. */
export type VisitorPages = {
  /** Returns the workspace's language of pages; null: each visitor's own. */
  chosenBy(workspaceId: Uint8Array): Language | null;
  /**
   * Returns the workspace's language of pages, or else the one that the visitor prefers.
   *
   * @param workspaceId null: the visit is of no workspace
   */
  languageOf(visit: Pick<Visit, 'acceptLanguage'>, workspaceId: Uint8Array | null): Language;
  of(visit: Pick<Visit, 'acceptLanguage'>, workspaceId: Uint8Array | null): Pages;
};

/** Seconds until a retry while PostgreSQL is down or a lease is requested. */
const RETRY_AFTER = '1';
/** Seconds until a blocked address may retry. */
const ATTEMPTS_RETRY_AFTER = '60';

export function createPages(policies: Pick<WorkspacePolicies, 'languageOf'>): VisitorPages {
  const pages = byLanguage(pagesIn);
  const chosenBy: VisitorPages['chosenBy'] = (workspaceId) => policies.languageOf(workspaceId);
  const languageOf: VisitorPages['languageOf'] = ({ acceptLanguage }, workspaceId) =>
    (workspaceId && chosenBy(workspaceId)) ?? negotiateLanguage(acceptLanguage);
  return { chosenBy, languageOf, of: (visit, workspaceId) => pages[languageOf(visit, workspaceId)] };
}

function pagesIn(language: Language): Pages {
  const words = pageWords(language);
  const paragraph = (text: string) => `<p>${escapeHtml(text)}</p>`;
  const alert = (text: string) => `<p role="alert">${escapeHtml(text)}</p>`;
  const page = (title: string, main: string, headers: Headers = []) =>
    createPage(language, title, main, headers);
  const form = (text: string) => (referer: string) => {
    // Without an action it is sent to the page's own address, with the visitor's query.
    const main =
      `${text}<form method="post"><input type="hidden" name="referer" value="${escapeHtml(referer)}">` +
      `<label for="password">${escapeHtml(words('password'))}</label>` +
      '<input id="password" name="password" type="password" autocomplete="current-password" required autofocus>' +
      `<button type="submit">${escapeHtml(words('continue'))}</button></form>`;
    return createPage(language, words('password_required'), main, [], true);
  };
  return {
    root: page(words('short_links'), paragraph(words('short_links_text'))),
    notFound: page(words('not_found'), paragraph(words('not_found_text'))),
    gone: page(words('expired'), paragraph(words('expired_text'))),
    blocked: page(words('blocked'), paragraph(words('blocked_text'))),
    unavailable: page(words('unavailable'), paragraph(words('unavailable_text')), [
      ['Retry-After', RETRY_AFTER],
    ]),
    passwordForm: form(paragraph(words('password_text'))),
    wrongPassword: form(alert(words('wrong_password'))),
    framedPasswordForm: page(
      words('password_required'),
      // Without a referrer: it would be this page, not the one with the frame.
      `${paragraph(words('password_framed_text'))}<p><a class="button" href="" target="_blank" rel="noreferrer">` +
        `${escapeHtml(words('new_window'))}</a></p>`,
    ),
    tooManyAttempts: page(words('too_many_attempts'), alert(words('too_many_attempts_text')), [
      ['Retry-After', ATTEMPTS_RETRY_AFTER],
    ]),
  };
}
