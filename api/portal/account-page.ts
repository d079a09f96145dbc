import { escapeHtml } from '../../core/text/html.ts';
import type { AcceptedTerms } from '../../sql/portal/accepted-terms.ts';
import type { ListedAsset } from '../../sql/portal/assets.ts';
import type { HistoryEntry } from '../../sql/referrals/enrollment-history.ts';
import type { Program } from '../../sql/referrals/programs.ts';
import type { Stats } from '../referrals/schemas.ts';
import { assetsCard } from './assets-card.ts';
import { deepLinkForm } from './deep-link-form.ts';
import { copyRow, factList, isolated, type Writing } from './html.ts';
import { noticesCard } from './notices-card.ts';
import { payoutCard } from './payout-card.ts';
import type { OfPortal } from './portal-of.ts';
import type { Affiliate } from './session.ts';
import { cardOf, statusWord, tableOf } from './tables.ts';
import { acceptedTermsCard, dueTermsCard } from './terms-card.ts';
import { termsFacts } from './terms-facts.ts';

/** What the page of a signed-in affiliate shows. */
export type Account = {
  of: OfPortal;
  affiliate: Affiliate;
  stats: Stats;
  /** The program with the affiliate's own terms, or those of its group. */
  paying: Program;
  /** False: clicks can't be read at the moment. */
  hasClicks: boolean;
  /** Changes of the payout address, newest first, masked. */
  history: readonly HistoryEntry[];
  /** The terms that the affiliate has accepted, newest first. */
  accepted: readonly AcceptedTerms[];
  /** Months with a statement, newest first: `2026-11`. */
  months: readonly string[];
  assets: readonly ListedAsset[];
};

/** The page of a signed-in affiliate. */
export function accountMain(account: Account, writing: Writing): string {
  const { of, stats, hasClicks, months } = account;
  const { words, number } = writing;
  const { program } = of;
  const { clicks, signups, purchases } = stats.stats;
  const figures = factList([
    [words('clicks'), hasClicks ? number(clicks) : '–'],
    [words('signups'), number(signups)],
    [words('sales'), number(purchases)],
  ]);
  const note = hasClicks ? '' : `<p class="dim">${escapeHtml(words('no_clicks'))}</p>`;
  return `<div class="account">
${headOf(account, writing)}
${stats.status === 'suspended' ? `<p class="card warning">${escapeHtml(words('suspended'))}</p>` : ''}
${dueTermsCard(account, writing)}
${linkCard(account, writing)}
${stats.coupons.length > 0 ? cardOf(words('your_codes'), stats.coupons.map((code) => copyRow(code, writing)).join(''), writing) : ''}
${assetsCard(account.assets, of.program.code, writing)}
<div class="columns">
${cardOf(words('figures', { count: stats.window.days }), figures + note, writing)}
${cardOf(words('balance'), factList(balances(stats, writing)), writing)}
${cardOf(words('what_you_earn'), factList(termsFacts(account.paying, writing)), writing)}
${cardOf(words('statements'), months.map((month) => `<a class="month" href="/p/${escapeHtml(program.code)}/statements/${month}">${escapeHtml(monthName(month, writing))}</a>`).join(''), writing)}
</div>
${cardOf(words('commissions'), commissionTable(stats, writing), writing)}
${cardOf(words('payouts'), payoutTable(stats, writing), writing)}
${payoutCard(account, writing)}
${noticesCard(account, writing)}
${acceptedTermsCard(account, writing)}
${deleteCard(account, writing)}
</div>`;
}

