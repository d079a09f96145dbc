import { type ReplicasToWrite, wholeReplica } from '../../analytics/replicas/write-to-each.ts';
import { clickFileRows, type ReadClickRow } from '../../core/click-imports/click-file.ts';
import type { ClickRow, LinkName } from '../../core/click-imports/click-row.ts';
import type { ClickSource } from '../../core/click-imports/click-sources.ts';
import { CLICK_FORMATS, isOfFormat } from '../../core/click-imports/formats/known.ts';
import { FileColumns } from '../../core/click-imports/import-row.ts';
import { createKeyTable } from '../../core/click-imports/key-table.ts';
import {
  growthKey,
  MOST_GROWTHS,
  type RowKey,
  rowKey,
  visitorOfName,
} from '../../core/click-imports/row-key.ts';
import { uuidv7 } from '../../core/ids.ts';
import { RowProblem } from '../../core/link-imports/source-row.ts';
import type { TextForm } from '../../core/link-imports/text-form.ts';
import type { Slice } from '../../core/tier/time-slices.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { readSecrets } from '../../sql/database/secrets.ts';
import { endClickImport, undoneImports } from '../../sql/event-log/click-imports.ts';
import type { Workspace } from '../../sql/workspaces/workspaces.ts';
import { createLinkFinder, type LinkDefaults } from './imported-links.ts';
import { oneAtATime } from './one-at-a-time.ts';
import { addError, type ClickImportResult, emptyResult, requireFormat } from './result.ts';
import { type ClickStore, createClickStore, type NewClick } from './store-clicks.ts';
import { createStoredTimes } from './stored-times.ts';
import { requireTime, timeLimits } from './time-limits.ts';

/** Rows of a file that are stored together. */
const BATCH = 50_000;
export type ClickImportOptions = LinkDefaults & {
  pool: Pool;
  clickhouses: ReplicasToWrite;
  workspace: Pick<Workspace, 'id' | 'retention_months'>;
  /** Origin of the deployment's short links. */
  shortUrl: string;
  source: ClickSource;
  text: AsyncIterable<string>;
  form: TextForm;
  /** Left out: a new import. */
  importId?: string | undefined;
  dryRun?: boolean;
  /** Between rows, where other work shares the process. */
  slice?: Slice;
  onProgress?(result: Readonly<ClickImportResult>): void;
};

/** A row of the file with its clicks. */
type Pending = { line: number; rows: readonly ClickRow[] };

/**
 * Imports the clicks of a file, in batches. A stored row is skipped, so an interrupted import can be run again: a row
 * has the same key in each import, and keys are looked up before they are inserted. One import of a workspace runs at a
 * time.
 *
 * @throws {WrongClickFile} when the file is not of its source; {AppError} `conflict` while another import runs; errors
 * of databases, with the earlier batches stored
 */
export async function importClicks(options: ClickImportOptions): Promise<ClickImportResult> {
  const { pool, workspace, dryRun = false } = options;
  return dryRun ? run(options) : oneAtATime(pool, workspace.id, () => run(options));
}

