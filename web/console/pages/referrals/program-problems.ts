import { ApiFailure, type FailureDetail, fieldError } from '../../api/failures.ts';
import { sentenceOf } from '../../api/sentence.ts';
import type { Draft } from './program-draft.ts';

/** Ambiguous fields that cannot be sent; the API validates all others. */
export class WrongFields extends Error {
  override name = 'WrongFields';
  /** Messages by API field. */
  readonly messages: ReadonlyMap<string, string>;

  constructor(messages: ReadonlyMap<string, string>) {
    super(`wrong: ${[...messages.keys()].join(', ')}`);
    this.messages = messages;
  }
}

/** The error of the field that the API calls `path`, or null. */
export function wrongWith(error: unknown, path: string): string | null {
  if (error instanceof WrongFields) return error.messages.get(path) ?? null;
  return fieldError(error, path);
}

/** The message of a failure above the form. */
export function failureText(error: unknown, { credit_enabled, levels }: Draft): string {
  const details = detailsOf(error);
  if (details.length === 0) return sentenceOf(error);
  const hidden = details.filter(({ path }) => {
    const [name = '', index] = path.split('.');
    if (name === 'levels') return !(Number(index) < levels.length);
    if (name === 'link_parameters') return false;
    return !(SHOWN.has(path) || (credit_enabled && SHOWN_OF_CREDITS.has(path)));
  });
  if (hidden.length === 0) return details.length === 1 ? AT_A_FIELD : AT_FIELDS;
  return hidden.map(({ path, message }) => `${path}: ${message}`).join('; ');
}

function detailsOf(error: unknown): readonly FailureDetail[] {
  if (error instanceof WrongFields) return [...error.messages].map(([path, message]) => ({ path, message }));
  return error instanceof ApiFailure ? error.details : [];
}

const AT_A_FIELD = 'One field is invalid. See the message below it.';
const AT_FIELDS = 'Some fields are invalid. See the messages below them.';

/** Form fields that can show an error, by API name. */
const SHOWN = new Set([
  'name',
  'destination_url',
  'code',
  'commission_rate',
  'commission_months',
  'hold_days',
  'currency',
  'min_payout',
  'payout_methods',
  'max_signups_per_day',
  'link_parameters',
]);
const SHOWN_OF_CREDITS = new Set([
  'credit_kind',
  'signup_credit.free',
  'signup_credit.paid',
  'purchase_credit',
  'referee_credit',
]);
