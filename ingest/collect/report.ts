import type { AppError } from '../../core/errors.ts';
import type { IdentifyEvent, OrderEvent, Unstamped } from '../../core/events/types.ts';
import { badFields } from '../../core/faults.ts';
import { isUuid } from '../../core/ids.ts';
import { AMOUNT_LIMIT, isCurrency, MoneyError, roundToMinor, toMinor } from '../../core/money/money.ts';
import { nearestName } from '../../core/text/near-names.ts';
import { unstorableText } from '../../core/text/storable.ts';
import { isVisible } from '../../core/text/visible.ts';
import { isEmail } from '../../core/tracking/emails.ts';
import {
  exampleOf,
  type FoundProblem,
  REPORT_PROBLEMS,
  type ReportProblem,
} from '../../core/tracking/report-problems.ts';
import {
  readOptionalPerson,
  requestedVisitor,
  VISITOR_IDS_LIMIT,
  visitorIdsOf,
} from '../../core/tracking/track-reports.ts';

/** Fields of a parsed JSON object. */
export type ReportBody = Readonly<Record<string, unknown>>;

export type ReportEvent = Unstamped<IdentifyEvent> | Unstamped<OrderEvent>;

/** `event` is null for a test of the installation, which records nothing. */
export type Report = { event: ReportEvent | null; corrected: FoundProblem[] };

/** Thrown for a report that can't be recorded. */
export class ReportRefused extends Error {
  readonly found: FoundProblem;
  /** The field as the page calls it. */
  readonly sent: string;
  /** This and the other refusals of the report, in the order of its fields. */
  all: readonly ReportRefused[] = [this];
  /** Corrections made before the refusal; one of them may be its cause. */
  readonly corrected: readonly FoundProblem[];

  constructor(
    problem: ReportProblem,
    field: string,
    value: unknown,
    corrected: readonly FoundProblem[],
    sent = field,
  ) {
    super(`\`${field}\` ${REPORT_PROBLEMS[problem].text}`);
    this.name = 'ReportRefused';
    this.sent = sent;
    this.corrected = corrected;
    this.found = { problem, field, example: value === undefined ? null : exampleOf(field, value) };
  }
}

/** Most characters of an id. Counted in code points, as the API's schemas do. */
const ID_LIMIT = 200;
/** Fields whose misspelled names are refused: without them an order counts for no link, person, or amount. */
const NAMED = {
  identify: ['visitor_id', 'email', 'external_user_id'],
  order: ['visitor_id', 'email', 'external_user_id', 'order_id', 'amount', 'currency'],
} as const;
/** Other fields of a report. */
const OTHERS = new Set(['key', 'type', '_vid', 'visitor_ids', 'landed', 'test']);
/** Most unknown fields whose names are compared. */
const MOST_UNKNOWN = 20;
const DECIMAL = /^\d{1,30}(\.\d{1,30})?$/;
/** Currency of an order whose own is unknown; such an order has no amount. */
const NO_CURRENCY = 'usd';

/**
 * Reads a report of the pixel, and corrects what a page may get wrong: an order with one field missing is better than
 * no order. Unknown fields are ignored, but not a misspelled one. An order without a person, as under Global Privacy
 * Control, counts as a conversion without a link.
 *
 * @throws {ReportRefused} when the report can't be recorded
 */
