import { type Action, PERSONS, type Terms } from './history.ts';

/**
 * The referral program as its documents describe it, in the simplest form: no database, no concurrency, and no line
 * shared with the product. Money is whole cents or yen, credits are whole hundredths.
 */

export type Answer = Record<string, unknown>;
export type Balance = {
  pending: number;
  eligible: number;
  paid: number;
  creditEarned: number;
  creditDelivered: number;
};

type Referrer = {
  program: number;
  tier: 'free' | 'paid';
  mode: 'referrer' | 'affiliate';
  status: 'approved' | 'suspended';
  address: 'none' | 'unconfirmed' | 'confirmed';
  /** Own percentage; null: the program's terms. */
  own: number | null;
};
type Signup = {
  /** Null: a server said that there is none. */
  referrer: number | null;
  program: number;
  block: string | null;
  byServer: boolean;
  referrerByServer: boolean;
  held: boolean;
  /** Days from now. */
  day: number;
};
type Referral = Signup & { referrer: number };
type Commission = {
  owner: number;
  /** Null: a negative or a manual one. */
  level: number | null;
  order: number | null;
  earned: number;
  left: number;
  takenBack: number;
  /** The part of `takenBack` that a correction took by negative commissions. */
  corrected: number;
  status: 'pending' | 'eligible' | 'paid' | 'reversed' | 'rejected';
  eligibleDay: number;
  /** The commission that this one reverses. */
  reverses: Commission | null;
};
type Grant = {
  holder: number;
  amount: number;
  status: 'earned' | 'delivered' | 'revoked';
  cause: 'signup' | 'referee' | 'purchase';
  referrer: number;
  program: number;
  /** Revoked because its referrer was the wrong one. */
  corrected: boolean;
  /** Of a signup's grants the user who signed up; of a purchase's the order. */
  of: number;
};
type Order = {
  /** In order of the reports. */
  number: number;
  buyer: number;
  amount: number;
  commissionable: number;
  isRenewal: boolean;
  day: number;
  /** Whether a referrer is known, or under review. */
  referred: boolean;
  rewarded: boolean;
  answer: Answer;
  /** Refunds in order of arrival. */
  refunds: { number: number; amount: number }[];
};
type Reward =
  | { type: 'credit'; owner: number; amount: number }
  | { type: 'commission'; owner: number; level: number; amount: number };
/** A purchase counts up to this many days before its signup. */
const DAYS_BEFORE_SIGNUP = 3;
type Line = {
  owner: number;
  items: Commission[];
  paid: Commission[] | null;
  status: 'open' | 'paid' | 'failed';
};
type Export = { lines: Line[]; canceled: boolean };

const isOnePerson = (a: number, b: number) => a % PERSONS === b % PERSONS;
/** One dollar in yen times a hundred, as in the operator's rate table. */
export const YEN_PER_100_USD = 14_925n;

