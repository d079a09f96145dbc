import type { Action } from '../history.ts';
import { isYen } from './money.ts';
import { evaluate } from './purchases.ts';
import { enroll } from './referrers.ts';
import { type Answer, ordersOf, type Signup, type State, sharesMailbox } from './state.ts';

/** Customers of the files signed up long ago: day of their signups. */
export const IMPORTED_DAY = -100;
/** Due day of a commission that is not due yet. */
export const IMPORTED_DUE_DAY = 40;

/** Imports a referrer, a customer of theirs, and a commission. Known users stay as they are. */
export function importFiles(state: State, action: Extract<Action, { type: 'import' }>): Answer {
  const { user, customer, program, amount, isDue } = action;
  if (!state.referrers.has(user)) enroll(state, { type: 'enroll', user, program, tier: 'free', times: 1 });
  const referrer = state.referrers.get(user);
  if (!referrer) throw new Error('the referrer must be enrolled');
  if (!state.signups.has(customer)) {
    const block =
      customer === user ? 'same_user' : sharesMailbox(state, referrer, customer) ? 'same_email' : null;
    const signup: Signup = {
      referrer,
      program: referrer.program,
      block,
      byServer: true,
      referrerByServer: true,
      held: false,
      day: IMPORTED_DAY,
      hasEmail: true,
    };
    state.signups.set(customer, signup);
    // Nothing is granted for the past, but orders that waited for the customer are evaluated.
    if (block === null) {
      for (const order of ordersOf(state, customer, 'waits')) {
        if (order.day >= IMPORTED_DAY - 3) evaluate(state, order);
      }
    }
  }
  if (isYen(referrer.program) !== isYen(program)) return { errors: 1 };
  state.commissions.push({
    owner: referrer,
    order: null,
    level: null,
    earned: amount,
    left: amount,
    takenBack: 0,
    corrected: 0,
    status: isDue ? 'eligible' : 'pending',
    eligibleDay: isDue ? 0 : IMPORTED_DUE_DAY,
    isInYen: isYen(program),
    reverses: null,
  });
  return { errors: 0 };
}
