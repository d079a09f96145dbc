import type { Action, Terms } from '../history.ts';
import { importFiles } from './imports.ts';
import { cancel, exportAll, fail, manual, pay, reject, retry } from './payouts.ts';
import { reevaluate, reportPurchase, setForeignRates } from './purchases.ts';
import { dissolve, enroll, erase, forget, join, move, setAddress } from './referrers.ts';
import { reportRefund } from './refunds.ts';
import { reportSignup, review } from './signups.ts';
import { type Answer, type Commission, type Grant, newState, type State } from './state.ts';

export type Balance = {
  pending: number;
  eligible: number;
  paid: number;
  creditEarned: number;
  creditDelivered: number;
};

/**
 * The referral program as its documents describe it, in the simplest form: no database, no concurrency, and no line
 * shared with the product.
 */
export function createModel(programs: readonly Terms[]) {
  const state = newState(programs);
  const { commissions, grants, referrers } = state;
  /** Users who were enrolled more than once. */
  const again = new Set<number>();
  return {
    /** How many grants exist. */
    grants: () => grants.length,
    /** Users whose one enrollment holds all that they earned. */
    enrolled: () => [...referrers.keys()].filter((user) => !again.has(user)),
    /** The foreseeable part of a call's response. */
    act(action: Action): Answer {
      if (action.type === 'erase' || action.type === 'forget') again.add(action.user);
      return act(state, action);
    },
    balance(user: number): Balance {
      const cash = (status: Commission['status']) =>
        commissions
          .filter((one) => one.owner.user === user && one.status === status)
          .reduce((sum, one) => sum + one.left, 0);
      const credit = (status: Grant['status']) =>
        grants
          .filter((one) => one.holder === user && one.status === status)
          .reduce((sum, one) => sum + one.amount, 0);
      return {
        pending: cash('pending'),
        eligible: cash('eligible'),
        paid: cash('paid'),
        creditEarned: credit('earned'),
        creditDelivered: credit('delivered'),
      };
    },
  };
}

export type Model = ReturnType<typeof createModel>;

function act(state: State, action: Action): Answer {
  const referrer = 'user' in action ? state.referrers.get(action.user) : undefined;
  switch (action.type) {
    case 'enroll':
      return enroll(state, action);
    case 'signup':
      return reportSignup(state, action);
    case 'purchase':
      return reportPurchase(state, action);
    case 'pixel':
      // Anyone can report it: no money depends on its content.
      return {};
    case 'refund':
      return reportRefund(state, action);
    case 'review':
      return review(state, action);
    case 'reevaluate':
      return reevaluate(state, action.order);
    case 'rates':
      setForeignRates(state);
      return {};
    case 'mode':
      if (!referrer) return { status: 404 };
      referrer.mode = action.mode;
      return { reward_mode: action.mode };
    case 'status':
      if (referrer) referrer.status = action.status;
      return {};
    case 'move':
      return move(state, action);
    case 'erase':
      return erase(state, action.user);
    case 'forget':
      forget(state, action.user);
      return {};
    case 'deliver':
      return changeGrant(state, action.nth, 'delivered');
    case 'revoke':
      return changeGrant(state, action.nth, 'revoked');
    case 'tick':
      for (const one of state.commissions) {
        if (one.status === 'pending' && one.eligibleDay <= action.day) one.status = 'eligible';
      }
      return {};
    case 'export':
      return exportAll(state, action);
    case 'pay':
      return pay(state, action);
    case 'fail':
      return fail(state, action);
    case 'retry':
      return retry(state, action);
    case 'cancel':
      return cancel(state, action.nth);
    case 'address':
      return setAddress(state, action);
    case 'manual':
      return manual(state, action);
    case 'reject':
      return reject(state, action);
    case 'own':
      if (!referrer) return { status: 404 };
      referrer.own = action.rate;
      return { status: 200 };
    case 'group':
      state.groups.set(action.group, action.terms);
      return { status: 200 };
    case 'join':
      return join(state, action);
    case 'dissolve':
      return dissolve(state, action.group);
    case 'import':
      return importFiles(state, action);
    case 'terms':
      state.programs[action.program] = action.terms;
      return {};
  }
}

/** A grant is delivered or revoked, once. */
function changeGrant({ grants }: State, nth: number, status: 'delivered' | 'revoked'): Answer {
  const grant = grants[nth % grants.length];
  if (!grant) return { status: 404 };
  if (grant.status !== 'earned' && grant.status !== status) return { status: 409 };
  grant.status = status;
  return { ok: true };
}
