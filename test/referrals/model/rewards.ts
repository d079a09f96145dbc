import { isYen } from './money.ts';
import {
  type Commission,
  type Grant,
  groupOf,
  type Order,
  type Reward,
  type State,
  termsOf,
} from './state.ts';

/**
 * Reverses what an order earned and should not have, and adds what is missing.
 *
 * @returns how many rewards were missing
 */
export function reconcile(
  state: State,
  order: Order,
  rewards: Reward[],
  { takesBack = true }: { takesBack?: boolean } = {},
): number {
  const missing = new Set(rewards);
  for (const grant of state.grants) {
    if (grant.cause !== 'purchase' || grant.of !== order.number || grant.corrected) continue;
    const due = rewards.find((reward) => reward.type === 'credit' && reward.owner === grant.referrer);
    if (due) missing.delete(due);
    else if (takesBack && grant.status === 'earned') correct(grant);
  }
  for (const commission of salesOf(state, order)) {
    const due = rewards.find(
      (reward) =>
        reward.type === 'commission' &&
        reward.owner === commission.owner &&
        reward.level === commission.level,
    );
    if (due) {
      missing.delete(due);
      giveBack(state, commission);
    } else if (takesBack && commission.status !== 'paid') takeBack(state, commission);
  }
  for (const reward of missing) add(state, order, reward);
  return missing.size;
}

/** The commissions of an order's sale that are not reversed. */
export const salesOf = ({ commissions }: State, order: Order): Commission[] =>
  commissions.filter(
    (one) => one.order === order.number && one.reverses === null && one.status !== 'reversed',
  );

function add(state: State, order: Order, reward: Reward): void {
  const program = state.signups.get(order.buyer)?.program ?? -1;
  const { owner, amount } = reward;
  if (reward.type === 'credit') {
    state.grants.push({
      holder: owner.user,
      amount,
      status: 'earned',
      cause: 'purchase',
      referrer: owner,
      of: order.number,
      program,
      corrected: false,
    });
    return;
  }
  const eligibleDay =
    order.day + (groupOf(state, owner, program)?.hold_days ?? termsOf(state, program).hold_days);
  state.commissions.push({
    owner,
    level: reward.level,
    order: order.number,
    earned: amount,
    left: amount,
    takenBack: 0,
    corrected: 0,
    status: eligibleDay <= 0 ? 'eligible' : 'pending',
    eligibleDay,
    isInYen: isYen(program),
    reverses: null,
  });
}

export function correct(grant: Grant): void {
  grant.status = 'revoked';
  grant.corrected = true;
}

export function takeBack(state: State, commission: Commission): void {
  if (commission.status === 'rejected') return;
  const rest = commission.earned - commission.takenBack;
  if (rest === 0) return;
  commission.takenBack = commission.earned;
  // A part of it may be reversed by other commissions, which its own amount does not show.
  if (mayHaveBeenPaid(state, commission) || rest < commission.left) {
    commission.corrected = rest;
    state.commissions.push(reversing(commission, -rest));
  } else {
    commission.left = 0;
    commission.status = 'reversed';
  }
}

function giveBack(state: State, commission: Commission): void {
  if (commission.status === 'rejected' || commission.corrected === 0) return;
  state.commissions.push(reversing(commission, commission.corrected));
  commission.takenBack -= commission.corrected;
  commission.corrected = 0;
}

/** A commission that reduces another one, for a refund or a correction. */
export const reversing = (commission: Commission, amount: number): Commission => ({
  ...commission,
  earned: amount,
  left: amount,
  takenBack: 0,
  corrected: 0,
  status: 'eligible',
  reverses: commission,
});

/** Whether it is in a payout file that was paid, or can still be. */
export const mayHaveBeenPaid = ({ exports }: State, commission: Commission) =>
  exports.some(({ lines, canceled }) =>
    lines.some(
      ({ items, status, paid }) =>
        items.includes(commission) &&
        ((status === 'paid' && paid?.length !== 0) || (status === 'open' && !canceled)),
    ),
  );
