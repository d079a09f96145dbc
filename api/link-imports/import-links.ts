import { Type } from 'typebox';
import { AppError } from '../../core/errors.ts';
import { type ColumnWatch, createColumnWatch } from '../../core/link-imports/column-watch.ts';
import type { ImportDefaults } from '../../core/link-imports/create-row.ts';
import type { Format } from '../../core/link-imports/formats/format.ts';
import { formatOf, type LinkSource } from '../../core/link-imports/formats/known.ts';
import { ImportErrors, type LinkPlace, type RowError } from '../../core/link-imports/import-errors.ts';
import { linksOfRow, type RowLink } from '../../core/link-imports/links-of-row.ts';
import { type ReadRow, RowProblem, type SourceRow } from '../../core/link-imports/source-row.ts';
import type { DestinationRules } from '../../core/links/destinations.ts';
import { slugKey } from '../../core/links/slugs.ts';
import type { Slice } from '../../core/tier/time-slices.ts';
import { inTransaction, type Pool, type PoolClient } from '../../sql/database/pool.ts';
import { rolledBack } from '../../sql/database/rolled-back.ts';
import { lockWorkspace } from '../../sql/workspaces/workspaces.ts';
import type { DomainRules } from '../domains/service.ts';
import { bodyCheck } from '../input/validation.ts';
import { readBulkRows, readRow } from '../links/bulk.ts';
import { type BulkRow, createEach, holdSlugsOf } from '../links/create-each.ts';
import type { CreateRules } from '../links/create-request.ts';
import { CreateBody } from '../links/schemas.ts';
import { alreadyImported } from './already-imported.ts';
import { readWithEveryProblem } from './every-problem.ts';
import { type PlanRoom, planRoom } from './plan-room.ts';
import { putInFolders, putOnWaiting } from './where-links-go.ts';

/** Rows of a transaction. Until it ends, ingest sees no later change of any workspace. */
const BATCH = 100;

export type ImportResult = {
  dry_run: boolean;
  /** Rows of the file, readable or not. */
  read: number;
  created: number;
  /** The part of them whose domain is not proven yet: they do not redirect until it is. */
  waiting: number;
  /** Rows whose link exists already. */
  skipped: number;
  /** Columns and keys of rows that gave a link, which have no counterpart here. */
  unknown_columns: string[];
  /** Each problem of each row. */
  errors: RowError<LinkPlace>[];
};

/** The source and options of an import. */
export type ImportSource = ImportDefaults & {
  config: DomainRules['config'];
  blockedDomains?: DestinationRules['blockedDomains'];
  rows: AsyncIterable<ReadRow> | Iterable<ReadRow>;
  /** The format that the file must be in; left out: it is recognized. */
  from?: LinkSource | undefined;
  /** Between rows, where other work shares the process. */
  slice?: Slice;
  /** Called with the format, once it is known. */
  onFormat(format: Format): void;
};

export type ImportOptions = ImportSource & {
  pool: Pool;
  workspaceId: string;
  /**
   * Reports what the import would do, and makes nothing. It holds one transaction, so the workspace gets no new links
   * meanwhile. Left out: no.
   */
  dryRun?: boolean;
  /** Called after every batch. */
  onProgress(result: Readonly<ImportResult>): void;
};

/** A link with its row. `index`: number of the row in the file, from 0. */
type Pending = RowLink & { source: SourceRow; index: number };

/** Slugs of other services are checked beyond the schema. */
const check = bodyCheck({
  ...CreateBody,
  properties: { ...CreateBody.properties, slug: Type.Optional(Type.String({ minLength: 1 })) },
});

/** Valid rows, or their errors. */
type Batch = { pending: Pending[]; checked: BulkRow[] };

/**
 * Creates a link for each row exactly as `POST /links` would, in batches, and holds one batch in memory. A refused
 * row is an error of its own. A row whose link exists, by `external_id` or by slug and destination, is skipped: an
 * interrupted import can be run again.
 *
 * @throws {UnknownFormat} when the format is unknown; database errors, with the earlier batches done
 */
