import { type Action, GROUPS } from '../history.ts';
import { isYen } from './money.ts';
import { type Answer, paysCash, type State, termsOf } from './state.ts';

export function enroll(state: State, { user, program, tier }: Extract<Action, { type: 'enroll' }>): Answer {
  const known = state.referrers.get(user);
  if (known) known.tier = tier;
  else {
    state.referrers.set(user, {
      user,
      program,
      tier,
      mode: termsOf(state, program).credit_enabled ? 'referrer' : 'affiliate',
      status: 'approved',
      address: 'none',
      mailbox: 0,
      own: null,
      group: null,
      erased: false,
    });
  }
  return { program: known?.program ?? program };
}

export function setAddress(state: State, { user, byServer }: Extract<Action, { type: 'address' }>): Answer {
  const referrer = state.referrers.get(user);
  if (!referrer) return { status: 404 };
  if (!byServer && !paysCash(termsOf(state, referrer.program), referrer)) return { status: 403 };
  referrer.address = byServer ? 'confirmed' : 'unconfirmed';
  referrer.mailbox = byServer ? 0 : ++state.mailboxes;
  return { status: 200 };
}

/** Later signups belong to the other program. What the referrer has stays in the former one. */
export function move(state: State, { user, program }: Extract<Action, { type: 'move' }>): Answer {
  const referrer = state.referrers.get(user);
  if (!referrer) return { status: 404 };
  const isOther = (number: number) => isYen(number) !== isYen(program);
  const hasOther =
    state.commissions.some(({ owner, isInYen }) => owner === referrer && isInYen !== isYen(program)) ||
    [...state.signups.values()].some((signup) => signup.referrer === referrer && isOther(signup.program));
  if (program !== referrer.program && hasOther) return { status: 409 };
  if (program !== referrer.program) referrer.group = null;
  referrer.program = program;
  return { status: 200 };
}

/** Later sales, and payout files, have the terms of the group. */
export function join(state: State, { user, group }: Extract<Action, { type: 'join' }>): Answer {
  const referrer = state.referrers.get(user);
  if (!referrer || (group !== null && !state.groups.has(group))) return { status: 404 };
  if (group !== null && GROUPS[group] !== referrer.program) return { status: 400 };
  referrer.group = group;
  return { status: 200 };
}

export function dissolve(state: State, group: number): Answer {
  if (!state.groups.delete(group)) return { status: 404 };
  for (const referrer of state.referrers.values()) if (referrer.group === group) referrer.group = null;
  return { status: 200 };
}

export function erase(state: State, user: number): Answer {
  const referrer = state.referrers.get(user);
  if (!referrer) return { status: 404 };
  referrer.erased = true;
  referrer.status = 'suspended';
  state.referrers.delete(user);
  const signup = state.signups.get(user);
  if (signup) signup.hasEmail = false;
  return { status: 200 };
}

/** Erases a person by the address that the user enrolls, signs up and buys with. */
export function forget(state: State, user: number): void {
  erase(state, user);
  const signup = state.signups.get(user);
  if (signup) signup.hasEmail = false;
  for (const order of state.orders.values()) {
    if (order.buyer !== user || !order.hasEmail) continue;
    order.hasEmail = false;
    order.waits = false;
  }
}
