/**
 * Reasons to correct or refuse the pixel's reports. Stored by these names: one is never reused. `text` continues the
 * name of the field.
 */
export const REPORT_PROBLEMS = {
  amount_missing: { outcome: 'refused', text: 'is required' },
  amount_invalid: {
    outcome: 'refused',
    text: 'must be a number of at least 0, or decimal text with a point, such as 49.90',
  },
  amount_too_large: { outcome: 'refused', text: 'must be at most 10^12 minor units' },
  order_id_missing: { outcome: 'refused', text: 'is required' },
  order_id_invalid: { outcome: 'refused', text: 'must be text of 1 to 200 characters, or a number' },
  names_no_one: {
    outcome: 'refused',
    text: 'or `email` or `external_user_id` is required: the call names no one, and the visitor came through no link',
  },
  name_misspelled: {
    outcome: 'refused',
    text: 'is missing, and the report has a field with almost this name',
  },
  type_unknown: { outcome: 'refused', text: 'must be "identify" or "order"' },
  amount_rounded: { outcome: 'corrected', text: 'was rounded to the minor unit of its currency' },
  amount_text: { outcome: 'corrected', text: 'came as text and was read as a number' },
  currency_unknown: {
    outcome: 'corrected',
    text: 'is not an ISO 4217 code: the order counts as a conversion without revenue',
  },
  email_invalid: { outcome: 'corrected', text: 'is not an email address and was left out' },
  user_id_invalid: {
    outcome: 'corrected',
    text: 'is neither text of 1 to 200 characters nor a number, and was left out',
  },
  visitor_id_invalid: { outcome: 'corrected', text: 'is not a UUID and was left out' },
  id_number: { outcome: 'corrected', text: 'came as a number and was read as text' },
  text_empty: { outcome: 'corrected', text: 'was empty and was left out' },
} as const satisfies Record<string, { outcome: 'refused' | 'corrected'; text: string }>;

export type ReportProblem = keyof typeof REPORT_PROBLEMS;

/** One problem of a report. `example` shows the value without personal data; null: there is nothing to show. */
export type FoundProblem = { problem: ReportProblem; field: string; example: string | null };

/** Longest text that an example shows. */
const SHOWN = 24;

/** Fields that identify no person: their values are shown. */
const SHOWN_FIELDS = new Set(['amount', 'currency', 'order_id', 'type']);

/**
 * Returns a value of the page for an example. Amounts and codes are shown; any other value may identify a person, so
 * only its kind and length are.
 */
export function exampleOf(field: string, value: unknown): string {
  const isShown = SHOWN_FIELDS.has(field);
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) {
    return isShown ? String(value) : `a ${typeof value}`;
  }
  if (typeof value === 'string') {
    const isAmount = value.length <= SHOWN && /\d/.test(value) && /^[\d\s.,+\-€$£¥]*$/.test(value);
    const isCode = /^\s?[A-Za-z€$£¥]{0,4}\s?$/.test(value);
    return isShown && (isAmount || isCode)
      ? JSON.stringify(value)
      : `text of ${[...value].length} characters`;
  }
  return Array.isArray(value) ? `a list of ${value.length}` : `an ${typeof value}`;
}