async function run(options: ClickImportOptions): Promise<ClickImportResult> {
  const { pool, clickhouses, workspace, source, dryRun = false, importId = uuidv7() } = options;
  const format = CLICK_FORMATS[source];
  const columns = new FileColumns();
  const { finder, link: standard } = await createLinkFinder(pool, workspace.id, options.shortUrl, options);
  const times = createStoredTimes(
    async () => (await wholeReplica(pool, clickhouses.replicas)).clickhouse,
    workspace.id,
    format.grows ?? false,
  );
  const { visitor: secret } = await readSecrets(pool);
  const store: ClickStore = createClickStore({
    pool,
    clickhouses,
    workspaceId: workspace.id,
    importId,
    source,
    undone: await undoneImports(pool, workspace.id),
    visitorOf: (name) => visitorOfName(secret, workspace.id, name),
  });
  const seen = createKeyTable();
  const limits = timeLimits(workspace, Date.now());
  const result = emptyResult(importId, dryRun);
  const fail = (line: number, link: LinkName | null, problem: RowProblem) =>
    addError(result, line, link, problem);

  /** Returns the clicks of a row, or null after an error. */
  function read(row: ReadClickRow): Pending | null {
    const { line } = row;
    if ('problem' in row) {
      fail(line, null, row.problem);
      return null;
    }
    try {
      const rows = format.read(row);
      for (const one of rows) requireTime(one.ts, limits);
      return { line, rows };
    } catch (error) {
      if (!(error instanceof RowProblem)) throw error;
      fail(line, null, error);
      return null;
    }
  }

  const nameOf = ({ link }: ClickRow) => link ?? standard;

  async function flush(batch: Pending[]): Promise<void> {
    const all = batch.flatMap(({ rows }) => rows);
    await finder.prepare(all.flatMap((row) => nameOf(row) ?? []));
    await times.prepare(all.map(({ ts }) => ts));
    const fresh: NewClick[] = [];
    for (const { line, rows } of batch) {
      await options.slice?.();
      const before = fresh.length;
      let problem: string | null = null;
      let isThere = rows.length === 0;
      for (const row of rows) {
        const name = nameOf(row);
        const link = name === null ? 'names no link: give one for all rows with `link`' : finder.find(name);
        if (typeof link === 'string') {
          problem ??= link;
          continue;
        }
        const fit = format.grows ? addition(link.id, row) : unknown(link.id, row);
        if (fit === null) {
          isThere = true;
          continue;
        }
        const { key } = fit;
        const ts = times.take(row.ts, key.high, key.low);
        if (ts === null) problem = 'there are a million clicks of the same second';
        else if (fit.nth >= MOST_GROWTHS) problem = `has grown in ${MOST_GROWTHS} imports: undo some of them`;
        else {
          if (format.grows) times.grow(row.ts, key, fit.row.count);
          fresh.push({ row: fit.row, link, key, ts });
        }
      }
      if (fresh.length > before) result.created += 1;
      else if (isThere || problem === null) result.skipped += 1;
      else fail(line, nameOf(rows[0] as ClickRow), new RowProblem(null, problem));
    }
    if (!dryRun) await store(fresh);
    for (const { row } of fresh) result.clicks += row.count;
    options.onProgress?.(result);
  }

  type New = { row: ClickRow; key: RowKey; nth: number };

  /** Returns a row that is not stored; null: it is. */
  function unknown(linkId: string, row: ClickRow): New | null {
    const key = keyOf(linkId, row);
    return times.has(row.ts, key.high, key.low) ? null : { row, key, nth: 0 };
  }

  /** Returns by how much a count has grown since it was stored; null: not at all. */
  function addition(linkId: string, row: ClickRow): New | null {
    const key = rowKey(source, linkId, row, 0);
    const { sum, next } = times.grown(row.ts, key);
    if (row.count <= sum) return null;
    return { row: { ...row, count: row.count - sum }, key: growthKey(key, next), nth: next };
  }

  /** Equal rows of a file are several clicks, unless the source names its rows. */
  function keyOf(linkId: string, row: ClickRow) {
    const key = rowKey(source, linkId, row, 0);
    if (row.sourceId !== '') return key;
    const before = seen.get(key.high, key.low) ?? 0;
    seen.set(key.high, key.low, before + 1);
    return before === 0 ? key : rowKey(source, linkId, row, before);
  }

  const rows = clickFileRows(options.text, options.form, columns, (keys) => isOfFormat(format, keys));
  let batch: Pending[] = [];
  for await (const row of rows) {
    await options.slice?.();
    const isFirst = result.read === result.failed; // the first readable row
    if (isFirst && !('problem' in row)) requireFormat(format, columns.names);
    result.read += 1;
    const pending = read(row);
    if (pending !== null) batch.push(pending);
    if (batch.length === BATCH) {
      await flush(batch);
      batch = [];
    }
  }
  requireFormat(format, columns.names, result.errors[0]);
  await flush(batch);
  if (!dryRun) await endClickImport(pool, workspace.id, importId);
  result.unknown_columns = columns.unread();
  return result;
}
