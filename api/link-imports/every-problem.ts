import { AppError, type ErrorDetail } from '../../core/errors.ts';
import type { BulkRow } from '../links/create-each.ts';

/** Problems of a row that are looked for. */
const MOST = 20;

/** Valid values of fields that a create may require, in place of missing or wrong ones. */
const PLACEHOLDERS: Readonly<Record<string, unknown>> = {
  destination_url: 'https://shop.example/',
  name: 'name',
  channel: 'other',
};

/**
 * Reads a row, and names all of its problems at once: a create stops at the first one, so each wrong field is replaced
 * and the row is read again.
 *
 * @param read validates a create body
 */
export async function readWithEveryProblem(
  row: Record<string, unknown>,
  read: (body: Record<string, unknown>) => Promise<BulkRow>,
): Promise<BulkRow> {
  // Validation drops unknown fields in the body itself.
  const whole = { ...row };
  const first = await read(row);
  const details: ErrorDetail[] = [];
  let rest = whole;
  let outcome = first;
  while (outcome instanceof AppError && details.length < MOST) {
    const [detail] = outcome.details ?? [];
    if (detail === undefined) break;
    details.push(detail);
    const [field = ''] = detail.path.split('.', 1);
    const corrected = withoutProblem(rest, field);
    if (corrected === null) break;
    rest = corrected;
    outcome = await read({ ...rest });
  }
  return first instanceof AppError && details.length > 1
    ? new AppError(first.code, first.message, details)
    : first;
}

/** Returns the body with a valid field, or without the field; null when the body already was so. */
function withoutProblem(body: Record<string, unknown>, field: string): Record<string, unknown> | null {
  const placeholder = PLACEHOLDERS[field];
  if (placeholder !== undefined && body[field] !== placeholder) return { ...body, [field]: placeholder };
  if (!(field in body)) return null;
  const { [field]: _, ...others } = body;
  return others;
}