export function createModel(initial: Terms[]) {
  const programs = [...initial];
  const referrers = new Map<number, Referrer>();
  const signups = new Map<number, Signup>();
  const orders = new Map<number, Order>();
  const refunds = new Map<number, { order: number; matched: boolean; rows: number }>();
  /** Refunds of orders that no server has reported yet, in order of arrival. */
  const early = new Map<number, { order: number; amount: number | null }>();
  const commissions: Commission[] = [];
  const grants: Grant[] = [];
  const exports: Export[] = [];

  const termsOf = (program: number): Terms => {
    const terms = programs[program];
    if (!terms) throw new Error(`unknown program ${program}`);
    return terms;
  };
  const paysCash = (referrer: Referrer) =>
    !termsOf(referrer.program).credit_enabled || referrer.mode === 'affiliate';

  const standing = (signup: Signup | undefined): Answer => {
    if (!signup || signup.referrer === null) return { matched: false };
    const { block } = signup;
    const answer: Answer = { matched: true, blocked: block !== null, block_reason: block };
    return signup.held ? { ...answer, status: 'held' } : answer;
  };
  const isReferral = (signup: Signup | undefined): signup is Referral =>
    signup !== undefined && signup.referrer !== null;
  const isPaying = (signup: Signup | undefined): signup is Referral =>
    isReferral(signup) && signup.block === null;

  function signup({ user, referrer: named, byServer }: Extract<Action, { type: 'signup' }>): Answer {
    const known = signups.get(user);
    const isNamed = typeof named === 'number' && referrers.has(named);
    if (!byServer && (known || !isNamed)) return standing(known);
    if (isReferral(known) && known.referrerByServer) return standing(known);
    if (isNamed) {
      refer(user, named, byServer);
    } else if (named === undefined && isReferral(known)) {
      known.byServer = true;
    } else {
      referNobody(user, named !== undefined);
    }
    const now = signups.get(user);
    const answer = standing(now);
    // Later calls find it as if it had been reported long before.
    if (now) now.day = -100;
    return answer;
  }

  function referNobody(user: number, isSaid: boolean): void {
    const known = signups.get(user);
    for (const grant of grants) {
      if (grant.cause !== 'purchase' && grant.of === user && grant.status === 'earned') correct(grant);
    }
    for (const [number, order] of ordersOf(user, true)) {
      reconcile(number, []);
      order.referred = false;
      order.rewarded = false;
      order.answer = { matched: false, rewarded: false, ledger_rows: 0 };
    }
    signups.set(user, {
      referrer: null,
      program: -1,
      block: null,
      byServer: true,
      referrerByServer: isSaid || (known?.referrerByServer ?? false),
      held: false,
      day: known?.day ?? 0,
    });
  }

  function refer(user: number, number: number, byServer: boolean): void {
    const known = signups.get(user);
    const referrer = referrers.get(number);
    if (!referrer) throw new Error('a referrer must be enrolled');
    const block = blockOf(user, number, referrer);
    const flags = {
      byServer: byServer || (known?.byServer ?? false),
      referrerByServer: byServer || (known?.referrerByServer ?? false),
    };
    if (known?.referrer === number) {
      Object.assign(known, flags);
      return;
    }
    const { review } = termsOf(referrer.program);
    signups.set(user, {
      referrer: number,
      program: referrer.program,
      block,
      ...flags,
      held: block === null && review !== 'none',
      day: known?.day ?? 0,
    });
    settle(user);
  }

  function blockOf(user: number, number: number, referrer: Referrer): string | null {
    if (user === number) return 'same_user';
    if (isOnePerson(user, number)) return 'same_email';
    for (const [other, signup] of signups) {
      if (other !== user && isOnePerson(other, user) && isPaying(signup)) return 'duplicate_referee';
    }
    const seen = new Set<number>();
    for (let above = signups.get(number); isPaying(above) && !seen.has(above.referrer); ) {
      if (above.referrer === user) return 'mutual_referral';
      seen.add(above.referrer);
      above = signups.get(above.referrer);
    }
    return referrer.status === 'suspended' ? 'suspended' : null;
  }

  /** Writes what a referral that was just decided causes. */
  function settle(user: number): void {
    const referral = signups.get(user);
    if (!isReferral(referral)) throw new Error('a referral must have a referrer');
    const referrer = referrers.get(referral.referrer);
    if (!referrer) throw new Error('a referrer must be enrolled');
    const terms = termsOf(referral.program);
    const credit = referrer.mode === 'affiliate' ? 0 : Math.round(terms.signup_credit[referrer.tier] * 100);
    const due: { cause: Grant['cause']; holder: number; amount: number }[] = [];
    if (!referral.held && referral.block === null && terms.credit_enabled) {
      if (terms.status === 'active' && referrer.mode === 'referrer') {
        due.push({ cause: 'signup', holder: referral.referrer, amount: credit });
        due.push({ cause: 'referee', holder: user, amount: Math.round(terms.referee_credit * 100) });
      }
    }
    const given = new Set<string>();
    for (const grant of grants) {
      if (grant.cause === 'purchase' || grant.of !== user || grant.status === 'revoked') continue;
      const stays =
        grant.referrer === referral.referrer &&
        due.some(({ cause, amount }) => cause === grant.cause && amount > 0);
      if (stays || (grant.cause === 'referee' && grant.status === 'delivered')) given.add(grant.cause);
      else if (grant.status === 'earned') correct(grant);
    }
    const common = { referrer: referral.referrer, of: user, program: referral.program, corrected: false };
    if (terms.credit_enabled && referral.block !== null) {
      grants.push({
        ...common,
        holder: referral.referrer,
        amount: credit,
        status: 'revoked',
        cause: 'signup',
      });
    }
    for (const grant of due) {
      if (grant.amount > 0 && !given.has(grant.cause)) grants.push({ ...common, ...grant, status: 'earned' });
    }
    const again = ordersOf(user, true);
    for (const [, order] of again) order.rewarded = false;
    for (const [number, order] of again) evaluate(number, order);
    for (const [number, order] of ordersOf(user, false)) {
      if (order.day >= referral.day - DAYS_BEFORE_SIGNUP) evaluate(number, order);
    }
  }

  /** A buyer's purchases that have, or have not, a referrer, oldest first. */
  function ordersOf(buyer: number, referred: boolean): [number, Order][] {
    return [...orders]
      .filter(([, order]) => order.buyer === buyer && order.referred === referred)
      .sort(([, a], [, b]) => a.day - b.day || a.number - b.number);
  }

  function purchase(action: Extract<Action, { type: 'purchase' }>): Answer {
    const known = orders.get(action.order);
    if (known) return known.buyer === action.user ? known.answer : { status: 409 };
    const { user: buyer, amount, isRenewal, day } = action;
    const order: Order = {
      number: orders.size,
      buyer,
      amount,
      commissionable: action.commissionable ?? amount,
      isRenewal,
      day,
      referred: false,
      rewarded: false,
      answer: { matched: false, rewarded: false, ledger_rows: 0 },
      refunds: [],
    };
    orders.set(action.order, order);
    adoptEarlyRefunds(action.order, order);
    if (isReferral(signups.get(buyer))) evaluate(action.order, order);
    return order.answer;
  }

  /** An amount above the order's amount counts as that amount. */
  function adoptEarlyRefunds(number: number, order: Order): void {
    let rest = order.amount;
    for (const [refund, { order: of, amount }] of early) {
      if (of !== number) continue;
      early.delete(refund);
      if (refunds.has(refund)) continue;
      const taken = Math.min(amount ?? rest, rest);
      order.refunds.push({ number: refund, amount: taken });
      refunds.set(refund, { order: number, matched: false, rows: 0 });
      rest -= taken;
    }
  }

  /** Decides what a referred purchase earns now. */
  function evaluate(number: number, order: Order): void {
    const referral = signups.get(order.buyer);
    if (!isReferral(referral)) throw new Error('the buyer must be referred');
    order.referred = true;
    if (referral.held) {
      reconcile(number, []);
      order.rewarded = false;
      order.answer = { matched: true, rewarded: false, ledger_rows: 0, status: 'held' };
      return;
    }
    const { rewards, reason } = reward(order, referral);
    reconcile(number, rewards);
    order.rewarded = rewards.length > 0;
    order.answer = { matched: true, rewarded: order.rewarded, ledger_rows: rewards.length };
    if (reason) order.answer.reason = reason;
    for (const [index, { number: refund }] of order.refunds.entries()) {
      const rows = reverse(number, order, index + 1);
      refunds.set(refund, { order: number, matched: true, rows: (refunds.get(refund)?.rows ?? 0) + rows });
    }
  }

  /** Takes back what the order earned and is not to, and adds what is missing. */
  function reconcile(number: number, rewards: Reward[]): void {
    const missing = new Set(rewards);
    const order = orders.get(number);
    for (const grant of grants) {
      if (grant.cause !== 'purchase' || grant.of !== number || grant.corrected) continue;
      const due = rewards.find((reward) => reward.type === 'credit' && reward.owner === grant.referrer);
      if (due) missing.delete(due);
      else if (grant.status === 'earned') correct(grant);
    }
    for (const commission of commissions.filter((one) => one.order === number && one.status !== 'reversed')) {
      const due = rewards.find(
        (reward) =>
          reward.type === 'commission' &&
          reward.owner === commission.owner &&
          reward.level === commission.level,
      );
      if (due) {
        missing.delete(due);
        giveBack(commission);
      } else if (commission.status !== 'paid') takeBack(commission);
    }
    for (const one of missing) {
      if (!order) throw new Error('an unknown order earns nothing');
      if (one.type === 'credit') {
        const { owner, amount } = one;
        grants.push({
          holder: owner,
          amount,
          status: 'earned',
          cause: 'purchase',
          referrer: owner,
          of: number,
          program: signups.get(order.buyer)?.program ?? -1,
          corrected: false,
        });
        continue;
      }
      const eligibleDay = order.day + termsOf(signups.get(order.buyer)?.program ?? -1).hold_days;
      commissions.push({
        owner: one.owner,
        level: one.level,
        order: number,
        earned: one.amount,
        left: one.amount,
        takenBack: 0,
        corrected: 0,
        status: eligibleDay <= 0 ? 'eligible' : 'pending',
        eligibleDay,
        reverses: null,
      });
    }
  }

  function correct(grant: Grant): void {
    grant.status = 'revoked';
    grant.corrected = true;
  }

  function takeBack(commission: Commission): void {
    if (commission.status === 'rejected') return;
    const rest = commission.earned - commission.takenBack;
    if (rest === 0) return;
    commission.takenBack = commission.earned;
    // A part of it may be reversed by other commissions, which its own amount does not show.
    if (mayHaveBeenPaid(commission) || rest < commission.left) {
      commission.corrected = rest;
      commissions.push(reversing(commission, -rest));
    } else {
      commission.left = 0;
      commission.status = 'reversed';
    }
  }

  function giveBack(commission: Commission): void {
    if (commission.status === 'rejected' || commission.corrected === 0) return;
    commissions.push(reversing(commission, commission.corrected));
    commission.takenBack -= commission.corrected;
    commission.corrected = 0;
  }

  function reversing(commission: Commission, amount: number): Commission {
    return {
      ...commission,
      order: null,
      level: null,
      earned: amount,
      left: amount,
      takenBack: 0,
      corrected: 0,
      status: 'eligible',
      reverses: commission,
    };
  }

  function reward(order: Order, referral: Referral): { rewards: Reward[]; reason: string | null } {
    const no = (reason: string) => ({ rewards: [], reason });
    const terms = termsOf(referral.program);
    const first = referrers.get(referral.referrer);
    if (!first) throw new Error('a signup must have a referrer');
    // The buyer gave the address at signup, whether or not this report has it.
    const isBuyer = (number: number) => isOnePerson(number, order.buyer);
    if (referral.block === 'suspended' || first.status === 'suspended') return no('suspended');
    if (referral.block !== null)
      return no(referral.block.startsWith('same') ? 'self_referral' : referral.block);
    if (isBuyer(referral.referrer)) return no('self_referral');
    if (order.day < referral.day - DAYS_BEFORE_SIGNUP) return no('before_signup');
    if (terms.status === 'paused') return no('program_paused');
    const before = [...orders.values()].filter(
      (other) => other !== order && other.buyer === order.buyer && other.referred && other.rewarded,
    );
    if (terms.first_sale_only && order.isRenewal) return no('renewal_not_covered');
    if (terms.first_sale_only && before.length > 0) return no('not_first_sale');
    const firstDay = Math.min(...before.map((other) => other.day));
    // Days of purchases are twenty apart, so a month is over after forty days and not after twenty.
    const covered = terms.commission_months === null || order.day - firstDay < 30 || before.length === 0;
    const rewards: Reward[] = [];
    const credit = paysCash(first) ? 0 : Math.round(terms.purchase_credit * 100);
    if (credit > 0 && order.amount > 0)
      rewards.push({ type: 'credit', owner: referral.referrer, amount: credit });
    const levels = covered ? levelsOf(order, referral, terms, isBuyer) : [];
    rewards.push(...levels.filter(({ amount }) => amount > 0));
    if (rewards.length > 0) return { rewards, reason: null };
    if (paysCash(first) && !covered) return no('renewal_not_covered');
    return no(credit > 0 || levels.length > 0 ? 'amount_too_small' : 'no_reward_configured');
  }

  /** What each level has coming, also where it rounds to nothing. */
  function levelsOf(
    order: Order,
    referral: Referral,
    terms: Terms,
    isBuyer: (number: number) => boolean,
  ): Reward[] {
    const rewards: Reward[] = [];
    const seen: number[] = [];
    let earner: number | null = referral.referrer;
    for (const [index, programRate] of [terms.commission_rate, ...terms.levels].entries()) {
      if (earner === null || seen.includes(earner)) break;
      seen.push(earner);
      const referrer = referrers.get(earner);
      const above = signups.get(earner);
      const own = index === 0 ? (referrer?.own ?? null) : null;
      const rate = own ?? programRate;
      const paid: Terms = own === null ? terms : { ...terms, commission_type: 'percent' };
      if (referrer && rate > 0 && referrer.status === 'approved' && paysCash(referrer) && !isBuyer(earner)) {
        const { commissionable } = order;
        const amount = commissionable === 0 ? 0 : commissionOf(paid, rate, commissionable, referral.program);
        rewards.push({ type: 'commission', owner: earner, level: index + 1, amount });
      }
      earner = isPaying(above) && !above.held && above.program === referral.program ? above.referrer : null;
    }
    return rewards;
  }

  function review({ nth, decision }: Extract<Action, { type: 'review' }>): Answer {
    const users = [...signups.keys()].sort((a, b) => a - b);
    const user = users[nth % users.length];
    const signup = user === undefined ? undefined : signups.get(user);
    if (user === undefined || !signup) return { status: 404 };
    if (!isReferral(signup) || !signup.held) return { status: 409 };
    const isSuspended = referrers.get(signup.referrer)?.status === 'suspended';
    signup.held = false;
    signup.block = decision === 'reject' ? 'rejected' : isSuspended ? 'suspended' : null;
    settle(user);
    return { status: 'matched', block_reason: signup.block };
  }

  function reevaluate(number: number): Answer {
    const order = orders.get(number);
    if (!order) return { status: 404 };
    if (isReferral(signups.get(order.buyer)) && !order.rewarded) evaluate(number, order);
    return order.answer;
  }

  function refund(action: Extract<Action, { type: 'refund' }>): Answer {
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
    const rows = reverse(action.order, order, order.refunds.length);
    const matched = order.referred || rows > 0;
    refunds.set(action.refund, { order: action.order, matched, rows });
    return { matched, ledger_rows: rows };
  }

  /** Reverses what the refunds up to this one require, less what is reversed. @returns how many commissions changed */
  function reverse(number: number, { amount, refunds }: Order, upTo: number): number {
    const all = Math.min(amount, refunded(refunds.slice(0, upTo)));
    let rows = 0;
    for (const commission of commissions.filter((one) => one.order === number && one.status !== 'rejected')) {
      const due = roundHalfEven(BigInt(commission.earned * all), BigInt(amount));
      const part = due - commission.takenBack;
      // Nothing is left of what was taken back for another referrer.
      if (part <= 0) continue;
      commission.takenBack = due;
      rows += 1;
      if (commission.status === 'paid' || mayHaveBeenPaid(commission)) {
        commissions.push(reversing(commission, -part));
      } else {
        commission.left -= part;
        if (commission.left === 0) commission.status = 'reversed';
      }
    }
    if (all < amount) return rows;
    for (const grant of grants) {
      if (grant.cause !== 'purchase' || grant.of !== number || grant.status !== 'earned') continue;
      if (!termsOf(grant.program).revoke_credits_on_refund) continue;
      grant.status = 'revoked';
      rows += 1;
    }
    return rows;
  }

  const mayHaveBeenPaid = (commission: Commission) =>
    exports.some(({ lines, canceled }) =>
      lines.some(
        ({ items, status }) =>
          items.includes(commission) && (status === 'paid' || (status === 'open' && !canceled)),
      ),
    );

  function exportAll(): Answer {
    const file: Export = { lines: [], canceled: false };
    const lines: Record<string, number> = {};
    for (const [number, referrer] of referrers) {
      const items = commissions.filter((one) => one.owner === number && one.status === 'eligible');
      const sum = leftOf(items);
      const exponent = referrer.program === 0 ? 100 : 1;
      const least = termsOf(referrer.program).min_payout * exponent;
      if (referrer.status === 'suspended' || sum <= 0 || sum < least || referrer.address !== 'confirmed')
        continue;
      lines[`u${number}`] = sum;
      file.lines.push({ owner: number, items, paid: null, status: 'open' });
    }
    exports.push(file);
    return lines;
  }

  /** A file without lines is paid as a whole when it is paid, and can't be canceled then. */
  const paidEmpty = new Set<Export>();

  function pay({ nth, only }: Extract<Action, { type: 'pay' }>): Answer {
    const file = exports[nth % exports.length];
    if (!file) return { status: 404 };
    if (file.canceled) return { status: 409 };
    const asked = only === null ? file.lines : file.lines.filter(({ owner }) => owner === only);
    if (only !== null && asked.length === 0) return { status: 404 };
    if (only !== null && asked[0]?.status === 'failed') return { status: 409 };
    for (const line of asked) {
      if (line.status !== 'open') continue;
      const unpaid = line.items.filter(({ status }) => status === 'eligible');
      if (leftOf(unpaid) <= 0) continue;
      for (const commission of unpaid) commission.status = 'paid';
      line.paid = unpaid;
      line.status = 'paid';
    }
    if (file.lines.length === 0) paidEmpty.add(file);
    return { paid: asked.filter(({ status }) => status === 'paid').length };
  }

  function fail({ nth, user }: Extract<Action, { type: 'fail' }>): Answer {
    const line = exports[nth % exports.length]?.lines.find(({ owner }) => owner === user);
    if (!line) return { status: 404 };
    if (line.status === 'open') return { status: 409 };
    if (line.status === 'paid') for (const commission of line.paid ?? []) commission.status = 'eligible';
    line.status = 'failed';
    return { status: 'failed' };
  }

  function cancel(nth: number): Answer {
    const file = exports[nth % exports.length];
    if (!file) return { status: 404 };
    const isDone =
      paidEmpty.has(file) || (file.lines.length > 0 && file.lines.every(({ status }) => status !== 'open'));
    if (!file.canceled && isDone) return { status: 409 };
    file.canceled = true;
    return { ok: true };
  }

  function setAddress({ user, byServer }: Extract<Action, { type: 'address' }>): Answer {
    const referrer = referrers.get(user);
    if (!referrer) return { status: 404 };
    if (!byServer && !paysCash(referrer)) return { status: 403 };
    referrer.address = byServer ? 'confirmed' : 'unconfirmed';
    return { status: 200 };
  }

  function manual({ user, amount }: Extract<Action, { type: 'manual' }>): Answer {
    if (!referrers.has(user)) return { status: 404 };
    commissions.push({
      owner: user,
      order: null,
      level: null,
      earned: amount,
      left: amount,
      takenBack: 0,
      corrected: 0,
      status: 'eligible',
      eligibleDay: 0,
      reverses: null,
    });
    return { status: 201 };
  }

  function reject({ order, level }: Extract<Action, { type: 'reject' }>): Answer {
    const commission = commissions.find((one) => one.order === order && one.level === level);
    if (!commission) return { status: 404 };
    if (commission.status === 'rejected') return { status: 'rejected' };
    if (commission.status === 'paid' || commission.status === 'reversed') return { status: 409 };
    const reversing = commissions.filter(({ reverses }) => reverses === commission);
    if (reversing.some(({ status }) => status === 'paid')) return { status: 409 };
    for (const one of [commission, ...reversing]) {
      one.status = 'rejected';
      one.left = 0;
    }
    return { status: 'rejected' };
  }

  function revoke(nth: number): Answer {
    const grant = grants[nth % grants.length];
    if (!grant) return { status: 404 };
    if (grant.status === 'delivered') return { status: 409 };
    grant.status = 'revoked';
    return { ok: true };
  }

  function enroll({ user, program, tier }: Extract<Action, { type: 'enroll' }>): Answer {
    const known = referrers.get(user);
    if (known) known.tier = tier;
    else {
      const mode = termsOf(program).credit_enabled ? 'referrer' : 'affiliate';
      referrers.set(user, { program, tier, mode, status: 'approved', address: 'none', own: null });
    }
    return { program: known?.program ?? program };
  }

  function deliver(nth: number): Answer {
    const grant = grants[nth % grants.length];
    if (!grant) return { status: 404 };
    if (grant.status === 'revoked') return { status: 409 };
    grant.status = 'delivered';
    return { ok: true };
  }

  return {
    grants,
    enrolled: () => [...referrers.keys()],
    /** The foreseeable part of a call's response. */
    act(action: Action): Answer {
      const referrer = 'user' in action ? referrers.get(action.user) : undefined;
      switch (action.type) {
        case 'enroll':
          return enroll(action);
        case 'signup':
          return signup(action);
        case 'purchase':
          return purchase(action);
        case 'pixel':
          // Anyone can report it: no money depends on its content.
          return {};
        case 'refund':
          return refund(action);
        case 'review':
          return review(action);
        case 'reevaluate':
          return reevaluate(action.order);
        case 'mode':
          if (!referrer) return { status: 404 };
          referrer.mode = action.mode;
          return { reward_mode: action.mode };
        case 'status':
          if (referrer) referrer.status = action.status;
          return {};
        case 'deliver':
          return deliver(action.nth);
        case 'tick':
          for (const one of commissions) {
            if (one.status === 'pending' && one.eligibleDay <= action.day) one.status = 'eligible';
          }
          return {};
        case 'export':
          return exportAll();
        case 'pay':
          return pay(action);
        case 'fail':
          return fail(action);
        case 'cancel':
          return cancel(action.nth);
        case 'address':
          return setAddress(action);
        case 'manual':
          return manual(action);
        case 'reject':
          return reject(action);
        case 'revoke':
          return revoke(action.nth);
        case 'own':
          if (!referrer) return { status: 404 };
          referrer.own = action.rate;
          return { status: 200 };
        case 'terms':
          programs[action.program] = action.terms;
          return {};
      }
    },
    balance(user: number): Balance {
      const cash = (status: Commission['status']) =>
        commissions
          .filter((one) => one.owner === user && one.status === status)
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

const leftOf = (commissions: readonly Commission[]) => commissions.reduce((sum, { left }) => sum + left, 0);

const refunded = (refunds: Order['refunds']) => refunds.reduce((sum, { amount }) => sum + amount, 0);

export type Model = ReturnType<typeof createModel>;

/** Program 0 pays cents of the sale's own dollars, program 1 yen. */
function commissionOf(terms: Terms, rate: number, cents: number, program: number): number {
  if (terms.commission_type === 'flat') return program === 0 ? rate * 100 : rate;
  const hundredthsOfPercent = BigInt(Math.round(rate * 100));
  if (program === 0) return roundHalfEven(BigInt(cents) * hundredthsOfPercent, 10_000n);
  return roundHalfEven(BigInt(cents) * hundredthsOfPercent * YEN_PER_100_USD, 10_000n * 10_000n);
}

function roundHalfEven(numerator: bigint, denominator: bigint): number {
  const whole = numerator / denominator;
  const rest = (numerator % denominator) * 2n;
  const up = rest > denominator || (rest === denominator && whole % 2n === 1n);
  return Number(up ? whole + 1n : whole);
}
