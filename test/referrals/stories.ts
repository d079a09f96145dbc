import fc from 'fast-check';
import type { Action } from './history.ts';

/** Every history begins with these users, each referred by the one before. Stories have orders of their own. */
const BUYERS = { min: 1, max: 4 };

/**
 * A sale in a payout file, and what may happen to it then, in any order. Independent actions seldom meet at the same
 * sale and file.
 */
export const story: fc.Arbitrary<Action[]> = fc
  .record({
    buyer: fc.integer(BUYERS),
    order: fc.integer({ min: 100, max: 999 }),
    amount: fc.integer({ min: 1, max: 50_000 }),
    part: fc.constantFrom(null, 1, 50, 1_000),
    other: fc.nat(4),
    isBonus: fc.boolean(),
    isPaid: fc.boolean(),
  })
  .chain(({ buyer, order, amount, part, other, isBonus, isPaid }) => {
    const referrer = buyer - 1;
    const signup = { type: 'signup' as const, user: buyer, byServer: true, times: 1 };
    const payment: Action = { type: 'pay', nth: 0, only: null, times: 1 };
    const later: Action[] = [
      payment,
      { type: 'pay', nth: 1, only: referrer, times: 1 },
      { type: 'fail', nth: 0, user: referrer, times: 1 },
      { type: 'cancel', nth: 0, times: 1 },
      { type: 'retry', nth: 0, user: referrer, times: 1 },
      { type: 'export', until: null, includeOpen: false },
      { type: 'export', until: null, includeOpen: true },
      { type: 'refund', refund: order, order, amount: part, times: 1 },
      { type: 'refund', refund: order + 1_000, order, amount: null, times: 1 },
      { ...signup, referrer: null },
      { ...signup, referrer: other },
      { ...signup, referrer },
      { type: 'reject', order, level: 1, times: 1 },
      { type: 'move', user: referrer, program: 2, times: 1 },
      { type: 'erase', user: referrer },
    ];
    const bonus: Action[] = isBonus ? [{ type: 'manual', user: referrer, amount: -100 }] : [];
    return fc.shuffledSubarray(later, { minLength: 2, maxLength: 6 }).map((rest): Action[] => [
      { type: 'mode', user: referrer, mode: 'affiliate', times: 1 },
      {
        type: 'purchase',
        user: buyer,
        order,
        amount,
        commissionable: null,
        isRenewal: false,
        isForeign: false,
        day: -40,
        withEmail: false,
        times: 1,
      },
      ...bonus,
      { type: 'export', until: null, includeOpen: true },
      ...(isPaid ? [payment] : []),
      ...rest,
    ]);
  });
