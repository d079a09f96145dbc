import { GROUPS, type GroupTerms, PERSONS, type Terms } from '../history.ts';

/** The state of the model. Money is whole cents or yen, credits are whole hundredths, days count from now. */

export type Answer = Record<string, unknown>;

export type Referrer = {
  user: number;
  program: number;
  tier: 'free' | 'paid';
  mode: 'referrer' | 'affiliate';
  status: 'approved' | 'suspended';
  address: 'none' | 'unconfirmed' | 'confirmed';
  /** Number of the address: 0 is the server's, and each address of a page has its own. */
  mailbox: number;
  /** Own percentage; null: the program's terms. */
  own: number | null;
  group: number | null;
  /** Erased: the user may enroll again, as another referrer. */
  erased: boolean;
};
export type Signup = {
  /** Null: a server said that there is none. */
  referrer: Referrer | null;
  program: number;
  block: string | null;
  byServer: boolean;
  referrerByServer: boolean;
  held: boolean;
  day: number;
  /** False once the user's address was erased. */
  hasEmail: boolean;
};
export type Referral = Signup & { referrer: Referrer };
export type Commission = {
  owner: Referrer;
  /** Null: manual. */
  order: number | null;
  level: number | null;
  earned: number;
  left: number;
  takenBack: number;
  /** The part of `takenBack` that a correction took by negative commissions. */
  corrected: number;
  status: 'pending' | 'eligible' | 'paid' | 'reversed' | 'rejected';
  eligibleDay: number;
  /** In yen instead of cents. */
  isInYen: boolean;
  /** The commission that this one reverses. */
  reverses: Commission | null;
};
export type Grant = {
  /** User who gets it. */
  holder: number;
  amount: number;
  status: 'earned' | 'delivered' | 'revoked';
  cause: 'signup' | 'referee' | 'purchase';
  referrer: Referrer;
  program: number;
  /** Revoked because its referrer was the wrong one. */
  corrected: boolean;
  /** The user who signed up, for grants of a signup; the order, for grants of a purchase. */
  of: number;
};
export type Order = {
  number: number;
  /** In order of the reports. */
  position: number;
  buyer: number;
  amount: number;
  commissionable: number;
  /** In a currency that has no rate at first. */
  isForeign: boolean;
  isRenewal: boolean;
  day: number;
  /** Whether its report had the buyer's address, and the address was not erased. */
  hasEmail: boolean;
  /** Whether a referrer is known, or under review. */
  referred: boolean;
  /** Whether a later signup of the buyer claims it. */
  waits: boolean;
  rewarded: boolean;
  withoutRate: boolean;
  answer: Answer;
  /** Refunds in order of arrival. */
  refunds: { number: number; amount: number }[];
};
export type Reward =
  | { type: 'credit'; owner: Referrer; amount: number }
  | { type: 'commission'; owner: Referrer; level: number; amount: number };
export type Line = {
  owner: Referrer;
  items: Commission[];
  paid: Commission[] | null;
  status: 'open' | 'paid' | 'failed';
  /** The referrer's address when the file was made. */
  mailbox: number;
  isRetried: boolean;
};
/** `isPaid`: it had nothing left to pay. */
export type Export = { lines: Line[]; canceled: boolean; isPaid: boolean };

export type State = {
  programs: Terms[];
  /** By number; a group that was not created, or was deleted, is in none. */
  groups: Map<number, GroupTerms>;
  /** By user; erased ones are in none. */
  referrers: Map<number, Referrer>;
  signups: Map<number, Signup>;
  orders: Map<number, Order>;
  refunds: Map<number, { order: number; matched: boolean; rows: number }>;
  /** Refunds of orders that no server has reported yet, in order of arrival. */
  early: Map<number, { order: number; amount: number | null }>;
  commissions: Commission[];
  grants: Grant[];
  exports: Export[];
  hasForeignRate: boolean;
  /** Addresses that pages have set so far. */
  mailboxes: number;
};

export const newState = (programs: readonly Terms[]): State => ({
  programs: [...programs],
  groups: new Map(),
  referrers: new Map(),
  signups: new Map(),
  orders: new Map(),
  refunds: new Map(),
  early: new Map(),
  commissions: [],
  grants: [],
  exports: [],
  hasForeignRate: false,
  mailboxes: 0,
});

export function termsOf({ programs }: State, program: number): Terms {
  const terms = programs[program];
  if (!terms) throw new Error(`unknown program ${program}`);
  return terms;
}

/** The terms of a referrer's group for sales and balances of a program, in which alone the group counts. */
export const groupOf = ({ groups }: State, referrer: Referrer, program: number): GroupTerms | undefined =>
  referrer.group !== null && GROUPS[referrer.group] === program ? groups.get(referrer.group) : undefined;

export const paysCash = (terms: Terms, referrer: Referrer) =>
  !terms.credit_enabled || referrer.mode === 'affiliate';

export const isReferral = (signup: Signup | undefined): signup is Referral =>
  signup !== undefined && signup.referrer !== null;
export const isPaying = (signup: Signup | undefined): signup is Referral =>
  isReferral(signup) && signup.block === null;

const isOnePerson = (a: number, b: number) => a % PERSONS === b % PERSONS;

/** Whether one of a referrer's addresses is known as that of this user. */
export function sharesMailbox({ signups }: State, referrer: Referrer, user: number): boolean {
  const hasEmail = !referrer.erased || signups.get(referrer.user)?.hasEmail === true;
  return hasEmail && isOnePerson(referrer.user, user);
}

/** Whether another user with this user's mailbox is a referee. */
export const isDuplicate = ({ signups }: State, user: number): boolean =>
  [...signups].some(
    ([other, signup]) => other !== user && signup.hasEmail && isOnePerson(other, user) && isPaying(signup),
  );

/** A buyer's purchases that have, or wait for, a referrer, oldest first. */
export const ordersOf = ({ orders }: State, buyer: number, which: 'referred' | 'waits'): Order[] =>
  [...orders.values()]
    .filter((order) => order.buyer === buyer && order[which])
    .sort((a, b) => a.day - b.day || a.position - b.position);

export const leftOf = (commissions: readonly Commission[]) =>
  commissions.reduce((sum, { left }) => sum + left, 0);
