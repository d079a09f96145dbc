import { changedFields } from '../../parts/changed-fields.ts';
import type { Programme } from './answers.ts';
import { EmptyFields } from './programme-problems.ts';

/** A number as a field holds it while it is written: the empty text is "not said". */
export type NumberField = number | '';

/** What the form of a programme holds. */
export type Draft = {
  name: string;
  destination_url: string;
  code: string;
  credit_enabled: boolean;
  credit_kind: string;
  signup_free: NumberField;
  signup_paid: NumberField;
  purchase_credit: NumberField;
  referee_credit: NumberField;
  commission_type: 'percent' | 'flat';
  commission_rate: NumberField;
  first_sale_only: boolean;
  commission_months: NumberField;
  hold_days: NumberField;
  levels: { key: number; rate: NumberField }[];
  allow_affiliate_upgrade: boolean;
  payout_methods: string[];
  min_payout: NumberField;
  currency: string;
};

/** What a new programme begins with: the API's own defaults. */
export function newDraft(currency: string): Draft {
  return {
    name: '',
    destination_url: '',
    code: '',
    credit_enabled: false,
    credit_kind: 'credits',
    signup_free: 0,
    signup_paid: 0,
    purchase_credit: 0,
    referee_credit: 0,
    commission_type: 'percent',
    commission_rate: 20,
    first_sale_only: false,
    commission_months: '',
    hold_days: 30,
    levels: [],
    allow_affiliate_upgrade: false,
    payout_methods: ['paypal'],
    min_payout: 0,
    currency,
  };
}

/** The form of a programme that is there. */
export function draftOf(programme: Programme): Draft {
  const { signup_credit, levels, commission_months, ...rest } = programme;
  return {
    ...rest,
    signup_free: signup_credit.free,
    signup_paid: signup_credit.paid,
    commission_months: commission_months ?? '',
    levels: levels.map((rate, key) => ({ key, rate })),
  };
}

/**
 * The body of `POST /programs`: what the form shows. An empty credit or least payout is none; no months are for ever.
 *
 * @throws {EmptyFields}
 */
export function createBody(draft: Draft): Record<string, unknown> {
  requireFilled(draft, ['commission_rate', 'hold_days']);
  return fieldsOf(draft);
}

/**
 * The body of `PATCH /programs/:id`: what differs from the programme as it was when the form was opened, so that terms
 * which someone else has changed meanwhile stay as they are.
 *
 * @param now the programme as it is: of `signup_credit`, which the API takes whole, what the form left alone
 * @throws {EmptyFields}
 */
export function changeBody(before: Draft, draft: Draft, now: Draft): Record<string, unknown> {
  requireFilled(draft, ['code', 'commission_rate', 'hold_days']);
  // A programme without credits has their terms all the same: those that the form left alone are not sent with the switch.
  const was = { ...fieldsOf({ ...before, credit_enabled: true }), credit_enabled: before.credit_enabled };
  const is = fieldsOf(draft);
  const changed = changedFields(was, is);
  return {
    ...changed,
    ...('signup_credit' in changed && {
      signup_credit: { ...signupCredit(now), ...changedFields(signupCredit(before), signupCredit(draft)) },
    }),
    // A rate means nothing without its type.
    ...('commission_type' in changed && {
      commission_rate: is.commission_rate,
      levels: is.levels,
    }),
  };
}

function requireFilled(draft: Draft, fields: readonly (keyof Draft)[]): void {
  const empty = fields.filter((field) => draft[field] === '');
  if (empty.length > 0) throw new EmptyFields(empty);
}

function fieldsOf(draft: Draft): Record<string, unknown> {
  return {
    name: draft.name,
    destination_url: draft.destination_url,
    ...(draft.code !== '' && { code: draft.code }),
    credit_enabled: draft.credit_enabled,
    ...(draft.credit_enabled && {
      credit_kind: draft.credit_kind,
      signup_credit: signupCredit(draft),
      purchase_credit: orNone(draft.purchase_credit),
      referee_credit: orNone(draft.referee_credit),
      allow_affiliate_upgrade: draft.allow_affiliate_upgrade,
    }),
    commission_type: draft.commission_type,
    commission_rate: draft.commission_rate,
    first_sale_only: draft.first_sale_only,
    commission_months: draft.commission_months === '' ? null : draft.commission_months,
    hold_days: draft.hold_days,
    levels: draft.levels.map(({ rate }) => orNone(rate)),
    payout_methods: draft.payout_methods,
    min_payout: orNone(draft.min_payout),
    currency: draft.currency,
  };
}

const signupCredit = ({ signup_free, signup_paid }: Draft) => ({
  free: orNone(signup_free),
  paid: orNone(signup_paid),
});

const orNone = (field: NumberField) => (field === '' ? 0 : field);
