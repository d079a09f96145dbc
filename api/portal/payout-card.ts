import { methodName } from '../../core/referrals/payout-method-names.ts';
import { escapeHtml } from '../../core/text/html.ts';
import type { Account } from './account-page.ts';
import { inputField, isolated, type Writing } from './html.ts';
import { linkSent } from './sign-in-page.ts';
import { tableOf } from './tables.ts';

/** Where the affiliate is paid, how it was changed, and the form that changes it. */
export function payoutCard({ of, affiliate, stats, history }: Account, writing: Writing): string {
  const { words, day, language } = writing;
  const { payout_methods: methods, payout_method: saved, payout_held_until: heldUntil } = stats.affiliate;
  // A program with credits pays cash in affiliate mode alone.
  if (methods.length === 0 || (stats.affiliate.credit_enabled && stats.reward_mode !== 'affiliate'))
    return '';
  const now =
    saved === null
      ? words('no_payout_address')
      : words('paid_to', { method: methodName(saved.method), email: isolated(saved.email) });
  const held =
    heldUntil === null
      ? ''
      : `<p class="warning">${escapeHtml(words('held_until', { time: day(heldUntil) }))}</p>`;
  const code = escapeHtml(of.program.code);
  const options = methods.map(
    (method) =>
      `<option value="${method}"${saved?.method === method ? ' selected' : ''}>${methodName(method)}</option>`,
  );
  const form = `<form data-call="/portal/payout-method" data-then="/p/${code}#payout">
<input type="hidden" name="code" value="${code}">
<label class="field"><span>${escapeHtml(words('method'))}</span><select name="method">${options.join('')}</select></label>
${inputField({ label: words('payout_email'), name: 'email', type: 'email', maxLength: 254, required: true })}
<p class="problem" role="alert"></p>
<button>${escapeHtml(words('save'))}</button>
</form>`;
  const again = `<p class="dim">${escapeHtml(words('fresh_sign_in'))}</p>
<form data-call="/portal/sign-in" data-done="link-sent">
<input type="hidden" name="code" value="${code}"><input type="hidden" name="language" value="${language}">
<input type="hidden" name="email" value="${escapeHtml(affiliate.email)}">
<p class="problem" role="alert"></p>
<button class="plain">${escapeHtml(words('send_link'))}</button>
</form>
${linkSent(words)}`;
  const changes = history.map(({ at, to }) => [day(at.toISOString()), to ?? '–']);
  const table =
    changes.length === 0
      ? ''
      : `<h3>${escapeHtml(words('changes'))}</h3>${tableOf(words('changes'), [{ name: words('date') }, { name: words('payout_address') }], changes)}`;
  return `<section class="card" id="payout"><h2>${escapeHtml(words('payout_address'))}</h2>
<p>${escapeHtml(now)}</p>
${held}
${affiliate.is_fresh ? form : again}
${table}</section>`;
}