export function readReport(body: ReportBody, workspaceId: Uint8Array): Report {
  const now = Date.now();
  const corrected: FoundProblem[] = [];
  const correct = (problem: ReportProblem, field: string, value: unknown): null => {
    corrected.push({ problem, field, example: exampleOf(field, value) });
    return null;
  };

  const refuse = (problem: ReportProblem, field: string, value: unknown) =>
    new ReportRefused(problem, field, value, corrected);

  /** Returns the value as text, or null when there is none. `undefined`: it can't be one. */
  function idOf(field: string): string | null | undefined {
    const value = body[field];
    if (value === undefined || value === null) return null;
    if (typeof value === 'number' && Number.isFinite(value)) {
      correct('id_number', field, value);
      return String(value);
    }
    if (typeof value !== 'string') return undefined;
    if (!isVisible(value)) return correct('text_empty', field, value);
    const isText = [...value].length <= ID_LIMIT && unstorableText(value) === null;
    return isText ? value : undefined;
  }

  function textOf(field: string): string | null {
    const value = body[field];
    if (value === undefined || value === null) return null;
    const text = typeof value === 'string' ? value.trim() : '?';
    return text === '' ? correct('text_empty', field, value) : text;
  }

  function person() {
    const visitor = requestedVisitor({ visitor_id: listed(body.visitor_id), _vid: listed(body._vid) });
    const visitors = visitorIdsOf(visitor, listed(body.visitor_ids) ?? []);
    const known = visitors.filter(
      (id) => isUuid(id) || correct('visitor_id_invalid', 'visitor_id', id) !== null,
    );
    const email = textOf('email');
    const isAddress = email !== null && isEmail(email) && unstorableText(email) === null;
    if (email !== null && !isAddress) correct('email_invalid', 'email', body.email);
    const user = idOf('external_user_id');
    if (user === undefined) correct('user_id_invalid', 'external_user_id', body.external_user_id);
    const visitorIds = known.slice(0, VISITOR_IDS_LIMIT);
    const reported = readOptionalPerson({
      visitor_ids: visitorIds,
      email: isAddress ? email : null,
      external_user_id: user ?? null,
    });
    const landedAt = visitorIds.map((id) => landedAtOf(body.landed, id, now));
    return landedAt.some((at) => at > 0) ? { ...reported, landedAt } : reported;
  }

  function amount(): Pick<OrderEvent, 'amountMinor' | 'currency'> {
    const given = body.amount;
    if (given === undefined || given === null) throw refuse('amount_missing', 'amount', undefined);
    const decimal = typeof given === 'string' ? given.trim() : given;
    const isAmount =
      typeof decimal === 'number'
        ? Number.isFinite(decimal) && decimal >= 0
        : typeof decimal === 'string' && DECIMAL.test(decimal);
    if (!isAmount || (typeof decimal !== 'number' && typeof decimal !== 'string'))
      throw refuse('amount_invalid', 'amount', given);
    const currency = (textOf('currency') ?? NO_CURRENCY).toLowerCase();
    if (!isCurrency(currency)) {
      correct('currency_unknown', 'currency', body.currency);
      return { amountMinor: 0, currency: NO_CURRENCY };
    }
    if (typeof decimal === 'string') correct('amount_text', 'amount', given);
    const minor = roundedMinor(decimal, currency);
    if (minor === null || minor > AMOUNT_LIMIT) throw refuse('amount_too_large', 'amount', given);
    if (isFinerThanMinor(Number(decimal), currency)) correct('amount_rounded', 'amount', given);
    return { amountMinor: minor, currency };
  }

  const { type } = body;
  if (type === 'test') return { event: null, corrected };
  if (type !== 'identify' && type !== 'order') throw refuse('type_unknown', 'type', type);
  const slips = misspelled(body, NAMED[type]);
  const meant = new Set(slips.map(({ near }) => near));
  const refused = slips.map(
    ({ near, sent }) => new ReportRefused('name_misspelled', near, undefined, corrected, sent),
  );
  /** Reads a part, and notes its refusal. A field whose name is misspelled is not missing too. */
  function part<T>(read: () => T): T | null {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ReportRefused)) throw error;
      if (!meant.has(error.found.field)) refused.push(error);
      return null;
    }
  }
  const event = type === 'identify' ? identifyOf(part) : orderOf(part);
  const [first] = refused;
  if (first) {
    first.all = refused;
    throw first;
  }
  if (event === null) throw new Error('a report without a refusal has no event');
  return { event, corrected };

  function identifyOf(part: Part): Unstamped<IdentifyEvent> | null {
    const who = person();
    return part(() => {
      if (!who.visitorId && !who.email && !who.externalUserId && meant.size === 0)
        throw refuse('names_no_one', 'visitor_id', undefined);
      return { kind: 'identify', workspaceId, ...who, source: 'pixel' };
    });
  }

  function orderOf(part: Part): Unstamped<OrderEvent> | null {
    const orderId = part(() => {
      const id = idOf('order_id');
      if (id === undefined) throw refuse('order_id_invalid', 'order_id', body.order_id);
      if (id === null) throw refuse('order_id_missing', 'order_id', undefined);
      return id;
    });
    const paid = part(amount);
    const who = person();
    if (orderId === null || paid === null) return null;
    const fixed = { commissionableMinor: null, isRenewal: false, source: 'pixel' } as const;
    return { kind: 'order', workspaceId, orderId, ...paid, ...fixed, ...who };
  }
}

