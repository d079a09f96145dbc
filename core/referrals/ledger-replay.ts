import { reversedAmount } from './refund.ts';
import type { CommissionStatus } from './terms.ts';

/** An entry as the replay reads it. */
export type ReplayedEntry = {
  id: number;
  external_user_id: string;
  account: string;
  unit: string;
  amount: number;
  cause: string;
};

/** A commission with the amounts that determine its remainder. Minor units. */
export type ReplayedCommission = {
  id: string;
  external_user_id: string;
  kind: string;
  status: CommissionStatus;
  currency: string;
  amount_minor: number;
  /** The amount of the sale, and what was refunded of it; null: no sale. */
  sold_minor: number | null;
  refunded_minor: number;
  /** The amount that commissions of refunds reverse of this one. */
  refunded_elsewhere_minor: number;
  /** The amount that commissions of corrections reverse of this one, less what they gave back. */
  corrected_elsewhere_minor: number;
  /** What its sale earns more, or less, since the amount of the order changed. */
  changed_elsewhere_minor: number;
};

export type ReplayedGrant = {
  id: number;
  external_user_id: string;
  cause: string;
  status: 'earned' | 'delivered' | 'revoked';
  credit_kind: string;
  amount: number;
  /** Blocked: it was revoked from the start and never had an entry. */
  never_earned: boolean;
};

/** The balance of a reward by its records, and the reasons why its entries differ. */
export type Replayed = { account: string | null; expected: number; problems: string[] };

/** Entries of these causes move an amount between accounts. */
const MOVES = ['hold_over', 'payout', 'payout_failed', 'delivery'];

/** Plays the entries of a commission, in their order, and compares them with its record. */
export function replayCommission(
  commission: ReplayedCommission,
  entries: readonly ReplayedEntry[],
): Replayed {
  const { status, currency, kind } = commission;
  const isOver = status === 'reversed' || status === 'rejected';
  const account = isOver ? null : `cash_${status}`;
  const opening = {
    cause: kind,
    account: ['cash_pending', 'cash_eligible'],
    amount: commission.amount_minor,
  };
  const problems = problemsOf(entries, { ...commission, unit: currency, opening });
  const takenBy = (cause: string) =>
    -sumOf(entries.filter((entry, index) => index > 0 && entry.cause === cause));
  let expected = commission.amount_minor - takenBy('refund');
  if (kind === 'sale' && status !== 'rejected') {
    const { refunded_elsewhere_minor: refunded, corrected_elsewhere_minor: corrected } = commission;
    // A corrected commission may go below zero: it gives back what refunds took of a paid one.
    const isCorrected = corrected > 0 || entries.some(({ cause }) => cause === 'correction');
    // A correction takes all that earlier refunds left, so later refunds reverse nothing.
    const due = isCorrected ? saleDue(commission) : refundsDue(commission);
    const taken = takenBy('refund') + takenBy('correction') + refunded + corrected;
    expected = commission.amount_minor - (due - refunded - corrected);
    if (taken !== due) {
      const cause = isCorrected ? 'a correction and refunds reverse' : 'refunds reverse';
      problems.push(`${cause} ${taken}, expected ${due}`);
    }
  }
  return {
    account,
    expected: isOver ? 0 : expected,
    problems: [...problems, ...placed(entries, account, expected, isOver)],
  };
}

/** Returns what the sale of a commission earns before refunds. */
const saleDue = ({ amount_minor, changed_elsewhere_minor }: ReplayedCommission): number =>
  amount_minor + changed_elsewhere_minor;

/** Returns the amount of a commission that the refunds of its order reverse. */
function refundsDue(commission: ReplayedCommission): number {
  const { sold_minor, refunded_minor } = commission;
  if (sold_minor === null || refunded_minor === 0) return 0;
  return reversedAmount(saleDue(commission), sold_minor, Math.min(refunded_minor, sold_minor), 0);
}

/** Plays the entries of a credit grant, in their order, and compares them with its record. */
export function replayGrant(grant: ReplayedGrant, entries: readonly ReplayedEntry[]): Replayed {
  const isOver = grant.status === 'revoked';
  const account = isOver ? null : `credit_${grant.status}`;
  const opening = { cause: grant.cause, account: ['credit_earned'], amount: grant.amount };
  const problems =
    grant.never_earned && entries.length === 0
      ? []
      : problemsOf(entries, { ...grant, unit: grant.credit_kind, opening });
  const expected = isOver ? 0 : grant.amount;
  return { account, expected, problems: [...problems, ...placed(entries, account, expected, isOver)] };
}

function problemsOf(
  entries: readonly ReplayedEntry[],
  record: {
    external_user_id: string;
    unit: string;
    opening: { cause: string; account: string[]; amount: number };
  },
): string[] {
  const problems: string[] = [];
  const { opening } = record;
  const [first, ...rest] = entries;
  if (!first) return ['has no entry'];
  if (
    first.cause !== opening.cause ||
    !opening.account.includes(first.account) ||
    first.amount !== opening.amount
  ) {
    problems.push(
      `entry ${first.id} opens it with ${first.amount} (${first.cause}, ${first.account}), expected ${opening.amount} (${opening.cause})`,
    );
  }
  for (const entry of rest) {
    if (entry.cause === opening.cause && opening.cause !== 'refund') {
      problems.push(`entry ${entry.id} opens it again with ${entry.amount}`);
    }
  }
  for (const entry of entries) {
    if (entry.external_user_id !== record.external_user_id) {
      problems.push(
        `entry ${entry.id} belongs to ${entry.external_user_id}, expected ${record.external_user_id}`,
      );
    }
    if (entry.unit !== record.unit)
      problems.push(`entry ${entry.id} is in ${entry.unit}, expected ${record.unit}`);
  }
  for (const cause of MOVES) {
    const moved = sumOf(entries.filter((entry) => entry.cause === cause));
    if (moved !== 0) problems.push(`entries of ${cause} sum to ${moved}, expected 0`);
  }
  return problems;
}

/** Returns a problem for each account whose balance contradicts the status. */
function placed(
  entries: readonly ReplayedEntry[],
  account: string | null,
  expected: number,
  isOver: boolean,
): string[] {
  const wanted = isOver ? 0 : expected;
  const byAccount = new Map<string, number>(account === null ? [] : [[account, 0]]);
  for (const entry of entries)
    byAccount.set(entry.account, (byAccount.get(entry.account) ?? 0) + entry.amount);
  return [...byAccount].flatMap(([name, found]) => {
    const right = name === account ? wanted : 0;
    return found === right ? [] : [`${name} has ${found}, expected ${right}`];
  });
}

const sumOf = (entries: readonly ReplayedEntry[]): number =>
  entries.reduce((sum, { amount }) => sum + amount, 0);
