import { AppError } from '../../core/errors.ts';
import { completeRow, type ImportDefaults } from '../../core/link-imports/create-row.ts';
import type { Format } from '../../core/link-imports/formats/format.ts';
import { formatOf } from '../../core/link-imports/formats/known.ts';
import { ImportErrors, type RowError } from '../../core/link-imports/import-errors.ts';
import { type ReadRow, RowProblem, type SourceRow } from '../../core/link-imports/source-row.ts';
import { slugKey } from '../../core/slugs.ts';
import { inTransaction, type Pool } from '../../sql/pool.ts';
import { lockWorkspace } from '../../sql/workspaces.ts';
import { type BulkRow, createEach, readBulkRows } from '../links/bulk.ts';
import { CreateBody } from '../links/schemas.ts';
import { bodyCheck } from '../plugins/validation.ts';
import { alreadyImported } from './already-imported.ts';

/** Rows of a transaction. Until it ends, ingest sees no later change of any workspace. */
const BATCH = 100;

export type ImportResult = {
  created: number;
  /** Rows whose link was there already. */
  skipped: number;
  errors: RowError[];
};

export type ImportOptions = ImportDefaults & {
  pool: Pool;
  workspaceId: string;
  /** Origin of short links. */
  shortUrl: string;
  rows: AsyncIterable<ReadRow> | Iterable<ReadRow>;
  /** Is told the format, once it is known, and the columns of the first row. */
  onFormat(format: Format, columns: string[]): void;
  /** Is told of every batch. */
  onProgress(result: Readonly<ImportResult>): void;
};

/** A row on its way, with the create that it asks for. */
type Pending = {
  source: SourceRow;
  columnOf: Readonly<Record<string, string>>;
  body: Record<string, unknown>;
};

const check = bodyCheck(CreateBody);

/**
 * Creates a link for each row exactly as `POST /links` would, in batches, and holds no more than one of them. A row
 * that is refused is an error of its own. A row whose link is there already, because its `external_id` or its slug
 * with the same destination is, is skipped, so an import that was cut off is simply run again.
 *
 * @throws {UnknownFormat} when the file is of no known format; the stores' errors, with the batches before them done
 */
export async function importLinks(options: ImportOptions): Promise<ImportResult> {
  const errors = new ImportErrors();
  const result: ImportResult = { created: 0, skipped: 0, errors: errors.list };
  let format: Format | null = null;
  let batch: Pending[] = [];
  const slugs = new Set<string>();

  async function flush(): Promise<void> {
    if (batch.length === 0) return;
    const { created, skipped } = await createBatch(options, batch, errors);
    result.created += created;
    result.skipped += skipped;
    batch = [];
    slugs.clear();
    options.onProgress(result);
  }

  for await (const row of options.rows) {
    if ('problem' in row) {
      errors.add(row.line, row.problem, null);
      continue;
    }
    if (format === null) {
      format = formatOf(row);
      options.onFormat(format, Object.keys(row.values));
    }
    for (const pending of pendingOf(row, format, options, errors)) {
      const { slug } = pending.body;
      // A slug that stands twice in a file has to be found by the second row: batches are judged as a whole.
      if (batch.length === BATCH || (typeof slug === 'string' && slugs.has(slugKey(slug)))) await flush();
      batch.push(pending);
      if (typeof slug === 'string') slugs.add(slugKey(slug));
    }
  }
  await flush();
  // A row that can't be read is known before the batch that is under way.
  errors.list.sort((a, b) => a.line - b.line);
  return result;
}

function pendingOf(
  row: SourceRow,
  format: Format,
  defaults: ImportDefaults,
  errors: ImportErrors,
): Pending[] {
  try {
    refuseBrokenText(row);
    return format.read(row).map(({ body, columnOf }) => ({
      source: row,
      columnOf,
      body: completeRow(body, defaults),
    }));
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
  { pool, workspaceId, shortUrl }: ImportOptions,
  batch: readonly Pending[],
  errors: ImportErrors,
): Promise<{ created: number; skipped: number }> {
  // Before the transaction: passwords are hashed here.
  const checked = await readBulkRows(
    batch.map((pending) => pending.body),
    check,
    { shortUrl },
  );
  return inTransaction(pool, async (tx) => {
    await lockWorkspace(tx, workspaceId);
    const known = await alreadyImported(tx, workspaceId, checked);
    const open = batch.flatMap((pending, index) => {
      const row = checked[index];
      return row === undefined || known.has(row) ? [] : [{ pending, row }];
    });
    const outcomes = await createEach(
      tx,
      workspaceId,
      open.map(({ row }): BulkRow => row),
    );
    let created = 0;
    let skipped = batch.length - open.length;
    for (const [index, outcome] of outcomes.entries()) {
      const pending = open[index]?.pending;
      if (!pending) continue;
      if (outcome instanceof AppError)
        errors.add(pending.source.line, problemOf(outcome, pending), pending.source);
      else if (outcome.made) created += outcome.links.length;
      else skipped += 1;
    }
    return { created, skipped };
  });
}

/** The create's refusal in the words of the file. */
function problemOf(error: AppError, { columnOf }: Pending): RowProblem {
  const [detail] = error.details ?? [];
  if (!detail) return new RowProblem(null, error.message);
  return new RowProblem(columnOf[detail.path] ?? detail.path, detail.message);
}
