import type { Action, Terms } from '../history.ts';
import { commissionOf, isYen } from './money.ts';
import { adoptEarlyRefunds, reverseAll } from './refunds.ts';
import { reconcile } from './rewards.ts';
import {
  type Answer,
  groupOf,
  isPaying,
  isReferral,
  type Order,
  paysCash,
  type Referral,
  type Referrer,
  type Reward,
  type State,
  sharesMailbox,
  termsOf,
} from './state.ts';

/** A purchase counts up to this many days before its signup. */
const DAYS_BEFORE_SIGNUP = 3;

export function reportPurchase(state: State, action: Extract<Action, { type: 'purchase' }>): Answer {
  const known = state.orders.get(action.order);
  if (known) return known.buyer === action.user ? known.answer : { status: 409 };
  const { user: buyer, amount } = action;
  const order: Order = {
    number: action.order,
    position: state.orders.size,
    buyer,
    amount,
    commissionable: action.commissionable ?? amount,
    isForeign: action.isForeign,
    isRenewal: action.isRenewal,
    day: action.day,
    hasEmail: action.withEmail,
    referred: false,
    waits: true,
    rewarded: false,
    withoutRate: false,
    answer: { matched: false, rewarded: false, ledger_rows: 0 },
    refunds: [],
  };
  state.orders.set(action.order, order);
  adoptEarlyRefunds(state, order);
  if (isReferral(state.signups.get(buyer))) evaluate(state, order);
  return order.answer;
}

/** Decides what a referred purchase earns now. */
export function evaluate(state: State, order: Order): void {
  const referral = state.signups.get(order.buyer);
  if (!isReferral(referral)) throw new Error('the buyer must be referred');
  order.referred = true;
  order.waits = false;
  if (referral.held) {
    reconcile(state, order, []);
    order.rewarded = false;
    order.withoutRate = false;
    order.answer = { matched: true, rewarded: false, ledger_rows: 0, status: 'held' };
    return;
  }
  const { rewards, reason, withoutRate } = reward(state, order, referral);
  reconcile(state, order, rewards);
  order.rewarded = rewards.length > 0;
  order.withoutRate = withoutRate;
  order.answer = { matched: true, rewarded: order.rewarded, ledger_rows: rewards.length };
  if (reason) order.answer.reason = reason;
  reverseAll(state, order);
}

export function reevaluate(state: State, number: number): Answer {
  const order = state.orders.get(number);
  if (!order) return { status: 404 };
  const referral = state.signups.get(order.buyer);
  if (!isReferral(referral)) return order.answer;
  if (!order.rewarded) evaluate(state, order);
  else if (order.withoutRate && !referral.held) addMissing(state, order, referral);
  return order.answer;
}

/** A rewarded purchase keeps what it earned; a commission that lacked a rate is added. */
function addMissing(state: State, order: Order, referral: Referral): void {
  const { rewards, withoutRate } = reward(state, order, referral);
  if (rewards.length === 0) return;
  const added = reconcile(state, order, rewards, { takesBack: false });
  order.withoutRate = withoutRate;
  order.answer = { ...order.answer, ledger_rows: Number(order.answer.ledger_rows) + added };
  reverseAll(state, order);
}

/**
 * Sets the rates of the foreign currency, and evaluates the purchases that lacked one: first in dollars, then in yen.
 */
export function setForeignRates(state: State): void {
  state.hasForeignRate = true;
  for (const yen of [false, true]) {
    for (const order of [...state.orders.values()].sort((a, b) => a.position - b.position)) {
      const program = state.signups.get(order.buyer)?.program ?? -1;
      if (order.withoutRate && isYen(program) === yen) reevaluate(state, order.number);
    }
  }
}

type Outcome = { rewards: Reward[]; reason: string | null; withoutRate: boolean };

function reward(state: State, order: Order, referral: Referral): Outcome {
  const no = (reason: string): Outcome => ({ rewards: [], reason, withoutRate: false });
  const terms = termsOf(state, referral.program);
  const first = referral.referrer;
  if (referral.block === 'suspended' || first.status === 'suspended') return no('suspended');
  if (referral.block !== null)
    return no(referral.block.startsWith('same') ? 'self_referral' : referral.block);
  if (isBuyer(state, first, order)) return no('self_referral');
  if (order.day < referral.day - DAYS_BEFORE_SIGNUP) return no('before_signup');
  if (terms.status === 'paused') return no('program_paused');
  const before = [...state.orders.values()].filter(
    (other) => other !== order && other.buyer === order.buyer && other.referred && other.rewarded,
  );
  if (terms.first_sale_only && order.isRenewal) return no('renewal_not_covered');
  if (terms.first_sale_only && before.length > 0) return no('not_first_sale');
  const firstDay = Math.min(...before.map((other) => other.day));
  // Days of purchases are twenty apart, so a month is over after forty days and not after twenty.
  const covered = terms.commission_months === null || order.day - firstDay < 30 || before.length === 0;
  const rewards: Reward[] = [];
  const credit = paysCash(terms, first) ? 0 : Math.round(terms.purchase_credit * 100);
  if (credit > 0 && order.amount > 0) rewards.push({ type: 'credit', owner: first, amount: credit });
  const levels = covered ? levelsOf(state, order, referral) : [];
  const withoutRate = levels === null;
  const paid = (levels ?? []).filter(({ amount }) => amount > 0);
  rewards.push(...paid);
  if (rewards.length > 0) return { rewards, reason: null, withoutRate };
  if (withoutRate) return { rewards, reason: 'no_currency_rate', withoutRate };
  if (paysCash(terms, first) && !covered) return no('renewal_not_covered');
  return no(credit > 0 || (levels ?? []).length > 0 ? 'amount_too_small' : 'no_reward_configured');
}

/** Whether the buyer is this referrer, as far as addresses that were not erased tell. */
function isBuyer(state: State, referrer: Referrer, order: Order): boolean {
  if (referrer.user === order.buyer) return true;
  const hasEmail = order.hasEmail || state.signups.get(order.buyer)?.hasEmail === true;
  return hasEmail && sharesMailbox(state, referrer, order.buyer);
}

/** The due reward of each level, even if it rounds to nothing; null when a rate is missing. */
function levelsOf(state: State, order: Order, referral: Referral): Reward[] | null {
  const terms = termsOf(state, referral.program);
  const rewards: Reward[] = [];
  const seen = new Set<Referrer>();
  let earner: Referrer | null = referral.referrer;
  for (const [index, programRate] of [terms.commission_rate, ...terms.levels].entries()) {
    if (earner === null || seen.has(earner)) break;
    seen.add(earner);
    const own = index === 0 ? earner.own : null;
    const group = index === 0 ? groupOf(state, earner, referral.program) : undefined;
    const rate = own ?? group?.commission_rate ?? programRate;
    const type = own === null ? (group?.commission_type ?? terms.commission_type) : 'percent';
    const paid: Terms = { ...terms, commission_type: type };
    const isPaid = earner.status === 'approved' && paysCash(terms, earner) && !isBuyer(state, earner, order);
    if (rate > 0 && isPaid) {
      const { commissionable: cents, isForeign } = order;
      const { program } = referral;
      if (cents > 0 && paid.commission_type === 'percent' && isForeign && !state.hasForeignRate) return null;
      const amount = cents === 0 ? 0 : commissionOf(paid, { rate, cents, program, isForeign });
      rewards.push({ type: 'commission', owner: earner, level: index + 1, amount });
    }
    const above = state.signups.get(earner.user);
    earner = isPaying(above) && !above.held && above.program === referral.program ? above.referrer : null;
  }
  return rewards;
}