/** Reads a part of a report; null: refused. */
type Part = <T>(read: () => T) => T | null;

/** Returns the fields of a report that are ignored. */
export function ignoredFields(body: ReportBody): string[] {
  if (body.type !== 'identify' && body.type !== 'order') return [];
  const named: readonly string[] = NAMED[body.type];
  return Object.keys(body).filter((name) => !named.includes(name) && !OTHERS.has(name));
}

/** Returns the fields whose names are slips of ones that the report lacks, as the API finds them in its bodies. */
function misspelled(body: ReportBody, named: readonly string[]): { sent: string; near: string }[] {
  // Both are one name.
  const has = (name: string) =>
    Object.hasOwn(body, name) || (name === 'visitor_id' && Object.hasOwn(body, '_vid'));
  const absent = named.filter((name) => !has(name));
  return ignoredFields(body)
    .slice(0, MOST_UNKNOWN)
    .flatMap((sent) => {
      const near = nearestName(sent, absent);
      return near === null ? [] : [{ sent, near }];
    });
}

/** Returns the response to a refused report. It names every fault. */
export const badReport = ({ all }: ReportRefused): AppError =>
  badFields(
    all.map(({ found, sent }) =>
      found.problem === 'name_misspelled'
        ? { path: sent, message: 'is not a field of this body', hint: `did you mean \`${found.field}\`?` }
        : { path: found.field, message: REPORT_PROBLEMS[found.problem].text },
    ),
  );

/** Maximum age of an id that a browser reports: two years. An older one is not believed. Seconds. */
const OLDEST_LANDING = 63_072_000;

/**
 * Returns when the browser got an id, in microseconds; 0: unknown. A page says how long ago: clocks of browsers are
 * wrong too often.
 */
function landedAtOf(ages: unknown, id: string, now: number): number {
  if (typeof ages !== 'object' || ages === null || !Object.hasOwn(ages, id)) return 0;
  const age = (ages as Record<string, unknown>)[id];
  const isAge = typeof age === 'number' && age >= 0 && age <= OLDEST_LANDING;
  return isAge ? (now - Math.round(age * 1_000)) * 1_000 : 0;
}

/** Ids of a page are not typed: a list, one text, or something else. */
function listed(value: unknown): string[] | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  return (Array.isArray(value) ? value.slice(0, 4 * VISITOR_IDS_LIMIT) : [value]).map(String);
}

/** @returns null beyond the range of amounts */
function roundedMinor(amount: number | string, currency: string): number | null {
  try {
    return roundToMinor(amount, currency);
  } catch (error) {
    if (error instanceof MoneyError && error.problem === 'out_of_range') return null;
    throw error;
  }
}

function isFinerThanMinor(amount: number, currency: string): boolean {
  try {
    toMinor(amount, currency);
    return false;
  } catch (error) {
    if (error instanceof MoneyError) return error.problem === 'too_many_decimals';
    throw error;
  }
}
