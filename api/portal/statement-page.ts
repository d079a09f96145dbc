import { toMajor } from '../../core/money/money.ts';
import { escapeHtml } from '../../core/text/html.ts';
import type { StatementLine } from '../../sql/portal/statement-lines.ts';
import { monthName } from './account-page.ts';
import { factList, type Writing } from './html.ts';
import type { OfPortal } from './portal-of.ts';
import { cardOf, statusWord, tableOf } from './tables.ts';

const MONTH = /^(20\d\d)-(0[1-9]|1[0-2])$/;

/** Returns the first instant of a month in UTC, and that of the next; null: the text is no month. */
export function spanOf(month: string): { from: Date; to: Date } | null {
  const [, year, number] = MONTH.exec(month) ?? [];
  if (year === undefined || number === undefined) return null;
  return {
    from: new Date(Date.UTC(Number(year), Number(number) - 1)),
    to: new Date(Date.UTC(Number(year), Number(number))),
  };
}

/** Most months that are listed. */
const MOST_MONTHS = 36;

/** Returns the months from the first to the present one, newest first. */
export function monthsSince(first: Date, now: Date): string[] {
  const months: string[] = [];
  for (let nth = 0; nth < MOST_MONTHS; nth += 1) {
    const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - nth));
    if (month.getTime() < Date.UTC(first.getUTCFullYear(), first.getUTCMonth())) break;
    months.push(month.toISOString().slice(0, 7));
  }
  return months;
}

/** The statement of a month, which prints well. */
export function statementMain(
  { program, workspace }: OfPortal,
  { name, email }: { name: string | null; email: string },
  { month, lines }: { month: string; lines: readonly StatementLine[] },
  writing: Writing,
): string {
  const { words, money, day } = writing;
  const title = words('statement_of', { month: monthName(month, writing) });
  const rows = lines.map(
    ({ created_at, kind, sale_minor, sale_currency, earnings_minor, currency, status }) => [
      day(created_at.toISOString()),
      kind === 'refund' ? words('refund') : sale_minor === null ? words('bonus') : words('purchase'),
      sale_minor === null || sale_currency === null
        ? ''
        : money(toMajor(sale_minor, sale_currency), sale_currency),
      money(toMajor(earnings_minor, currency), currency),
      statusWord(status, words),
    ],
  );
  const sums = Map.groupBy(lines, ({ currency }) => currency);
  const totals = [...sums].map(([currency, all]) =>
    money(
      toMajor(
        all.reduce((sum, { earnings_minor }) => sum + earnings_minor, 0),
        currency,
      ),
      currency,
    ),
  );
  const columns = [
    { name: words('date') },
    { name: words('commission') },
    { name: words('amount'), isFigure: true },
    { name: words('you_earn'), isFigure: true },
    { name: words('status') },
  ];
  const own = (text: string) => `<bdi>${escapeHtml(text)}</bdi>`;
  const facts: [string, string][] = [
    [words('affiliate'), own(name === null ? email : `${name}, ${email}`)],
    [words('program'), own(`${program.name}, ${workspace.name}`)],
    [words('total'), escapeHtml(totals.join(', ') || money(0, program.terms.currency))],
  ];
  return `<div class="account">
<p class="screen"><a href="/p/${escapeHtml(program.code)}">${escapeHtml(words('back'))}</a></p>
<div class="head"><h1>${escapeHtml(title)}</h1><button type="button" class="plain screen" data-print>${escapeHtml(words('print'))}</button></div>
${factList(facts)}
${cardOf(words('commissions'), rows.length === 0 ? '' : tableOf(title, columns, rows, [words('total'), '', '', totals.join(', '), '']), writing)}
</div>`;
}
