import { badRequest } from '../errors.ts';
import { checkAll, readAll } from '../faults.ts';
import { uuidToBytes } from '../ids.ts';
import { AMOUNT_LIMIT, isCurrency, MoneyError, toMajor, toMinor } from '../money/money.ts';
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

const PERSON_FIELDS = ['visitor_id', '_vid', 'visitor_ids', 'email', 'external_user_id'] as const;

/**
 * Returns the person of a request.
 *
 * @param faulty fields that are left out because of a fault; one of them may name the person
 * @throws {AppError} `bad_request` that names every fault, also when the request names no person
 */
export function readPerson(request: PersonRequest, faulty: ReadonlySet<string> = new Set()): Person {
  const mayBeNamed = PERSON_FIELDS.some((name) => faulty.has(name));
  if (!mayBeNamed && PERSON_FIELDS.every((name) => visitorIdsOf(request[name]).length === 0)) {
    throw badRequest('visitor_id', 'is required, or `email` or `external_user_id` instead');
  }
  return readOptionalPerson(request);
}

/**
 * Returns the person of a request that may name none; all of it is then null.
 *
 * @throws {AppError} `bad_request` that names every fault
 */
export function readOptionalPerson(request: PersonRequest): Person {
  const { email, external_user_id: user } = request;
  const { requested } = readAll({
    requested: () => requestedVisitor(request),
    email() {
      if (email && !isEmail(email)) throw badRequest('email', 'must be an email address');
    },
  });
  const [visitor, ...others] = visitorIdsOf(requested, request.visitor_ids);
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
 * @throws {AppError} `bad_request` when the amount is finer than the minor unit of its currency or larger than
 *   {@link AMOUNT_LIMIT}
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
    // Beyond the range of numbers is beyond the limit.
    if (error.problem !== 'out_of_range')
      throw badRequest(path, `must be an amount of money: ${error.message}`);
  }
  throw badRequest(path, `must be at most ${toMajor(AMOUNT_LIMIT, currency)} ${currency}`);
}

/** The amounts in a body of a sale. */
export type SaleRequest = {
  amount: number;
  currency?: string | undefined;
  commissionable_amount?: number | null | undefined;
};

/**
 * Returns the amounts of a sale in minor units.
 *
 * @throws {AppError} `bad_request` that names every fault: one is not an amount of the currency, or the commissionable
 *   part exceeds the whole
 */
export function readSaleAmounts({ amount, currency = 'usd', commissionable_amount }: SaleRequest): {
  amountMinor: number;
  commissionableMinor: number;
  currency: string;
} {
  if (!isCurrency(currency)) throw badRequest('currency', 'must be an ISO 4217 code');
  const { all, part } = readAll({
    all: () => readAmount(amount, currency),
    part: () =>
      (commissionable_amount ?? null) !== null &&
      readAmount(commissionable_amount ?? 0, currency, 'commissionable_amount'),
  });
  if (!part) return { ...all, commissionableMinor: all.amountMinor };
  if (part.amountMinor > all.amountMinor)
    throw badRequest('commissionable_amount', 'must be at most `amount`');
  return { ...all, commissionableMinor: part.amountMinor };
}

/**
 * Checks the amounts of a sale that its schema accepted.
 *
 * @param faulty fields that are left out because of a fault
 * @throws {AppError} as {@link readSaleAmounts}
 */
export function checkSaleAmounts(body: Partial<SaleRequest>, faulty: ReadonlySet<string>): void {
  // Without its currency no amount is wrong.
  if (faulty.has('currency')) return;
  readSaleAmounts({ ...body, amount: body.amount ?? body.commissionable_amount ?? 0 });
}

/** Checks an order: its person and its amounts. @throws {AppError} `bad_request` that names every fault */
export function checkOrder(body: Partial<SaleRequest> & PersonRequest, faulty: ReadonlySet<string>): void {
  checkAll([() => checkSaleAmounts(body, faulty), () => readPerson(body, faulty)]);
}
