import { AppError, badRequest } from '../../core/errors.ts';
import type { PoolClient } from '../../sql/database/pool.ts';
import type { FastifyRequest } from '../dependencies.ts';
import { UnstorableRow } from '../plugins/body.ts';
import { envelope } from '../plugins/errors.ts';
import type { BodyCheck } from '../plugins/validation.ts';
import { type BulkRow, createEach, holdSlugsOf } from './create-each.ts';
import { readCreateRequest, withoutIgnored } from './create-request.ts';
import { toRecord } from './record.ts';
import type { CreateBody } from './schemas.ts';

/** The outcome of one row: the status and body of `POST /links`. */
export type RowResult = { index: number; status: number; body: unknown };

/** Concurrent password hashes: one per libuv thread would starve all other work of the pool. */
const ROWS_AT_A_TIME = 2;

/** Validates each row as `POST /links` does, before a transaction is open. */
export async function readBulkRows(
  rows: unknown[],
  check: BodyCheck,
  rules: { shortUrl: string },
): Promise<BulkRow[]> {
  const read: BulkRow[] = [];
  for (let from = 0; from < rows.length; from += ROWS_AT_A_TIME) {
    const some = rows.slice(from, from + ROWS_AT_A_TIME);
    read.push(...(await Promise.all(some.map((row) => readRow(row, check, rules)))));
  }
  return read;
}

async function readRow(given: unknown, check: BodyCheck, rules: { shortUrl: string }): Promise<BulkRow> {
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
      return { index, status: outcome.status, body: envelope(outcome, request.id) };
    }
    const links = outcome.links.map((link) => toRecord(link, shortUrl));
    return {
      index,
      status: outcome.made ? 201 : 200,
      body: { destination_id: outcome.destinationId, links },
    };
  });
}
