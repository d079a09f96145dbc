import type { Action } from '../history.ts';
import { roundHalfEven } from './money.ts';
import { mayHaveBeenPaid, reversing, salesOf } from './rewards.ts';
import { type Answer, type Order, type State, termsOf } from './state.ts';

const refunded = (refunds: Order['refunds']) => refunds.reduce((sum, { amount }) => sum + amount, 0);

export function reportRefund(state: State, action: Extract<Action, { type: 'refund' }>): Answer {
  const { refunds, early, orders } = state;
  const known = refunds.get(action.refund);
  if (known) {
    if (known.order !== action.order) return { status: 409 };
    return { matched: known.matched, ledger_rows: known.rows };
  }
  const waiting = early.get(action.refund);
  if (waiting && waiting.order !== action.order) return { status: 409 };
  const order = orders.get(action.order);
  if (!order) {
    if (!waiting) early.set(action.refund, { order: action.order, amount: action.amount });
    return { matched: false, ledger_rows: 0 };
  }
  const rest = Math.max(0, order.amount - refunded(order.refunds));
  const amount = action.amount ?? rest;
  if (amount > rest) return { status: 400 };
  order.refunds.push({ number: action.refund, amount });
  const rows = reverse(state, order, order.refunds.length);
  const matched = order.referred || rows > 0;
  refunds.set(action.refund, { order: action.order, matched, rows });
  return { matched, ledger_rows: rows };
}

/** An amount above the order's amount counts as that amount. */
export function adoptEarlyRefunds({ early, refunds }: State, order: Order): void {
  let rest = order.amount;
  for (const [refund, { order: of, amount }] of early) {
    if (of !== order.number) continue;
    early.delete(refund);
    if (refunds.has(refund)) continue;
    const taken = Math.min(amount ?? rest, rest);
    order.refunds.push({ number: refund, amount: taken });
    refunds.set(refund, { order: order.number, matched: false, rows: 0 });
    rest -= taken;
  }
}

/** Reverses the part of the order's new earnings that its refunds require. */
export function reverseAll(state: State, order: Order): void {
  for (const [index, { number: refund }] of order.refunds.entries()) {
    const rows = reverse(state, order, index + 1) + (state.refunds.get(refund)?.rows ?? 0);
    state.refunds.set(refund, { order: order.number, matched: true, rows });
  }
}

/** Reverses what the refunds up to this one require, less what is reversed. @returns how many rows it wrote */
function reverse(state: State, order: Order, upTo: number): number {
  const { amount } = order;
  const all = Math.min(amount, refunded(order.refunds.slice(0, upTo)));
  let rows = 0;
  for (const commission of salesOf(state, order)) {
    if (commission.status === 'rejected') continue;
    const due = roundHalfEven(BigInt(commission.earned) * BigInt(all), BigInt(amount));
    const part = due - commission.takenBack;
    // A correction for another referrer may have left nothing to reverse.
    if (part <= 0) continue;
    commission.takenBack = due;
    rows += 1;
    if (commission.status === 'paid' || mayHaveBeenPaid(state, commission)) {
      state.commissions.push(reversing(commission, -part));
    } else {
      commission.left -= part;
      if (commission.left === 0) commission.status = 'reversed';
    }
  }
  if (all < amount) return rows;
  for (const grant of state.grants) {
    if (grant.cause !== 'purchase' || grant.of !== order.number || grant.status !== 'earned') continue;
    if (!termsOf(state, grant.program).revoke_credits_on_refund) continue;
    grant.status = 'revoked';
    rows += 1;
  }
  return rows;
}
