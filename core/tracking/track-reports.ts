import { badRequest } from '../errors.ts';
import { uuidToBytes } from '../ids.ts';
import { AMOUNT_LIMIT, MoneyError, toMajor, toMinor } from '../money/money.ts';
import { isEmail, normalizeEmail } from './emails.ts';

/** Most visitor ids of one browser in a report: the newest, and seven before it. */
export const VISITOR_IDS_LIMIT = 8;

/** One visitor id, or those of one browser, newest first. */
export type VisitorIds = string | readonly string[] | null;

/** The visitor of a request: `visitor_id` and `_vid` are one name. */
export type VisitorRequest<T = VisitorIds> = { visitor_id?: T | undefined; _vid?: T | undefined };

/** The person in a body of `/track/*` or `/collect`. */
export type PersonRequest = VisitorRequest & {
  /** Ids of the same browser, newest first. */
  visitor_ids?: readonly string[] | null;
  email?: string | null;
  external_user_id?: string | null;
};

export type Person = {
  visitorId: Uint8Array | null;
  /** Earlier ids of the same browser, newest first. */
  otherVisitorIds: Uint8Array[];
  email: string | null;
  externalUserId: string | null;
};

/** Returns the distinct ids of fields that are one id or a list, in lower case, newest first. */
export function visitorIdsOf(...fields: (string | readonly string[] | null | undefined)[]): string[] {
  return [...new Set(fields.flatMap((field) => field ?? []).map((id) => id.toLowerCase()))];
}

/**
 * Returns the visitor of a request by either name. Undefined: neither was given.
 *
 * @throws {AppError} `bad_request` when both are given and name different visitors
 */
export function requestedVisitor<T extends VisitorIds>({
  visitor_id: one,
  _vid: other,
}: VisitorRequest<T>): T | undefined {
  // Null means that there is none; it differs from a field that is left out.
  if (one === undefined || one === null) return other === undefined ? one : other;
  if (other === undefined || other === null) return one;
  if (visitorIdsOf(one).join() !== visitorIdsOf(other).join()) {
    throw badRequest('_vid', 'must be equal to `visitor_id`: they are two names of one field');
  }
  return one;
}

/**
 * Returns the person of a request. @throws {AppError} `bad_request` when it names no person or the email is malformed
 */
export function readPerson(request: PersonRequest): Person {
  const { email, external_user_id: user } = request;
  if (visitorIdsOf(requestedVisitor(request), request.visitor_ids).length === 0 && !email && !user) {
    throw badRequest('visitor_id', 'is required, or `email` or `external_user_id` instead');
  }
  return readOptionalPerson(request);
}

/**
 * Returns the person of a request that may name none; all of it is then null.
 *
 * @throws {AppError} `bad_request` when the email is malformed
 */
export function readOptionalPerson(request: PersonRequest): Person {
  const { email, external_user_id: user } = request;
  const [visitor, ...others] = visitorIdsOf(requestedVisitor(request), request.visitor_ids);
  if (email && !isEmail(email)) throw badRequest('email', 'must be an email address');
  return {
    visitorId: visitor ? uuidToBytes(visitor) : null,
    otherVisitorIds: others.slice(0, VISITOR_IDS_LIMIT - 1).map(uuidToBytes),
    email: email ? normalizeEmail(email) : null,
    externalUserId: user ?? null,
  };
}

/**
 * Converts an amount in major units to minor units of its currency.
 *
 * @param path name of the field
 * @throws {AppError} `bad_request` when the currency is unknown, or the amount finer than its minor unit or larger
 *   than {@link AMOUNT_LIMIT}
 */
function readAmount(
  amount: number,
  currency: string,
  path = 'amount',
): { amountMinor: number; currency: string } {
  try {
    const amountMinor = toMinor(amount, currency);
    if (amountMinor <= AMOUNT_LIMIT) return { amountMinor, currency: currency.toLowerCase() };
  } catch (error) {
    if (!(error instanceof MoneyError)) throw error;
    if (error.problem === 'unknown_currency') throw badRequest('currency', 'must be an ISO 4217 code');
    // Beyond the range of numbers is beyond the limit.
    if (error.problem !== 'out_of_range')
      throw badRequest(path, `must be an amount of money: ${error.message}`);
  }
  throw badRequest(path, `must be at most ${toMajor(AMOUNT_LIMIT, currency)} ${currency}`);
}

/**
 * Returns the amounts of a sale in minor units.
 *
 * @throws {AppError} `bad_request` when one is not an amount of the currency, or its commissionable part exceeds it
 */
export function readSaleAmounts(body: {
  amount: number;
  currency?: string | undefined;
  commissionable_amount?: number | null | undefined;
}): { amountMinor: number; commissionableMinor: number; currency: string } {
  const all = readAmount(body.amount, body.currency ?? 'usd');
  const part = body.commissionable_amount ?? null;
  if (part === null) return { ...all, commissionableMinor: all.amountMinor };
  const { amountMinor: commissionableMinor } = readAmount(part, all.currency, 'commissionable_amount');
  if (commissionableMinor > all.amountMinor)
    throw badRequest('commissionable_amount', 'must be at most `amount`');
  return { ...all, commissionableMinor };
}
