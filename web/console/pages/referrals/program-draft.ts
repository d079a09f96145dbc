import { changedFields } from '../../parts/changed-fields.ts';
import { wrongFields } from './program-problems.ts';
import type { Program } from './responses.ts';

/** State of a program's form. Numbers are text, because `7.` and `0.0` occur while typing. */
export type Draft = {
  name: string;
  destination_url: string;
  code: string;
  credit_enabled: boolean;
  credit_kind: string;
  signup_free: string;
  signup_paid: string;
  purchase_credit: string;
  referee_credit: string;
  commission_type: 'percent' | 'flat';
  commission_rate: string;
  first_sale_only: boolean;
  commission_months: string;
  hold_days: string;
  levels: { key: number; rate: string }[];
  allow_affiliate_upgrade: boolean;
  payout_methods: string[];
  min_payout: string;
  currency: string;
  signups_from: 'any' | 'server';
  max_signups_per_day: string;
  review: 'none' | 'signups' | 'rewards';
  revoke_credits_on_refund: boolean;
  /** Names, separated by commas. */
  link_parameters: string;
};

/** Defaults of a new program, as in the API. */
export function newDraft(currency: string): Draft {
  return {
    name: '',
    destination_url: '',
    code: '',
    credit_enabled: false,
    credit_kind: 'credits',
    signup_free: '0',
    signup_paid: '0',
    purchase_credit: '0',
    referee_credit: '0',
    commission_type: 'percent',
    commission_rate: '20',
    first_sale_only: false,
    commission_months: '',
    hold_days: '30',
    levels: [],
    allow_affiliate_upgrade: false,
    payout_methods: ['paypal'],
    min_payout: '0',
    currency,
    signups_from: 'any',
    max_signups_per_day: '',
    review: 'none',
    revoke_credits_on_refund: true,
    link_parameters: 'ref, via',
  };
}

/** The form's state for an existing program. */
export function draftOf(program: Program): Draft {
  const { signup_credit, levels, commission_months, ...rest } = program;
  return {
    ...rest,
    signup_free: String(signup_credit.free),
    signup_paid: String(signup_credit.paid),
    purchase_credit: String(program.purchase_credit),
    referee_credit: String(program.referee_credit),
    commission_rate: String(program.commission_rate),
    commission_months: String(commission_months ?? ''),
    hold_days: String(program.hold_days),
    min_payout: String(program.min_payout),
    max_signups_per_day: String(program.max_signups_per_day ?? ''),
    link_parameters: program.link_parameters.join(', '),
    levels: levels.map((rate, key) => ({ key, rate: String(rate) })),
  };
}

/**
 * The body of `POST /programs`. An empty credit or minimum payout is 0; empty months mean no limit.
 *
 * @throws {ApiFailure}
 */
export function createBody(draft: Draft): Record<string, unknown> {
  return fieldsOf(draft);
}

/**
 * The body of `PATCH /programs/:id`: fields that differ from the program when the form opened, so that changes of
 * someone else are kept.
 *
 * @param now the current program: source of unchanged parts of `signup_credit`, which is sent whole
 * @throws {ApiFailure}
 */
export function changeBody(before: Draft, draft: Draft, now: Draft): Record<string, unknown> {
  // A program without credits keeps their terms: unchanged ones are not sent with the switch.
  const withCredits = (one: Draft) => fieldsOf({ ...one, credit_enabled: true });
  const was = { ...withCredits(before), credit_enabled: before.credit_enabled };
  const is = fieldsOf(draft, { codeRequired: true });
  const changed = changedFields(was, is);
  return {
    ...changed,
    ...('signup_credit' in changed && {
      signup_credit: {
        ...signupCredit(withCredits(now)),
        ...changedFields(signupCredit(was), signupCredit(is)),
      },
    }),
    // A rate depends on its type.
    ...('commission_type' in changed && {
      commission_rate: is.commission_rate,
      levels: is.levels,
    }),
  };
}

/**
 * The form's state as an API body.
 *
 * @throws {ApiFailure}
 */
function fieldsOf(draft: Draft, { codeRequired = false } = {}): Record<string, unknown> {
  const wrong = new Map<string, string>();
  const required = [
    draft.name === '' && 'name',
    draft.destination_url === '' && 'destination_url',
    codeRequired && draft.code === '' && 'code',
    draft.credit_enabled && draft.credit_kind === '' && 'credit_kind',
    draft.currency === '' && 'currency',
  ];
  for (const path of required) if (path) wrong.set(path, 'is required');
  /** The number in the text at `path`; null if empty. */
  const numberAt = (path: string, text: string, { whole = false } = {}): number | null => {
    const typed = text.trim();
    if (typed === '') return null;
    if (!(whole ? WHOLE : DECIMAL).test(typed)) {
      wrong.set(path, whole ? 'must be a whole number' : 'must be a number, such as 12.5');
    }
    return Number(typed);
  };
  const orNone = (path: string, text: string) => numberAt(path, text) ?? 0;
  const said = (path: string, number: number | null) => {
    if (number === null) wrong.set(path, 'is required');
    return number;
  };
  const fields = {
    name: draft.name,
    destination_url: draft.destination_url,
    ...(draft.code !== '' && { code: draft.code }),
    credit_enabled: draft.credit_enabled,
    ...(draft.credit_enabled && {
      credit_kind: draft.credit_kind,
      signup_credit: {
        free: orNone('signup_credit.free', draft.signup_free),
        paid: orNone('signup_credit.paid', draft.signup_paid),
      },
      purchase_credit: orNone('purchase_credit', draft.purchase_credit),
      referee_credit: orNone('referee_credit', draft.referee_credit),
      allow_affiliate_upgrade: draft.allow_affiliate_upgrade,
    }),
    commission_type: draft.commission_type,
    commission_rate: said('commission_rate', numberAt('commission_rate', draft.commission_rate)),
    first_sale_only: draft.first_sale_only,
    commission_months: numberAt('commission_months', draft.commission_months, { whole: true }),
    hold_days: said('hold_days', numberAt('hold_days', draft.hold_days, { whole: true })),
    levels: draft.levels.map(({ rate }, index) => orNone(`levels.${index}`, rate)),
    payout_methods: draft.payout_methods,
    min_payout: orNone('min_payout', draft.min_payout),
    currency: draft.currency,
    signups_from: draft.signups_from,
    max_signups_per_day: numberAt('max_signups_per_day', draft.max_signups_per_day, { whole: true }),
    review: draft.review,
    revoke_credits_on_refund: draft.revoke_credits_on_refund,
    link_parameters: draft.link_parameters.split(/[\s,]+/).filter(Boolean),
  };
  if (wrong.size > 0) throw wrongFields(wrong);
  return fields;
}

const signupCredit = (fields: Record<string, unknown>) => fields.signup_credit as Record<string, unknown>;

/** A decimal number. A comma is refused: `1,250` is 1250 in some locales and 1.25 in others. */
const DECIMAL = /^-?(\d+\.?\d*|\.\d+)$/;
const WHOLE = /^-?\d+$/;