export async function importLinks(options: ImportOptions): Promise<ImportResult> {
  const { pool, dryRun } = options;
  if (dryRun) return rolledBack(pool, (tx) => runImport(options, (work) => work(tx)));
  return runImport(options, (work) => inTransaction(pool, work));
}

type InBatch = (work: (tx: PoolClient) => Promise<void>) => Promise<void>;

async function runImport(options: ImportOptions, inBatch: InBatch): Promise<ImportResult> {
  const { workspaceId, onProgress } = options;
  const errors = new ImportErrors<LinkPlace>();
  const columns = createColumnWatch();
  const result: ImportResult = emptyResult(errors, options.dryRun ?? false);
  for await (const batch of batchesOf(options, errors, columns, () => (result.read += 1))) {
    const into = { result, errors, domains: options };
    await inBatch((tx) => writeBatches(tx, workspaceId, [batch], into));
    onProgress(result);
  }
  result.unknown_columns = columns.unknown();
  return inOrder(result);
}

const emptyResult = (errors: ImportErrors<LinkPlace>, isDryRun: boolean): ImportResult => ({
  dry_run: isDryRun,
  read: 0,
  created: 0,
  waiting: 0,
  skipped: 0,
  unknown_columns: [],
  errors: errors.list,
});

export type ReadImport = {
  unknown: string[];
  read: number;
  batches: Batch[];
  errors: ImportErrors<LinkPlace>;
  domains: DomainRules;
};

/**
 * Parses an import that fits into memory, outside of any transaction: passwords are hashed here.
 *
 * @throws {UnknownFormat} when the format is unknown
 */
export async function readImport(source: ImportSource): Promise<ReadImport> {
  const errors = new ImportErrors<LinkPlace>();
  const batches: Batch[] = [];
  let read = 0;
  const columns = createColumnWatch();
  for await (const batch of batchesOf(source, errors, columns, () => (read += 1))) batches.push(batch);
  return { unknown: columns.unknown(), read, batches, errors, domains: source };
}

/**
 * Creates the links of a parsed import, all in the caller's transaction.
 *
 * @param dryRun the transaction is rolled back, and `earlier` links of other parts of the file count toward the plan's
 * limit
 */
export async function writeImport(
  tx: PoolClient,
  workspaceId: string,
  { read, unknown, batches, errors, domains }: ReadImport,
  dryRun: { earlier: number } | null = null,
): Promise<ImportResult> {
  const result: ImportResult = { ...emptyResult(errors, dryRun !== null), read, unknown_columns: unknown };
  const room = dryRun && (await planRoom(tx, workspaceId, dryRun.earlier));
  await writeBatches(tx, workspaceId, batches, { result, errors, domains, room });
  return inOrder(result);
}

/** Where an import writes. `domains`: the rules for domains that it adds. */
type Into = {
  result: ImportResult;
  errors: ImportErrors<LinkPlace>;
  domains: DomainRules;
  /** Limits what a dry run makes; null or left out: the create alone does. */
  room?: PlanRoom | null;
};

async function writeBatches(
  tx: PoolClient,
  workspaceId: string,
  batches: Batch[],
  into: Into,
): Promise<void> {
  for (const batch of batches) await putOnWaiting(tx, workspaceId, batch, into.domains);
  await holdSlugsOf(
    tx,
    workspaceId,
    batches.flatMap(({ checked }) => checked),
  );
  for (const batch of batches) await createBatch(tx, workspaceId, batch, into);
}

/** Sorts the errors by line: an unreadable row is reported before the rows of its batch. */
function inOrder(result: ImportResult): ImportResult {
  result.errors.sort((a, b) => a.line - b.line);
  return result;
}

