import { badRequest } from '../core/errors.ts';
import { isUuid } from '../core/ids.ts';

/** Maximum ids in one parameter: about 20 KB of query. */
const ID_LIST_LIMIT = 500;

/**
 * Parses comma-separated UUIDs to distinct ids in lower case.
 *
 * @param path name of the parameter
 * @throws {AppError} `bad_request` when one is malformed (an empty list has one empty id) or there are too many
 */
export function readIdList(path: string, text: string): string[] {
  const ids = text.split(',', ID_LIST_LIMIT + 1);
  if (ids.length > ID_LIST_LIMIT) throw badRequest(path, `must have at most ${ID_LIST_LIMIT} ids`);
  const malformed = ids.find((id) => !isUuid(id));
  if (malformed !== undefined) {
    throw badRequest(
      path,
      `must be a comma-separated list of UUIDs, not ${JSON.stringify(malformed.slice(0, 60))}`,
    );
  }
  return [...new Set(ids.map((id) => id.toLowerCase()))];
}
