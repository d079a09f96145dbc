import type { Action } from '../history.ts';
import { evaluate } from './purchases.ts';
import { correct, reconcile } from './rewards.ts';
import {
  type Answer,
  type Grant,
  isDuplicate,
  isPaying,
  isReferral,
  ordersOf,
  type Referrer,
  type Signup,
  type State,
  sharesMailbox,
  termsOf,
} from './state.ts';

/** A purchase counts up to this many days before its signup. */
const DAYS_BEFORE_SIGNUP = 3;

function standing(signup: Signup | undefined): Answer {
  if (!signup || signup.referrer === null) return { matched: false };
  const { block } = signup;
  const answer: Answer = { matched: true, blocked: block !== null, block_reason: block };
  return signup.held ? { ...answer, status: 'held' } : answer;
}

export function reportSignup(state: State, action: Extract<Action, { type: 'signup' }>): Answer {
  const answer = record(state, action);
  const now = state.signups.get(action.user);
  // Later calls treat the signup as reported long before, unless it counts for the day.
  if (now && (!isReferral(now) || termsOf(state, now.program).max_signups_per_day === null)) now.day = -100;
  return answer;
}

function record(state: State, action: Extract<Action, { type: 'signup' }>): Answer {
  const { user, referrer: given, byServer } = action;
  const { signups, referrers } = state;
  const known = signups.get(user);
  const named = typeof given === 'number' ? referrers.get(given) : undefined;
  if (!byServer && (known || !named)) return standing(known);
  if (isReferral(known) && known.referrerByServer) return standing(known);
  if (named) {
    if (!byServer && termsOf(state, named.program).signups_from === 'server') return { status: 403 };
    refer(state, user, named, { byServer, namesReferrer: byServer });
  } else if (given === undefined && isReferral(known)) {
    refer(state, user, known.referrer, { byServer, namesReferrer: false });
  } else {
    referNobody(state, user, given !== undefined);
  }
  return standing(signups.get(user));
}

function referNobody(state: State, user: number, isSaid: boolean): void {
  const known = state.signups.get(user);
  for (const grant of state.grants) {
    if (grant.cause !== 'purchase' && grant.of === user && grant.status === 'earned') correct(grant);
  }
  for (const order of ordersOf(state, user, 'referred')) {
    reconcile(state, order, []);
    order.referred = false;
    order.waits = true;
    order.rewarded = false;
    order.withoutRate = false;
    order.answer = { matched: false, rewarded: false, ledger_rows: 0 };
  }
  state.signups.set(user, {
    referrer: null,
    program: -1,
    block: null,
    byServer: true,
    referrerByServer: isSaid || (known?.referrerByServer ?? false),
    held: false,
    day: known?.day ?? 0,
    hasEmail: true,
  });
}

function refer(
  state: State,
  user: number,
  referrer: Referrer,
  by: { byServer: boolean; namesReferrer: boolean },
): void {
  const known = state.signups.get(user);
  const block = blockOf(state, user, referrer);
  const flags = {
    byServer: by.byServer || (known?.byServer ?? false),
    referrerByServer: by.namesReferrer || (known?.referrerByServer ?? false),
    hasEmail: true,
  };
  const isFound = block !== null && block !== 'suspended' && block !== 'cap';
  if (known?.referrer === referrer && (!isFound || known.block !== null)) {
    Object.assign(known, flags);
    return;
  }
  const { review } = termsOf(state, referrer.program);
  state.signups.set(user, {
    referrer,
    program: referrer.program,
    block,
    ...flags,
    held: block === null && review !== 'none',
    day: known?.day ?? 0,
  });
  settle(state, user);
}

function blockOf(state: State, user: number, referrer: Referrer): string | null {
  if (user === referrer.user) return 'same_user';
  if (sharesMailbox(state, referrer, user)) return 'same_email';
  if (isDuplicate(state, user)) return 'duplicate_referee';
  const seen = new Set<number>();
  for (let above = state.signups.get(referrer.user); isPaying(above) && !seen.has(above.referrer.user); ) {
    if (above.referrer.user === user) return 'mutual_referral';
    seen.add(above.referrer.user);
    above = state.signups.get(above.referrer.user);
  }
  if (referrer.status === 'suspended') return 'suspended';
  const { max_signups_per_day: most } = termsOf(state, referrer.program);
  const today = [...state.signups].filter(
    ([other, signup]) =>
      other !== user && signup.referrer === referrer && isPaying(signup) && signup.day === 0,
  );
  return most !== null && today.length >= most ? 'cap' : null;
}

/** Applies the effects of a referral that was just decided. */
function settle(state: State, user: number): void {
  const referral = state.signups.get(user);
  if (!isReferral(referral)) throw new Error('a referral must have a referrer');
  const { referrer } = referral;
  const terms = termsOf(state, referral.program);
  const credit = referrer.mode === 'affiliate' ? 0 : Math.round(terms.signup_credit[referrer.tier] * 100);
  const due: { cause: Grant['cause']; holder: number; amount: number }[] = [];
  if (!referral.held && referral.block === null && terms.credit_enabled) {
    if (terms.status === 'active' && referrer.mode === 'referrer') {
      due.push({ cause: 'signup', holder: referrer.user, amount: credit });
      due.push({ cause: 'referee', holder: user, amount: Math.round(terms.referee_credit * 100) });
    }
  }
  const given = new Set<string>();
  for (const grant of state.grants) {
    if (grant.cause === 'purchase' || grant.of !== user || grant.status === 'revoked') continue;
    const stays =
      grant.referrer === referrer && due.some(({ cause, amount }) => cause === grant.cause && amount > 0);
    if (stays || (grant.cause === 'referee' && grant.status === 'delivered')) given.add(grant.cause);
    else if (grant.status === 'earned') correct(grant);
  }
  const common = { referrer, of: user, program: referral.program, corrected: false };
  if (terms.credit_enabled && referral.block !== null) {
    state.grants.push({
      ...common,
      holder: referrer.user,
      amount: credit,
      status: 'revoked',
      cause: 'signup',
    });
  }
  for (const grant of due) {
    if (grant.amount > 0 && !given.has(grant.cause)) {
      state.grants.push({ ...common, ...grant, status: 'earned' });
    }
  }
  const again = ordersOf(state, user, 'referred');
  for (const order of again) order.rewarded = false;
  for (const order of again) evaluate(state, order);
  for (const order of ordersOf(state, user, 'waits')) {
    if (order.day >= referral.day - DAYS_BEFORE_SIGNUP) evaluate(state, order);
  }
}

export function review(state: State, { nth, decision }: Extract<Action, { type: 'review' }>): Answer {
  const users = [...state.signups.keys()].sort((a, b) => a - b);
  const user = users[nth % users.length];
  const signup = user === undefined ? undefined : state.signups.get(user);
  if (user === undefined || !signup) return { status: 404 };
  if (!isReferral(signup) || !signup.held) return { status: 409 };
  const isSuspended = signup.referrer.status === 'suspended';
  signup.held = false;
  signup.block = decision === 'reject' ? 'rejected' : isSuspended ? 'suspended' : null;
  settle(state, user);
  return { status: 'matched', block_reason: signup.block };
}
