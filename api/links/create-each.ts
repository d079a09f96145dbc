import { AppError } from '../../core/errors.ts';
import { slugKey } from '../../core/links/slugs.ts';
import type { PoolClient } from '../../sql/database/pool.ts';
import { reserveSlugs, takenSlugs } from '../../sql/links/slugs.ts';
import { lockWorkspace, type Workspace } from '../../sql/workspaces/workspaces.ts';
import { toAppError } from '../plugins/errors.ts';
import { createLinks } from './create.ts';
import { type CampaignRequest, type Created, createCampaigns } from './create-campaigns.ts';
import type { CreateRequest } from './create-request.ts';
import { slugsWanted } from './slug-choice.ts';

/** A row that passed every check that needs no store, or why it did not. */
export type BulkRow = CreateRequest | AppError;

type Outcome = Created | AppError;

/** Locks the workspace and holds the custom slugs of all rows that {@link createEach} is to create in this transaction. */
export async function holdSlugsOf(tx: PoolClient, workspaceId: string, rows: BulkRow[]): Promise<void> {
  await lockWorkspace(tx, workspaceId);
  const slugs = rows.flatMap((row) => (row instanceof AppError ? [] : customSlugs(row)));
  await reserveSlugs(tx, workspaceId, slugs);
}

/**
 * Creates row after row in one transaction. A row that is refused is undone alone and changes nothing for the
 * others; a store that fails undoes them all. Until the transaction ends, ingest sees no later change of any workspace: so
 * rows are made many at a time, and fewer where one among them is refused. Before the first call of a transaction comes
 * {@link holdSlugsOf}.
 *
 * @returns the outcome of each row, in their order
 */
export async function createEach(tx: PoolClient, workspaceId: string, rows: BulkRow[]): Promise<Outcome[]> {
  let workspace = await lockWorkspace(tx, workspaceId);
  await tx.query('SAVEPOINT before_rows');
  const made: Outcome[] = [];
  const wanted = rows.flatMap((row) => (row instanceof AppError ? [] : row));
  const taken = await takenSlugs(tx, wanted.flatMap(customSlugs));
  for (const step of stepsOf(wanted, taken)) {
    made.push(...(await createStep(tx, workspace, step)));
    workspace = workspaceAfter(made, workspace);
  }
  const next = made.values();
  return rows.map((row) => {
    if (row instanceof AppError) return row;
    const { value } = next.next();
    if (!value) throw new Error('a row has no outcome');
    return value;
  });
}

/** What is made at once. */
type Step = { alone: CreateRequest } | { together: CampaignRequest[] };

/**
 * What adds to a campaign stands alone, as does what wants a slug that is taken and will be refused. A row with the
 * `external_id` or the slug of one before it is of another step than that: it has to find its link.
 */
function stepsOf(rows: CreateRequest[], taken: Set<string>): Step[] {
  const steps: Step[] = [];
  let together: CampaignRequest[] = [];
  const names = new Set<string>();
  const begin = () => {
    together = [];
    names.clear();
    steps.push({ together });
  };
  begin();
  for (const row of rows) {
    const { campaign } = row;
    if (campaign.kind === 'existing' || customSlugs(row).some((slug) => taken.has(slugKey(slug)))) {
      steps.push({ alone: row });
      begin();
      continue;
    }
    const own = namesOf(row);
    if (own.some((name) => names.has(name))) begin();
    together.push({ ...row, campaign });
    for (const name of own) names.add(name);
  }
  return steps;
}

/** What no two rows of a step may have. */
function namesOf(row: CreateRequest): string[] {
  const slugs = customSlugs(row).map((slug) => `slug ${slugKey(slug)}`);
  return row.externalId === null ? slugs : [...slugs, `external_id ${row.externalId}`];
}

function customSlugs({ slug, channels }: CreateRequest): string[] {
  return slug === null ? [] : slugsWanted(slug, channels);
}

async function createStep(tx: PoolClient, workspace: Workspace, step: Step): Promise<Outcome[]> {
  if ('together' in step) return createTogether(tx, workspace, step.together);
  return [await undoneIfRefused(tx, () => createLinks(tx, workspace, step.alone))];
}

/** All at once, or each half by itself where one row is refused, down to that row. */
async function createTogether(
  tx: PoolClient,
  workspace: Workspace,
  rows: CampaignRequest[],
): Promise<Outcome[]> {
  if (rows.length === 0) return [];
  const made = await undoneIfRefused(tx, () => createCampaigns(tx, workspace, rows));
  if (!(made instanceof AppError)) return made;
  if (rows.length === 1) return [made];
  const half = rows.length >> 1;
  const before = await createTogether(tx, workspace, rows.slice(0, half));
  const behind = await createTogether(tx, workspaceAfter(before, workspace), rows.slice(half));
  return [...before, ...behind];
}

function workspaceAfter(outcomes: Outcome[], before: Workspace): Workspace {
  const last = outcomes.findLast((outcome) => !(outcome instanceof AppError));
  return last === undefined || last instanceof AppError ? before : last.workspace;
}

/** What was made, or the refusal, of which nothing is left in the store. */
async function undoneIfRefused<T>(tx: PoolClient, make: () => Promise<T>): Promise<T | AppError> {
  try {
    const made = await make();
    await tx.query('RELEASE SAVEPOINT before_rows; SAVEPOINT before_rows');
    return made;
  } catch (error) {
    const answer = toAppError(error);
    if (answer.status >= 500) throw error;
    await tx.query('ROLLBACK TO SAVEPOINT before_rows');
    return answer;
  }
}
