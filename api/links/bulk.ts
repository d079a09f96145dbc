import { AppError, badRequest } from '../../core/errors.ts';
import type { PoolClient } from '../../sql/pool.ts';
import { holdSlugs } from '../../sql/slugs.ts';
import { lockWorkspace, type Workspace } from '../../sql/workspaces.ts';
import type { FastifyRequest } from '../dependencies.ts';
import { UnstorableRow } from '../plugins/body.ts';
import { envelope, toAppError } from '../plugins/errors.ts';
import type { BodyCheck } from '../plugins/validation.ts';
import { type Created, createLinks } from './create.ts';
import { type CreateRequest, readCreateRequest, withoutIgnored } from './create-request.ts';
import { toRecord } from './record.ts';
import type { CreateBody } from './schemas.ts';
import { slugsWanted } from './slug-choice.ts';

/** A row's own outcome: what `POST /links` would have answered. */
export type RowResult = { index: number; status: number; body: unknown };

/** A row that passed every check that needs no store, or why it did not. */
export type BulkRow = CreateRequest | AppError;

/** Passwords that are hashed at a time: as many as libuv has threads would starve everything else. */
const ROWS_AT_A_TIME = 2;

/** Checks each row as `POST /links` does, before any transaction is open. */
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

/** {@link createEach} in the form in which the API answers. */
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

/**
 * Creates row after row in one transaction. A row that is refused is undone alone and changes nothing for the
 * others; a store that fails undoes them all. Statements are few per row: until the transaction ends, ingest sees no
 * later change of any workspace. Before the first call of a transaction comes {@link holdSlugsOf}.
 *
 * @returns the outcome of each row, in their order
 */
export async function createEach(
  tx: PoolClient,
  workspaceId: string,
  rows: BulkRow[],
): Promise<(Created | AppError)[]> {
  const outcomes: (Created | AppError)[] = [];
  let workspace = await lockWorkspace(tx, workspaceId);
  await tx.query('SAVEPOINT before_row');
  for (const row of rows) {
    const outcome = await createRow(tx, workspace, row);
    if (!(outcome instanceof AppError)) workspace = outcome.workspace;
    outcomes.push(outcome);
  }
  return outcomes;
}

/** Locks the workspace and holds the custom slugs of all rows that {@link createEach} is to create in this transaction. */
export async function holdSlugsOf(tx: PoolClient, workspaceId: string, rows: BulkRow[]): Promise<void> {
  await lockWorkspace(tx, workspaceId);
  const slugs = rows.flatMap((row) =>
    row instanceof AppError || row.slug === null ? [] : slugsWanted(row.slug, row.channels),
  );
  await holdSlugs(tx, workspaceId, slugs);
}

async function createRow(tx: PoolClient, workspace: Workspace, row: BulkRow): Promise<Created | AppError> {
  if (row instanceof AppError) return row;
  try {
    const created = await createLinks(tx, workspace, row);
    await tx.query('RELEASE SAVEPOINT before_row; SAVEPOINT before_row');
    return created;
  } catch (error) {
    const answer = toAppError(error);
    if (answer.status >= 500) throw error;
    await tx.query('ROLLBACK TO SAVEPOINT before_row');
    return answer;
  }
}
