import { exponentOf, toMajor } from '../../../core/money/money.ts';
import type { PayoutLine } from '../../../sql/transactions/pay-out.ts';

const COLUMNS = [
  'partner_id',
  'program_id',
  'external_user_id',
  'name',
  'email',
  'method',
  'payout_email',
  'amount',
  'currency',
  'commissions',
] as const;

/** Returns a payout file: one RFC 4180 line per referrer, sorted by method. Addresses are not masked. */
export function payoutCsv(lines: readonly PayoutLine[]): string {
  const rows = lines.map((line) => [
    line.partnerId,
    line.programId,
    textCell(line.externalUserId),
    textCell(line.name ?? ''),
    textCell(line.email ?? ''),
    line.method ?? '',
    textCell(line.payoutEmail ?? ''),
    toMajor(line.amountMinor, line.currency).toFixed(exponentOf(line.currency)),
    line.currency,
    String(line.commissions),
  ]);
  return [COLUMNS, ...rows].map((row) => `${row.map(quoted).join(',')}\r\n`).join('');
}

/**
 * Escapes a cell: users choose their names, and a spreadsheet would run some as formulas. OWASP advises a leading
 * apostrophe ("CSV injection").
 */
function textCell(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}

function quoted(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
