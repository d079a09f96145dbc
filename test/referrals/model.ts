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
type Signup = { referrer: number; program: number; block: string | null };
type Commission = {
  owner: number;
  order: number | null;
  level: number | null;
  earned: number;
  left: number;
  takenBack: number;
  status: 'pending' | 'eligible' | 'paid' | 'reversed' | 'rejected';
  eligibleDay: number;
  /** The commission that this negative one reverses. */
  reverses: Commission | null;
};
type Grant = {
  holder: number;
  amount: number;
  status: 'earned' | 'delivered' | 'revoked';
  /** The order that earned it, and its program. */
  order: number | null;
  program: number;
};
type Order = {
  amount: number;
  /** Refunds in order of arrival. */
  refunds: { number: number; amount: number }[];
  purchase: { buyer: number; isRenewal: boolean; day: number; referred: boolean; answer: Answer };
};
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
  const refunds = new Map<number, Answer>();
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

  function signup({ user, referrer: number }: Extract<Action, { type: 'signup' }>): Answer {
    const known = signups.get(user);
    if (known) return { matched: true, blocked: known.block !== null, block_reason: known.block };
    const referrer = referrers.get(number);
    if (!referrer) return { matched: false };
    let block: string | null = null;
    if (user === number) block = 'same_user';
    else if (isOnePerson(user, number)) block = 'same_email';
    else if (referrer.status === 'suspended') block = 'suspended';
    signups.set(user, { referrer: number, program: referrer.program, block });
    const terms = termsOf(referrer.program);
    const ofSignup = { order: null, program: referrer.program };
    const credit = referrer.mode === 'affiliate' ? 0 : Math.round(terms.signup_credit[referrer.tier] * 100);
    if (terms.credit_enabled && block !== null) {
      grants.push({ ...ofSignup, holder: number, amount: credit, status: 'revoked' });
    } else if (terms.credit_enabled && terms.status === 'active' && referrer.mode === 'referrer') {
      if (credit > 0) grants.push({ ...ofSignup, holder: number, amount: credit, status: 'earned' });
      const own = Math.round(terms.referee_credit * 100);
      if (own > 0) grants.push({ ...ofSignup, holder: user, amount: own, status: 'earned' });
    }
    return { matched: true, blocked: block !== null, block_reason: block };
  }

  function purchase(action: Extract<Action, { type: 'purchase' }>): Answer {
    const known = orders.get(action.order);
    if (known) return known.purchase.answer;
    const referral = signups.get(action.user);
    const { rows, reason } = referral ? reward(action, referral) : { rows: 0, reason: null };
    const answer: Answer = { matched: referral !== undefined, rewarded: rows > 0, ledger_rows: rows };
    if (reason) answer.reason = reason;
    const { user: buyer, amount, isRenewal, day } = action;
    const order: Order = {
      amount,
      refunds: [],
      purchase: { buyer, isRenewal, day, referred: !!referral, answer },
    };
    orders.set(action.order, order);
    adoptEarlyRefunds(action.order, order);
    if (referral) {
      for (const [index, { number }] of order.refunds.entries()) {
        refunds.set(number, { matched: true, ledger_rows: reverse(action.order, order, index + 1) });
      }
    }
    return answer;
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
      refunds.set(refund, { matched: false, ledger_rows: 0 });
      rest -= taken;
    }
  }

  function reward(
    action: Extract<Action, { type: 'purchase' }>,
    referral: Signup,
  ): { rows: number; reason: string | null } {
    const no = (reason: string) => ({ rows: 0, reason });
    const terms = termsOf(referral.program);
    const first = referrers.get(referral.referrer);
    if (!first) throw new Error('a signup must have a referrer');
    // The buyer gave the address at signup, whether or not this report has it.
    const isBuyer = (number: number) => isOnePerson(number, action.user);
    if (referral.block === 'suspended' || first.status === 'suspended') return no('suspended');
    if (referral.block !== null || isBuyer(referral.referrer)) return no('self_referral');
    if (terms.status === 'paused') return no('program_paused');
    const before = [...orders.values()].flatMap(({ amount, purchase }) =>
      purchase.buyer === action.user && purchase.referred && amount > 0 ? [purchase] : [],
    );
    if (terms.first_sale_only && action.isRenewal) return no('renewal_not_covered');
    if (terms.first_sale_only && before.some((order) => !order.isRenewal)) return no('not_first_sale');
    const firstDay = Math.min(...before.map((order) => order.day));
    // Days of purchases are twenty apart, so a month is over after forty days and not after twenty.
    const covered = terms.commission_months === null || action.day - firstDay < 30 || before.length === 0;
    let rows = 0;
    if (!paysCash(first) && action.amount > 0 && terms.purchase_credit > 0) {
      grants.push({
        holder: referral.referrer,
        amount: Math.round(terms.purchase_credit * 100),
        status: 'earned',
        order: action.order,
        program: referral.program,
      });
      rows += 1;
    }
    if (covered && action.amount > 0) rows += payLevels(action, referral, terms, isBuyer);
    if (rows > 0) return { rows, reason: null };
    return no(paysCash(first) && !covered ? 'renewal_not_covered' : 'no_reward_configured');
  }

  function payLevels(
    action: Extract<Action, { type: 'purchase' }>,
    referral: Signup,
    terms: Terms,
    isBuyer: (number: number) => boolean,
  ): number {
    let rows = 0;
    const seen: number[] = [];
    let earner: number | null = referral.referrer;
    for (const [index, programRate] of [terms.commission_rate, ...terms.levels].entries()) {
      if (earner === null || seen.includes(earner)) break;
      seen.push(earner);
      const referrer = referrers.get(earner);
      const above = signups.get(earner);
      if (referrer && referrer.status === 'approved' && paysCash(referrer) && !isBuyer(earner)) {
        const own = index === 0 ? referrer.own : null;
        const earned =
          own === null
            ? commissionOf(terms, programRate, action.amount, referral.program)
            : commissionOf({ ...terms, commission_type: 'percent' }, own, action.amount, referral.program);
        if (earned > 0) {
          const eligibleDay = action.day + terms.hold_days;
          const status = eligibleDay <= 0 ? 'eligible' : 'pending';
          commissions.push({
            owner: earner,
            order: action.order,
            level: index + 1,
            earned,
            left: earned,
            takenBack: 0,
            status,
            eligibleDay,
            reverses: null,
          });
          rows += 1;
        }
      }
      earner = above && above.block === null && above.program === referral.program ? above.referrer : null;
    }
    return rows;
  }

  function refund(action: Extract<Action, { type: 'refund' }>): Answer {
    const known = refunds.get(action.refund);
    if (known) return known;
    const order = orders.get(action.order);
    if (!order) {
      if (!early.has(action.refund)) {
        early.set(action.refund, { order: action.order, amount: action.amount });
      }
      return { matched: false, ledger_rows: 0 };
    }
    const rest = Math.max(0, order.amount - refunded(order.refunds));
    const amount = action.amount ?? rest;
    if (amount > rest) return { status: 400 };
    order.refunds.push({ number: action.refund, amount });
    const rows = reverse(action.order, order, order.refunds.length);
    const answer = { matched: order.purchase.referred, ledger_rows: rows };
    refunds.set(action.refund, answer);
    return answer;
  }

  /** Reverses what the refunds up to this one require, less what is reversed. @returns how many commissions changed */
  function reverse(number: number, { amount, refunds }: Order, upTo: number): number {
    const all = Math.min(amount, refunded(refunds.slice(0, upTo)));
    let rows = 0;
    for (const commission of commissions.filter((one) => one.order === number && one.status !== 'rejected')) {
      const due = roundHalfEven(BigInt(commission.earned * all), BigInt(amount));
      const part = due - commission.takenBack;
      if (part === 0) continue;
      commission.takenBack = due;
      rows += 1;
      if (commission.status === 'paid' || mayHaveBeenPaid(commission)) {
        commissions.push({
          ...commission,
          order: null,
          level: null,
          earned: -part,
          left: -part,
          takenBack: 0,
          status: 'eligible',
          reverses: commission,
        });
      } else {
        commission.left -= part;
        if (commission.left === 0) commission.status = 'reversed';
      }
    }
    if (all < amount) return rows;
    for (const grant of grants) {
      if (grant.order !== number || grant.status !== 'earned') continue;
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