async function* batchesOf(
  source: ImportSource,
  errors: ImportErrors<LinkPlace>,
  columns: ColumnWatch,
  onRow: () => void,
): AsyncGenerator<Batch> {
  const { config, blockedDomains } = source;
  const rules: CreateRules = {
    shortUrl: config.shortUrl,
    blockedDomains,
    allowsHttp: true,
    keepsSlugs: true,
  };
  let format: Format | null = null;
  let pending: Pending[] = [];
  const slugs = new Set<string>();
  const slice = source.slice ?? (async () => undefined);

  async function take(): Promise<Batch> {
    const taken = pending;
    pending = [];
    slugs.clear();
    const bodies = taken.map(({ body }) => body);
    const read = await readBulkRows(bodies, check, rules, slice, readImported);
    return { pending: taken, checked: read.map((row, nth) => withHash(row, taken[nth])) };
  }
  let index = -1;

  for await (const row of source.rows) {
    await slice();
    onRow();
    index += 1;
    const { line } = row;
    if ('problem' in row) {
      errors.add({ line, index, link: null }, row.problem, null);
      continue;
    }
    if (format === null) {
      format = formatOf(row, source.from);
      source.onFormat(format);
    }
    const { links, problems } = linksOfRow(row, format, source);
    // Where no link is made, nothing was left out of one.
    if (links.length > 0) columns.see(row);
    for (const { link, problem } of problems) errors.add({ line, index, link }, problem, row);
    for (const link of links) {
      const { slug } = link.body;
      // The second row with a slug must find the first one's link: batches are checked as a whole.
      if (pending.length === BATCH || (typeof slug === 'string' && slugs.has(slugKey(slug)))) {
        yield await take();
      }
      pending.push({ ...link, source: row, index });
      if (typeof slug === 'string') slugs.add(slugKey(slug));
    }
  }
  if (pending.length > 0) yield await take();
}

/** Sets the password of a link whose file has only its hash. A create takes a password in clear. */
function withHash(row: BulkRow, pending: Pending | undefined): BulkRow {
  if (row instanceof AppError || !pending || pending.passwordHash === null) return row;
  return { ...row, settings: { ...row.settings, password_hash: pending.passwordHash } };
}

async function createBatch(
  tx: PoolClient,
  workspaceId: string,
  { pending, checked }: Batch,
  { result, errors, room = null }: Into,
): Promise<void> {
  await lockWorkspace(tx, workspaceId);
  const known = await alreadyImported(tx, workspaceId, checked);
  const open = pending.flatMap((link, index) => {
    const row = checked[index];
    return row === undefined || known.has(row) ? [] : [{ link, row }];
  });
  await putInFolders(tx, workspaceId, open);
  const outcomes = await createEach(
    tx,
    workspaceId,
    open.map(({ row }) => row),
  );
  result.skipped += pending.length - open.length;
  for (const [index, made] of outcomes.entries()) {
    const outcome = room ? room.outcomeOf(made) : made;
    const link = open[index]?.link;
    if (!link) continue;
    if (outcome instanceof AppError) {
      const place = { line: link.source.line, index: link.index, link: link.link };
      for (const problem of problemsOf(outcome, link)) errors.add(place, problem, link.source);
    } else if (outcome.made) {
      result.created += outcome.links.length;
      if (link.unproven !== null) result.waiting += outcome.links.length;
    } else result.skipped += 1;
  }
}

const readImported: typeof readRow = (given, rowCheck, rules) =>
  readWithEveryProblem(given as Record<string, unknown>, (body) => readRow(body, rowCheck, rules));

/** Returns the create's errors in terms of the file's columns. */
function problemsOf(error: AppError, { columnOf }: Pending): RowProblem[] {
  const { details = [] } = error;
  if (details.length === 0) return [new RowProblem(null, error.message)];
  return details.map(({ path, message, hint }) => {
    const text = hint === undefined ? message : `${message}; ${hint}`;
    return new RowProblem(columnOf[path] ?? path, inWords(path, text));
  });
}

/** What a pattern of the create's schema means. */
const PATTERNS: Readonly<Record<string, string>> = {
  name: 'must be one line of text',
};

function inWords(path: string, message: string): string {
  return message.startsWith('must match pattern') ? (PATTERNS[path] ?? message) : message;
}
