import { escapeHtml } from '../../core/text/html.ts';
import type { Account } from './account-page.ts';
import { isolated, type Writing } from './html.ts';

/** Whether the affiliate gets mails of the program, and the form that changes it. */
export function noticesCard({ of: { program }, affiliate }: Account, { words }: Writing): string {
  const isOn = affiliate.programs.some(({ program_id, notices }) => program_id === program.id && notices);
  const code = escapeHtml(program.code);
  const text = isOn ? words('notices_on', { email: isolated(affiliate.email) }) : words('notices_off');
  return `<section class="card" id="notices"><h2>${escapeHtml(words('notices'))}</h2>
<p>${escapeHtml(text)}</p>
<form data-call="/portal/notices" data-then="/p/${code}#notices">
<input type="hidden" name="code" value="${code}"><input type="hidden" name="notices" value="${isOn ? 'off' : 'on'}">
<p class="problem" role="alert"></p>
<button class="plain">${escapeHtml(words(isOn ? 'turn_off' : 'turn_on'))}</button>
</form></section>`;
}
