import { AppError } from '../../core/errors.ts';
import type { PoolClient } from '../../sql/database/pool.ts';
import { type Name, nameKey, reserveSlugs, takenSlugs } from '../../sql/links/slugs.ts';
import { lockWorkspace, type Workspace } from '../../sql/workspaces/workspaces.ts';
import { toAppError } from '../plugins/errors.ts';
import { createLinks } from './create.ts';
import { type CampaignRequest, type Created, createCampaigns } from './create-campaigns.ts';
import type { CreateRequest } from './create-request.ts';
import { type DomainChoice, domainChoice } from './domain-choice.ts';
import { slugsWanted } from './slug-choice.ts';

/** A valid row, or its error. */
export type BulkRow = CreateRequest | AppError;

type Outcome = Created | AppError;

/** Rows of a step: their work between two queries holds the event loop. */
const TOGETHER = 200;

/**
 * Locks the workspace and the custom slugs of all rows that {@link createEach} will create in this transaction.
 */
export async function holdSlugsOf(tx: PoolClient, workspaceId: string, rows: BulkRow[]): Promise<void> {
  await lockWorkspace(tx, workspaceId);
  const choice = await domainChoice(tx, workspaceId);
  const names = rows.flatMap((row) => (row instanceof AppError ? [] : customNames(row, choice)));
  await reserveSlugs(tx, workspaceId, names);
}

/**
 * Creates rows in order in one transaction. A refused row is rolled back alone; a database failure rolls back all.
 * Until the transaction ends, ingest sees no later change of any workspace, so many rows are created in one step, and
 * fewer when one is refused. Call {@link holdSlugsOf} first.
 *
 * @returns the outcome of each row, in their order
 */
export async function createEach(tx: PoolClient, workspaceId: string, rows: BulkRow[]): Promise<Outcome[]> {
  let workspace = await lockWorkspace(tx, workspaceId);
  await tx.query('SAVEPOINT before_rows');
  const made: Outcome[] = [];
  const wanted = rows.flatMap((row) => (row instanceof AppError ? [] : row));
  const choice = await domainChoice(tx, workspaceId);
  const taken = await takenSlugs(
    tx,
    wanted.flatMap((row) => customNames(row, choice)),
  );
  for (const step of stepsOf(wanted, taken, choice)) {
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

/** One step: a row alone, or rows together. */
type Step = { alone: CreateRequest } | { together: CampaignRequest[] };

/**
 * Splits rows into steps. A row that adds to a campaign, or wants a taken slug, is a step of its own. A row with
 * the `external_id` or slug of an earlier row goes to a later step, where it finds that row's link.
 */
function stepsOf(rows: CreateRequest[], taken: Set<string>, choice: DomainChoice): Step[] {
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
    if (campaign.kind === 'existing' || customNames(row, choice).some((name) => taken.has(nameKey(name)))) {
      steps.push({ alone: row });
      begin();
      continue;
    }
    const own = namesOf(row, choice);
    if (own.some((name) => names.has(name)) || together.length === TOGETHER) begin();
    together.push({ ...row, campaign });
    for (const name of own) names.add(name);
  }
  return steps;
}

/** Keys that no two rows of a step may share. */
function namesOf(row: CreateRequest, choice: DomainChoice): string[] {
  const slugs = customNames(row, choice).map((name) => `slug ${nameKey(name)}`);
  return row.externalId === null ? slugs : [...slugs, `external_id ${row.externalId}`];
}

/** Returns the custom names of a row. A row with a refused domain may use any, because its create fails. */
function customNames({ domain, slug, channels }: CreateRequest, choice: DomainChoice): Name[] {
  if (slug === null) return [];
  const domainNumber = choice.numberOf(domain);
  return slugsWanted(slug, channels).map((wanted) => ({ domainNumber, slug: wanted }));
}

async function createStep(tx: PoolClient, workspace: Workspace, step: Step): Promise<Outcome[]> {
  if ('together' in step) return createTogether(tx, workspace, step.together);
  return [await rolledBackIfRefused(tx, () => createLinks(tx, workspace, step.alone))];
}

/** Creates all rows of a step at once; on a refusal, each half separately, down to the refused row. */
async function createTogether(
  tx: PoolClient,
  workspace: Workspace,
  rows: CampaignRequest[],
): Promise<Outcome[]> {
  if (rows.length === 0) return [];
  const made = await rolledBackIfRefused(tx, () => createCampaigns(tx, workspace, rows));
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

/** Returns the result of `make`, or the error after a rollback. */
async function rolledBackIfRefused<T>(tx: PoolClient, make: () => Promise<T>): Promise<T | AppError> {
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
