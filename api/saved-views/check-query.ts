import { checkQuery } from '../../analytics/answer-query.ts';
import { badRequest, checkWithin } from '../../core/errors.ts';
import type { Auth } from '../dependencies.ts';
import { bodyCheck } from '../input/validation.ts';
import { CheckedView, QUERY_LIMIT } from './schemas.ts';

const checkView = bodyCheck(CheckedView);
const FIELD = 'query';
/** Checked queries as they were sent: a request's body is checked before its handler, and by it. */
const asSent = new WeakMap<object, Record<string, unknown>>();

/**
 * Validates the query of a view that is stored as it was sent, and returns it so.
 *
 * @throws {AppError} `bad_request` that names every fault of the query
 */
export function requireViewQuery(
  given: Record<string, unknown>,
  workspace: Auth['workspace'],
): Record<string, unknown> {
  if (Buffer.byteLength(JSON.stringify(given)) > QUERY_LIMIT) {
    throw badRequest(FIELD, `must be at most ${QUERY_LIMIT} bytes serialized`);
  }
  const known = asSent.get(given);
  if (known) return known;
  // The check sets defaults in what it is given.
  const sent = structuredClone(given);
  const view = { [FIELD]: given };
  const check = ({ query }: { query?: Partial<CheckedView['query']> }, faulty: ReadonlySet<string>) =>
    checkWithin(FIELD, () => checkQuery(query ?? {}, workspace, namesWithin(faulty)));
  const refusal = checkView(view, { check, within: FIELD });
  if (refusal !== null) throw refusal;
  check(view as CheckedView, new Set());
  asSent.set(given, sent);
  return sent;
}

/** Returns the fields of the query among fields of the body. */
const namesWithin = (names: ReadonlySet<string>): Set<string> =>
  new Set([...names].flatMap((name) => (name.startsWith(`${FIELD}.`) ? name.slice(FIELD.length + 1) : [])));
