import { badRequest } from '../../core/errors.ts';
import type { IdentifyEvent, OrderEvent, Unstamped } from '../../core/events/types.ts';
import { isUuid } from '../../core/ids.ts';
import { readAmount, readOptionalPerson, readPerson } from '../../core/tracking/track-reports.ts';

/** Fields of a parsed JSON object. */
export type ReportBody = Readonly<Record<string, unknown>>;

const TEXT_LIMIT = 200;
const EMAIL_TEXT_LIMIT = 354;

/**
 * Validates a report of the pixel. Unknown fields are ignored, and no value is coerced. An order may name no person,
 * as under Global Privacy Control: it counts as a conversion without a link.
 *
 * @throws {AppError} `bad_request` that names the field
 */
export function readReport(
  body: ReportBody,
  workspaceId: Uint8Array,
): Unstamped<IdentifyEvent> | Unstamped<OrderEvent> {
  const { type } = body;
  if (type !== 'identify' && type !== 'order') throw badRequest('type', 'must be "identify" or "order"');
  const visitor = optionalText(body, 'visitor_id', TEXT_LIMIT);
  if (visitor !== null && !isUuid(visitor)) throw badRequest('visitor_id', 'must be a UUID');
  const person = {
    visitor_id: visitor,
    email: optionalText(body, 'email', EMAIL_TEXT_LIMIT),
    external_user_id: optionalText(body, 'external_user_id', TEXT_LIMIT),
  };
  if (type === 'identify') return { kind: 'identify', workspaceId, ...readPerson(person), source: 'pixel' };
  const orderId = optionalText(body, 'order_id', TEXT_LIMIT);
  if (orderId === null) throw badRequest('order_id', 'is required');
  const { amount } = body;
  if (typeof amount !== 'number' || amount < 0) throw badRequest('amount', 'must be a number of at least 0');
  const currency = optionalText(body, 'currency', TEXT_LIMIT) ?? 'usd';
  return {
    kind: 'order',
    workspaceId,
    orderId,
    ...readAmount(amount, currency),
    commissionableMinor: null,
    isRenewal: false,
    ...readOptionalPerson(person),
    source: 'pixel',
  };
}

function optionalText(body: ReportBody, field: string, limit: number): string | null {
  const value = body[field];
  if (value === undefined || value === null) return null;
  // Counted in code points, as the API's schemas do.
  if (typeof value !== 'string' || value === '' || [...value].length > limit) {
    throw badRequest(field, `must be a string of 1 to ${limit} characters`);
  }
  // PostgreSQL can store neither NUL nor lone surrogates.
  if (value.includes('\0') || !value.isWellFormed())
    throw badRequest(field, 'must be Unicode text without NUL');
  return value;
}
