import { escapeHtml } from '../../core/text/html.ts';
import { createPage, type Page } from './layout.ts';

/** Pages shown instead of a redirect. */
export type Pages = {
  /** Of the host itself. */
  root: Page;
  notFound: Page;
  gone: Page;
  /** By the operator of the deployment. */
  blocked: Page;
  unavailable: Page;
  /** @param referer of the visit; text, sent along with the form */
  passwordForm(referer: string): Page;
  wrongPassword(referer: string): Page;
  /** In a frame, in place of the form. */
  framedPasswordForm: Page;
  tooManyAttempts: Page;
};

/** Seconds until a retry while PostgreSQL is down or a lease is requested. */
const RETRY_AFTER = '1';
/** Seconds until a blocked address may retry. */
const ATTEMPTS_RETRY_AFTER = '60';

export function createPages(): Pages {
  const form = (alert: string) => (referer: string) => {
    // Without an action it is sent to the page's own address, with the visitor's query.
    const main =
      `${alert}<form method="post"><input type="hidden" name="referer" value="${escapeHtml(referer)}">` +
      '<label for="password">Password</label>' +
      '<input id="password" name="password" type="password" autocomplete="current-password" required autofocus>' +
      '<button type="submit">Continue</button></form>';
    return createPage('Password required', main, [], true);
  };
  return {
    root: createPage(
      'Short links',
      '<p>This host leads visitors of short links to their destinations. There is nothing to see here: open the whole address of a link.</p>',
    ),
    notFound: createPage('Link not found', '<p>There is no link at this address.</p>'),
    gone: createPage('Link expired', '<p>This link is no longer active.</p>'),
    blocked: createPage(
      'Link blocked',
      '<p>The operator of this service has blocked this link. It may have been reported as harmful.</p>',
    ),
    unavailable: createPage(
      'Please try again',
      '<p>This link cannot be opened right now. Try again in a moment.</p>',
      [['Retry-After', RETRY_AFTER]],
    ),
    passwordForm: form('<p>This link is protected by a password.</p>'),
    wrongPassword: form('<p role="alert">That password is not right. Try again.</p>'),
    framedPasswordForm: createPage(
      'Password required',
      // Without a referrer: it would be this page, not the one with the frame.
      '<p>This link is protected by a password. Enter it in a new window.</p>' +
        '<p><a class="button" href="" target="_blank" rel="noreferrer">Open in a new window</a></p>',
    ),
    tooManyAttempts: createPage(
      'Too many attempts',
      '<p role="alert">Too many wrong passwords. Try again in a minute.</p>',
      [['Retry-After', ATTEMPTS_RETRY_AFTER]],
    ),
  };
}