/** Returns the name of a month, such as `November 2026`. @param month `2026-11` */
export const monthName = (month: string, { language }: Pick<Writing, 'language'>): string =>
  new Intl.DateTimeFormat(language, { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(
    new Date(`${month}-01T00:00:00Z`),
  );

function headOf({ of: { program }, affiliate }: Account, { words }: Writing): string {
  const others = affiliate.programs.filter(({ program_id }) => program_id !== program.id);
  const links = others.map(
    ({ code, name, workspace_name }) =>
      `<li><a href="/p/${escapeHtml(code)}"><bdi>${escapeHtml(name)}</bdi></a> <span class="dim"><bdi>${escapeHtml(workspace_name)}</bdi></span></li>`,
  );
  return `<div class="head">
<h1><bdi>${escapeHtml(program.name)}</bdi></h1>
<form class="line" data-call="/portal/sign-out" data-then="/p/${escapeHtml(program.code)}">
<span class="dim">${escapeHtml(words('signed_in_as', { email: isolated(affiliate.email) }))}</span>
<button class="plain">${escapeHtml(words('sign_out'))}</button>
</form>
</div>
${links.length > 0 ? `<nav aria-label="${escapeHtml(words('your_programs'))}"><h2>${escapeHtml(words('your_programs'))}</h2><ul>${links.join('')}</ul></nav>` : ''}`;
}

function linkCard(account: Account, writing: Writing): string {
  const {
    of: { program },
    stats,
  } = account;
  const { words } = writing;
  const qr = `/p/${escapeHtml(program.code)}/qr.svg`;
  return `<section class="card link-card"><div><h2>${escapeHtml(words('your_link'))}</h2>
${copyRow(stats.referral_link, writing, words('your_link'))}
<p class="below"><a href="${qr}" download="qr.svg">${escapeHtml(words('qr_code'))}: ${escapeHtml(words('download'))}</a></p>
${deepLinkForm(account, writing)}</div>
<img class="qr" src="${qr}" alt="${escapeHtml(words('qr_code'))}" width="132" height="132"></section>`;
}

function balances({ rewards, affiliate: { balance } }: Stats, { words, money, number }: Writing) {
  const { currency } = rewards.cash;
  const cash = (['pending', 'eligible', 'paid'] as const).map(
    (key) => [words(key), escapeHtml(money(balance[key], currency))] as const,
  );
  const credits = Object.entries(rewards.credits).flatMap(([kind, { earned, delivered }]) => [
    [`${words('earned')}: ${kind}`, number(earned)] as const,
    [`${words('delivered')}: ${kind}`, number(delivered)] as const,
  ]);
  return [...cash, ...credits];
}

function commissionTable({ affiliate, rewards }: Stats, { words, money, day }: Writing): string {
  const rows = affiliate.recent_commissions.map(
    ({ date, amount, currency, earnings, status, held_until: heldUntil }) => [
      day(date),
      money(amount, currency),
      money(earnings, rewards.cash.currency),
      [statusWord(status, words), heldUntil !== null && words('until', { time: day(heldUntil) })]
        .filter(Boolean)
        .join(' '),
    ],
  );
  if (rows.length === 0) return '';
  return tableOf(
    words('commissions'),
    [
      { name: words('date') },
      { name: words('purchase'), isFigure: true },
      { name: words('you_earn'), isFigure: true },
      { name: words('status') },
    ],
    rows,
  );
}

function payoutTable({ affiliate, rewards }: Stats, { words, money, day }: Writing): string {
  const rows = affiliate.payouts.map(({ date, amount }) => [day(date), money(amount, rewards.cash.currency)]);
  if (rows.length === 0) return '';
  return tableOf(
    words('payouts'),
    [{ name: words('date') }, { name: words('amount'), isFigure: true }],
    rows,
  );
}

function deleteCard({ of: { program }, affiliate }: Account, { words }: Writing): string {
  const form = `<form data-call="/portal/delete-account" data-then="/p/${escapeHtml(program.code)}">
<input type="hidden" name="code" value="${escapeHtml(program.code)}">
<label class="check"><input type="checkbox" required> <span>${escapeHtml(words('delete_confirm'))}</span></label>
<p class="problem" role="alert"></p>
<button class="danger">${escapeHtml(words('delete_account'))}</button>
</form>`;
  return `<details class="card"><summary>${escapeHtml(words('delete_account'))}</summary>
<p class="open-text">${escapeHtml(words('delete_text'))}</p>
${affiliate.is_fresh ? form : `<p class="dim">${escapeHtml(words('fresh_sign_in'))}</p>`}
</details>`;
}
