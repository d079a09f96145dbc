import { checkQuery } from '../../analytics/answer-query.ts';
import { badRequest } from '../../core/errors.ts';
import { badFields, faultsOf } from '../../core/faults.ts';
import type { Auth } from '../dependencies.ts';
import { bodyCheck } from '../input/validation.ts';
import { CheckedView, QUERY_LIMIT } from './schemas.ts';

const checkView = bodyCheck(CheckedView);

/**
 * Validates the query of a view that is stored as it was sent.
 *
 * @returns a copy of it as it was sent: the check sets defaults in `given`
 * @throws {AppError} `bad_request` that names the field of the query
 */
export function requireViewQuery(
  given: Record<string, unknown>,
  workspace: Auth['workspace'],
): Record<string, unknown> {
  if (Buffer.byteLength(JSON.stringify(given)) > QUERY_LIMIT) {
    throw badRequest('query', `must be at most ${QUERY_LIMIT} bytes serialized`);
  }
  const sent = structuredClone(given);
  const view = { query: given };
  const refusal = checkView(view);
  if (refusal !== null) throw refusal;
  const { query } = view as CheckedView;
  try {
    checkQuery({ ...query, metrics: query.metrics ?? [] }, workspace);
  } catch (error) {
    const faults = faultsOf(error);
    if (faults === null) throw error;
    throw badFields(faults.map((fault) => ({ ...fault, path: `query.${fault.path}` })));
  }
  return sent;
}
