import { AppError } from '../../core/errors.ts';
import { completeRow, type ImportDefaults } from '../../core/link-imports/create-row.ts';
import { domainOfRow } from '../../core/link-imports/domain-of-row.ts';
import type { Format } from '../../core/link-imports/formats/format.ts';
import { formatOf } from '../../core/link-imports/formats/known.ts';
import { ImportErrors, type RowError } from '../../core/link-imports/import-errors.ts';
import { type ReadRow, RowProblem, type SourceRow } from '../../core/link-imports/source-row.ts';
import type { DestinationRules } from '../../core/links/destinations.ts';
import { slugKey } from '../../core/links/slugs.ts';
import type { Slice } from '../../core/tier/time-slices.ts';
import { inTransaction, type Pool, type PoolClient } from '../../sql/database/pool.ts';
import { lockWorkspace } from '../../sql/workspaces/workspaces.ts';
import { readBulkRows, readRow } from '../links/bulk.ts';
import { type BulkRow, createEach, holdSlugsOf } from '../links/create-each.ts';
import { CreateBody } from '../links/schemas.ts';
import { bodyCheck } from '../plugins/validation.ts';
import { alreadyImported } from './already-imported.ts';
import { readWithEveryProblem } from './every-problem.ts';

/** Rows of a transaction. Until it ends, ingest sees no later change of any workspace. */
const BATCH = 100;

export type ImportResult = {
  /** Rows of the file, readable or not. */
  read: number;
  created: number;
  /** Rows whose link exists already. */
  skipped: number;
  /** Each problem of each row. */
  errors: RowError[];
};

/** The source and options of an import. */
export type ImportSource = ImportDefaults & {
  /** Origin of short links. */
  shortUrl: string;
  blockedDomains?: DestinationRules['blockedDomains'];
  rows: AsyncIterable<ReadRow> | Iterable<ReadRow>;
  /** Between rows, where other work shares the process. */
  slice?: Slice;
  /** Called with the format, once it is known, and the columns of the first row. */
  onFormat(format: Format, columns: string[]): void;
};

export type ImportOptions = ImportSource & {
  pool: Pool;
  workspaceId: string;
  /** Called after every batch. */
  onProgress(result: Readonly<ImportResult>): void;
};

/** A row with its create request. */
type Pending = {
  source: SourceRow;
  columnOf: Readonly<Record<string, string>>;
  body: Record<string, unknown>;
};

const check = bodyCheck(CreateBody);

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
  const { pool, workspaceId, onProgress } = options;
  const errors = new ImportErrors();
  const result: ImportResult = { read: 0, created: 0, skipped: 0, errors: errors.list };
  for await (const batch of batchesOf(options, errors, () => (result.read += 1))) {
    await inTransaction(pool, (tx) => writeBatches(tx, workspaceId, [batch], { result, errors }));
    onProgress(result);
  }
  return inOrder(result);
}

/** A parsed import, for {@link writeImport}. */
export type ReadImport = { read: number; batches: Batch[]; errors: ImportErrors };

/**
 * Parses an import that fits into memory, outside of any transaction: passwords are hashed here.
 *
 * @throws {UnknownFormat} when the format is unknown
 */
export async function readImport(source: ImportSource): Promise<ReadImport> {
  const errors = new ImportErrors();
  const batches: Batch[] = [];
  let read = 0;
  for await (const batch of batchesOf(source, errors, () => (read += 1))) batches.push(batch);
  return { read, batches, errors };
}

/** Creates the links of a parsed import, all in the caller's transaction. */
export async function writeImport(
  tx: PoolClient,
  workspaceId: string,
  { read, batches, errors }: ReadImport,
): Promise<ImportResult> {
  const result: ImportResult = { read, created: 0, skipped: 0, errors: errors.list };
  await writeBatches(tx, workspaceId, batches, { result, errors });
  return inOrder(result);
}

async function writeBatches(
  tx: PoolClient,
  workspaceId: string,
  batches: Batch[],
  into: { result: ImportResult; errors: ImportErrors },
): Promise<void> {
  await holdSlugsOf(
    tx,
    workspaceId,
    batches.flatMap(({ checked }) => checked),
  );
  for (const batch of batches) await createBatch(tx, workspaceId, batch, into);
}

/** An unreadable row is reported before the current batch. */
function inOrder(result: ImportResult): ImportResult {
  result.errors.sort((a, b) => a.line - b.line);
  return result;
}

async function* batchesOf(
  source: ImportSource,
  errors: ImportErrors,
  onRow: () => void,
): AsyncGenerator<Batch> {
  const rules: DestinationRules = { ...source, allowsHttp: true };
  let format: Format | null = null;
  let pending: Pending[] = [];
  const slugs = new Set<string>();
  const slice = source.slice ?? (async () => undefined);

  async function take(): Promise<Batch> {
    const taken = pending;
    pending = [];
    slugs.clear();
    const bodies = taken.map(({ body }) => body);
    return { pending: taken, checked: await readBulkRows(bodies, check, rules, slice, readImported) };
  }

  for await (const row of source.rows) {
    await slice();
    onRow();
    if ('problem' in row) {
      errors.add(row.line, row.problem, null);
      continue;
    }
    if (format === null) {
      format = formatOf(row);
      source.onFormat(format, Object.keys(row.values));
    }
    for (const link of pendingOf(row, format, source, errors)) {
      const { slug } = link.body;
      // The second row with a slug must find the first one's link: batches are checked as a whole.
      if (pending.length === BATCH || (typeof slug === 'string' && slugs.has(slugKey(slug)))) {
        yield await take();
      }
      pending.push(link);
      if (typeof slug === 'string') slugs.add(slugKey(slug));
    }
  }
  if (pending.length > 0) yield await take();
}

function pendingOf(
  row: SourceRow,
  format: Format,
  defaults: ImportDefaults,
  errors: ImportErrors,
): Pending[] {
  try {
    refuseBrokenText(row);
    return format.read(row).map(({ body, columnOf }) => {
      const domain = body.domain ?? domainOfRow(row, body.slug, defaults.domains ?? []);
      return {
        source: row,
        columnOf,
        body: completeRow(domain === null ? body : { ...body, domain }, defaults),
      };
    });
  } catch (error) {
    if (!(error instanceof RowProblem)) throw error;
    errors.add(row.line, error, row);
    return [];
  }
}

function refuseBrokenText(row: SourceRow): void {
  for (const [column, value] of Object.entries(row.values)) {
    if (typeof value === 'string' && value.includes('\uFFFD')) {
      throw new RowProblem(column, 'holds characters that are not UTF-8: save the file as UTF-8');
    }
  }
}

async function createBatch(
  tx: PoolClient,
  workspaceId: string,
  { pending, checked }: Batch,
  { result, errors }: { result: ImportResult; errors: ImportErrors },
): Promise<void> {
  await lockWorkspace(tx, workspaceId);
  const known = await alreadyImported(tx, workspaceId, checked);
  const open = pending.flatMap((link, index) => {
    const row = checked[index];
    return row === undefined || known.has(row) ? [] : [{ link, row }];
  });
  const outcomes = await createEach(
    tx,
    workspaceId,
    open.map(({ row }) => row),
  );
  result.skipped += pending.length - open.length;
  for (const [index, outcome] of outcomes.entries()) {
    const link = open[index]?.link;
    if (!link) continue;
    if (outcome instanceof AppError) {
      for (const problem of problemsOf(outcome, link)) errors.add(link.source.line, problem, link.source);
    } else if (outcome.made) result.created += outcome.links.length;
    else result.skipped += 1;
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
    return new RowProblem(columnOf[path] ?? path, text);
  });
}
