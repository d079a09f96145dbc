import { ApiFailure } from '../../api/failures.ts';
import { sentenceOf } from '../../api/sentence.ts';
import type { Draft } from './program-draft.ts';

/**
 * Returns a failure about ambiguous fields that can't be sent, in the form of the API's errors. The API validates all
 * other fields.
 *
 * @param messages by API field
 */
export function wrongFields(messages: ReadonlyMap<string, string>): ApiFailure {
  const details = [...messages].map(([path, message]) => ({ path, message }));
  const paths = details.map(({ path }) => path).join(', ');
  return new ApiFailure(422, { code: 'bad_request', message: `wrong: ${paths}`, details });
}

/** The message of a failure above the form. */
export function failureText(error: unknown, { credit_enabled, levels }: Draft): string {
  const details = error instanceof ApiFailure ? error.details : [];
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
