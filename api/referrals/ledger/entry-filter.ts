import { reportWindow } from '../../../analytics/report-window.ts';
import { badRequest } from '../../../core/errors.ts';
import { isCurrency } from '../../../core/money/money.ts';
import { formatInstant } from '../../../core/time/timestamps.ts';
import type { Account } from '../../../sql/referrals/ledger.ts';
import type { EntryFilter } from '../../../sql/referrals/ledger-list.ts';
import { PLACE_OF } from './places.ts';
import type { EntryFilterQuery } from './schemas.ts';

/**
 * Parses the filter of ledger entries.
 *
 * @throws {AppError} `bad_request` for an unknown currency, for `currency` and `credit_kind` together, and for a
 *   window that ends before it begins
 */
export function readEntryFilter(query: EntryFilterQuery): EntryFilter {
  const { currency, credit_kind: creditKind } = query;
  if (currency !== undefined && !isCurrency(currency)) {
    throw badRequest('currency', 'must be an ISO 4217 code');
  }
  if (currency !== undefined && creditKind !== undefined) {
    throw badRequest(
      'credit_kind',
      'must not be combined with `currency`: credits have a kind, commissions a currency',
    );
  }
  return {
    programId: query.program_id ?? null,
    enrollmentId: query.partner_id ?? null,
    externalUserId: query.external_user_id ?? null,
    accounts: accountsOf(query),
    unit: currency?.toLowerCase() ?? creditKind ?? null,
    cause: query.cause ?? null,
    orderId: query.order_id ?? null,
    ...windowOf(query),
  };
}

function accountsOf({ kind, status, currency, credit_kind }: EntryFilterQuery): Account[] | null {
  const ofUnit = currency !== undefined ? 'commission' : credit_kind !== undefined ? 'credit' : undefined;
  if (kind === undefined && status === undefined && ofUnit === undefined) return null;
  return (Object.keys(PLACE_OF) as Account[]).filter((account) => {
    const place = PLACE_OF[account];
    return (
      [kind ?? place.kind, ofUnit ?? place.kind].every((wanted) => wanted === place.kind) &&
      (status ?? place.status) === place.status
    );
  });
}

/**
 * Parses the window in PostgreSQL's precision. Without parameters it is all time; `to` alone means everything before
 * it.
 */
function windowOf({ days, from, to }: EntryFilterQuery): { from: string | null; to: string | null } {
  if (days === undefined && from === undefined && to === undefined) return { from: null, to: null };
  const { span } = reportWindow({
    ...(days !== undefined && { days }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  });
  const isOpen = days === undefined && from === undefined;
  return { from: isOpen ? null : formatInstant(span.from, 6), to: formatInstant(span.to, 6) };
}
