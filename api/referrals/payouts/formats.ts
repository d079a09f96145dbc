import { badRequest } from '../../../core/errors.ts';
import { exponentOf, toMajor } from '../../../core/money/money.ts';
import { unitOf } from '../../../core/referrals/payout-formats.ts';
import type { PayoutFormat } from '../../../core/referrals/terms.ts';
import type { PayoutFile, PayoutLine } from '../../../sql/transactions/export-payouts.ts';

/** A kind of payout file. */
type Format = {
  /** Null: no limit. */
  maxLines: number | null;
  /** @throws {AppError} `bad_request` when the service would refuse the file */
  write(file: PayoutFile): string;
};

export const FORMATS: Record<PayoutFormat, Format> = {
  csv: { maxLines: null, write: ({ lines }) => payoutCsv(lines) },
  paypal: { maxLines: 5_000, write: payPalFile },
  wise: { maxLines: 1_000, write: wiseFile },
};

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

/** Returns our own payout file: one RFC 4180 line per referrer, sorted by method. Addresses are not masked. */
function payoutCsv(lines: readonly PayoutLine[]): string {
  const rows = lines.map((line) => [
    line.partnerId,
    line.programId,
    textCell(line.externalUserId),
    textCell(line.name ?? ''),
    textCell(line.email ?? ''),
    line.method,
    textCell(line.payoutEmail),
    amountOf(line),
    line.currency,
    String(line.commissions),
  ]);
  return csvOf([COLUMNS, ...rows]);
}

/**
 * Currencies of PayPal. It takes no decimals in some: those lines are rounded down.
 * Source: developer.paypal.com/api/rest/reference/currency-codes
 */
const PAYPAL_CURRENCIES = new Set(
  'aud brl cad cny czk dkk eur hkd huf ils jpy myr mxn twd nzd nok php pln gbp sgd sek chf thb usd'.split(
    ' ',
  ),
);

/**
 * Returns a file for PayPal's Payouts Web: no header, one row a payment, at most 5,000, one currency; recipient,
 * amount, currency, an id of at most 30 characters without spaces, a note of at most 400, and the wallet. Amounts have
 * a decimal point. PayPal asks accounts of some countries for a comma, and says so at the upload.
 * Sources: developer.paypal.com/payouts/use-payouts/send-money/use-web-ui, developer.paypal.com/payouts/web/overview
 * (July and September 2026)
 */
function payPalFile({ id, lines }: PayoutFile): string {
  const currency = oneCurrency(lines);
  if (currency !== null && !PAYPAL_CURRENCIES.has(currency)) {
    throw badRequest('format', `must not be paypal: PayPal does not pay ${currency}`);
  }
  return csvOf(
    lines.map((line) => [
      // Unchanged: an apostrophe before the address, as in our own file, would make it another one.
      line.payoutEmail,
      payPalAmount(line),
      line.currency.toUpperCase(),
      // The partner's UUID has 36 characters; without hyphens 32. Its last 30 are unique enough to find the line.
      line.partnerId.replaceAll('-', '').slice(-30),
      `Payout ${id}`,
      'PAYPAL',
    ]),
  );
}

function payPalAmount(line: PayoutLine): string {
  return unitOf('paypal', line.currency) === 1
    ? amountOf(line)
    : String(toMajor(line.amountMinor, line.currency));
}

const WISE_COLUMNS = [
  'name',
  'recipientEmail',
  'paymentReference',
  'receiverType',
  'amountCurrency',
  'amount',
  'sourceCurrency',
  'targetCurrency',
] as const;

/**
 * Returns a file for Wise's batch payments by email: the columns of its template, at most 1,000 rows, one source
 * currency. `target`: the recipient gets the exact amount, and fees are on top. Each line has a reference of its own,
 * by which a payment that comes back is found, of 9 characters: some banks take 10. Templates of bank accounts add
 * columns (`IBAN`), and the one of saved recipients has others.
 * Sources: wise.com/help/articles/2663302 (fields) and 2663296 (kinds of templates; CSV or XLSX),
 * wise.com/us/blog/everything-about-batch-payments (1,000 rows). The template itself needs an account: its columns and
 * `PERSON` are those of public programs that write it.
 */
function wiseFile({ lines }: PayoutFile): string {
  oneCurrency(lines);
  const rows = lines.map((line) => [
    // Unchanged: names that a spreadsheet could run as a formula are held back.
    (line.payoutName ?? '').trim().replace(LINE_BREAKS, ' '),
    line.payoutEmail,
    `P${line.partnerId.slice(-8)}`,
    'PERSON',
    'target',
    amountOf(line),
    line.currency.toUpperCase(),
    line.currency.toUpperCase(),
  ]);
  return csvOf([WISE_COLUMNS, ...rows]);
}

/** Returns the currency of all lines; null without lines. */
function oneCurrency(lines: readonly PayoutLine[]): string | null {
  const [currency = null, ...others] = new Set(lines.map((line) => line.currency));
  if (others.length > 0) {
    throw badRequest(
      'program_id',
      `is required in this format: it takes one currency, and the balances are in ${[currency, ...others].join(', ')}`,
    );
  }
  return currency;
}

const amountOf = ({ amountMinor, currency }: PayoutLine): string =>
  toMajor(amountMinor, currency).toFixed(exponentOf(currency));

const LINE_BREAKS = /[\r\n\u2028\u2029]+/g;

/** RFC 4180, in UTF-8 without a byte order mark. */
const csvOf = (rows: readonly (readonly string[])[]): string =>
  rows.map((row) => `${row.map(quoted).join(',')}\r\n`).join('');

/**
 * Escapes a cell: users choose their names, and a spreadsheet would run some as formulas. OWASP advises a leading
 * apostrophe ("CSV injection").
 */
function textCell(text: string): string {
  // Removes line breaks: a program that reads line by line would read the rest of such a cell as a row.
  const line = text.replace(LINE_BREAKS, ' ');
  return /^\s*[=+\-@\t]/.test(line) ? `'${line}` : line;
}

function quoted(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
