import { AppError, badRequest } from '../../core/errors.ts';
import type { Slice } from '../../core/tier/time-slices.ts';
import type { PoolClient } from '../../sql/database/pool.ts';
import { toRecord } from '../../sql/links/link-record.ts';
import type { FastifyRequest } from '../dependencies.ts';
import { UnstorableRow } from '../input/body.ts';
import type { BodyCheck } from '../input/validation.ts';
import { envelope } from '../plugins/errors.ts';
import { type BulkRow, createEach, holdSlugsOf } from './create-each.ts';
import { type CreateRules, readCreateRequest, withoutIgnored } from './create-request.ts';
import type { CreateBody } from './schemas.ts';

/** The outcome of one row: the status and body of `POST /links`. */
export type RowResult = { index: number; status: number; body: unknown };

/** Concurrent password hashes: one per libuv thread would starve all other work of the pool. */
const ROWS_AT_A_TIME = 2;

/** Maximum number of links of one call, over all rows: their response is serialized in one step. */
const MOST_LINKS = 2_000;

/** Validates each row as `POST /links` does, before a transaction is open, and a few rows in each slice of time. */
export async function readBulkRows(
  rows: unknown[],
  check: BodyCheck,
  rules: CreateRules,
  slice: Slice,
  readOne = readRow,
): Promise<BulkRow[]> {
  const read: BulkRow[] = [];
  let links = 0;
  for (let from = 0; from < rows.length; from += ROWS_AT_A_TIME) {
    await slice();
    const some = rows.slice(from, from + ROWS_AT_A_TIME);
    for (const row of await Promise.all(some.map((given) => readOne(given, check, rules)))) {
      links += row instanceof AppError ? 0 : row.channels.length;
      read.push(links > MOST_LINKS ? tooManyLinks() : row);
    }
  }
  return read;
}

const tooManyLinks = () =>
  badRequest('channels', `must make at most ${MOST_LINKS} links in one call; send the row in another call`);

/** Validates a row as `POST /links` does. */
export async function readRow(given: unknown, check: BodyCheck, rules: CreateRules): Promise<BulkRow> {
  if (given instanceof UnstorableRow) {
    return badRequest(given.problem.path || 'body', given.problem.message);
  }
  const row = withoutIgnored(given);
  const wrong = check(row);
  if (wrong) return wrong;
  try {
    return await readCreateRequest(row as CreateBody, rules);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

/** {@link createEach} with the outcomes as the API sends them. */
export async function createInBulk(
  tx: PoolClient,
  request: FastifyRequest,
  rows: BulkRow[],
  shortUrl: string,
): Promise<RowResult[]> {
  const workspaceId = request.auth.workspace.id;
  await holdSlugsOf(tx, workspaceId, rows);
  const outcomes = await createEach(tx, workspaceId, rows);
  return outcomes.map((outcome, index) => {
    if (outcome instanceof AppError) {
      return { index, status: outcome.status, body: envelope(outcome, request) };
    }
    const links = outcome.links.map((link) => toRecord(link, shortUrl));
    return {
      index,
      status: outcome.made ? 201 : 200,
      body: { destination_id: outcome.destinationId, links },
    };
  });
}
