import type { Action } from '../history.ts';
import { isYen } from './money.ts';
import { takeBack } from './rewards.ts';
import {
  type Answer,
  type Commission,
  type Export,
  groupOf,
  leftOf,
  type Referrer,
  type State,
  termsOf,
} from './state.ts';

export function exportAll(state: State, { until, includeOpen }: Extract<Action, { type: 'export' }>): Answer {
  const isLeftOut = (one: Commission) => !includeOpen && isInOpenFile(state, one);
  const file: Export = { lines: [], canceled: false, isPaid: false };
  const answer: Record<string, number> = {};
  for (const referrer of state.referrers.values()) {
    const items = state.commissions.filter(
      (one) =>
        one.owner === referrer && one.status === 'eligible' && isBefore(state, one, until) && !isLeftOut(one),
    );
    const sum = leftOf(items);
    const { program } = referrer;
    const minPayout = groupOf(state, referrer, program)?.min_payout ?? termsOf(state, program).min_payout;
    const least = minPayout * (isYen(program) ? 1 : 100);
    if (referrer.status === 'suspended' || sum <= 0 || sum < least) continue;
    if (referrer.address !== 'confirmed' || hasBounced(state, referrer)) continue;
    answer[`u${referrer.user}`] = sum;
    const { mailbox } = referrer;
    file.lines.push({ owner: referrer, items, paid: null, status: 'open', mailbox, isRetried: false });
  }
  state.exports.push(file);
  return answer;
}

const isOpen = ({ canceled, isPaid }: Export) => !canceled && !isPaid;

const isInOpenFile = ({ exports }: State, commission: Commission) =>
  exports.some(
    (file) =>
      isOpen(file) && file.lines.some(({ status, items }) => status === 'open' && items.includes(commission)),
  );

/** Whether a payment to the present address came back, and no one has requested a retry. */
const hasBounced = ({ exports }: State, referrer: Referrer) =>
  exports.some(({ lines }) =>
    lines.some(
      (line) =>
        line.status === 'failed' &&
        !line.isRetried &&
        line.owner === referrer &&
        line.mailbox === referrer.mailbox,
    ),
  );

/** Negative commissions always count. */
function isBefore({ orders }: State, { earned, order }: Commission, until: number | null): boolean {
  const day = order === null ? 0 : (orders.get(order)?.day ?? 0);
  return until === null || earned < 0 || day < until;
}

export function pay(state: State, { nth, only }: Extract<Action, { type: 'pay' }>): Answer {
  const file = nthOf(state.exports, nth);
  if (!file) return { status: 404 };
  if (file.canceled) return { status: 409 };
  const one = only === null ? null : state.referrers.get(only);
  const asked = one === null ? file.lines : file.lines.filter(({ owner }) => owner === one);
  if (only !== null && asked.length === 0) return { status: 404 };
  if (only !== null && asked[0]?.status === 'failed') return { status: 409 };
  for (const line of asked) {
    if (line.status !== 'open') continue;
    const unpaid = line.items.filter(({ status }) => status === 'eligible');
    if (leftOf(unpaid) <= 0) continue;
    for (const commission of unpaid) commission.status = 'paid';
    line.paid = unpaid;
    line.status = 'paid';
    closeOthers(state, unpaid);
  }
  if (file.lines.every(({ status }) => status !== 'open')) file.isPaid = true;
  return { paid: asked.filter(({ status, paid }) => status === 'paid' && paid?.length).length };
}

/** Closes the lines of other open files that have nothing left to pay. */
function closeOthers({ exports }: State, paid: readonly Commission[]): void {
  for (const file of exports.filter(isOpen)) {
    for (const line of file.lines) {
      if (line.status !== 'open' || !line.items.some((one) => paid.includes(one))) continue;
      if (line.items.some(({ status }) => status === 'eligible')) continue;
      line.paid = [];
      line.status = 'paid';
    }
    if (file.lines.length > 0 && file.lines.every(({ status }) => status !== 'open')) file.isPaid = true;
  }
}

export function retry(state: State, { nth, user }: Extract<Action, { type: 'retry' }>): Answer {
  const owner = state.referrers.get(user);
  const line = nthOf(state.exports, nth)?.lines.find((one) => one.owner === owner);
  if (!line) return { status: 404 };
  if (line.status !== 'failed') return { status: 409 };
  line.isRetried = true;
  return { status: 'failed' };
}

export function fail(state: State, { nth, user }: Extract<Action, { type: 'fail' }>): Answer {
  const owner = state.referrers.get(user);
  const line = nthOf(state.exports, nth)?.lines.find((one) => one.owner === owner);
  if (!line) return { status: 404 };
  if (line.status === 'open' || line.paid?.length === 0) return { status: 409 };
  if (line.status === 'paid') {
    for (const commission of line.paid ?? []) commission.status = 'eligible';
    line.status = 'failed';
    for (const commission of line.paid ?? []) if (!isDue(state, commission)) takeBack(state, commission);
  }
  return { status: 'failed' };
}

/** Whether the sale still earns something, for this referrer. */
function isDue({ orders, signups }: State, { order: number, reverses, level, owner }: Commission): boolean {
  const order = number === null || reverses !== null ? undefined : orders.get(number);
  if (!order) return true;
  return order.rewarded && (level !== 1 || signups.get(order.buyer)?.referrer === owner);
}

export function cancel(state: State, nth: number): Answer {
  const file = nthOf(state.exports, nth);
  if (!file) return { status: 404 };
  if (!file.canceled && file.isPaid) return { status: 409 };
  file.canceled = true;
  return { ok: true };
}

export function manual(state: State, { user, amount }: Extract<Action, { type: 'manual' }>): Answer {
  const owner = state.referrers.get(user);
  if (!owner) return { status: 404 };
  state.commissions.push({
    owner,
    order: null,
    level: null,
    earned: amount,
    left: amount,
    takenBack: 0,
    corrected: 0,
    status: 'eligible',
    eligibleDay: 0,
    isInYen: isYen(owner.program),
    reverses: null,
  });
  return { status: 201 };
}

export function reject(state: State, { order, level }: Extract<Action, { type: 'reject' }>): Answer {
  const { commissions } = state;
  const commission = commissions.find(
    (one) => one.order === order && one.level === level && one.reverses === null,
  );
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

/** Newest first. */
const nthOf = (exports: readonly Export[], nth: number) => exports.toReversed()[nth % exports.length];
