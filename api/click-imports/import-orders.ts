import { clickFileRows } from '../../core/click-imports/click-file.ts';
import { isOfFormat } from '../../core/click-imports/formats/known.ts';
import { FileColumns } from '../../core/click-imports/import-row.ts';
import { ORDER_FILE, type OrderRow, readOrder } from '../../core/click-imports/order-row.ts';
import { visitorOfName } from '../../core/click-imports/row-key.ts';
import { bytesToUuid, isUuid, uuidv7 } from '../../core/ids.ts';
import { RowProblem } from '../../core/link-imports/source-row.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { readSecrets } from '../../sql/database/secrets.ts';
import { addOrdersToImport, beginClickImport } from '../../sql/event-log/click-imports.ts';
import { type ImportedOrder, knownOrders, storeImportedOrders } from '../../sql/orders/imported-orders.ts';
import type { Workspace } from '../../sql/workspaces/workspaces.ts';
import type { ClickImportOptions } from './import-clicks.ts';
import { createLinkFinder } from './imported-links.ts';
import { oneAtATime } from './one-at-a-time.ts';
import { addError, type ClickImportResult, emptyResult, requireFormat } from './result.ts';
import { requireTime, timeLimits } from './time-limits.ts';

/** Rows of a transaction. */
const BATCH = 1_000;

export type OrderImportOptions = Omit<ClickImportOptions, 'clickhouses' | 'workspace'> & {
  workspace: Pick<Workspace, 'id' | 'retention_months' | 'currency'>;
};

type Pending = { line: number; order: OrderRow };

/**
 * Imports orders with their own time, for reports alone: they cause no purchase, commission, or webhook. An order whose
 * id the workspace has is skipped, so that an import can be run again.
 *
 * @throws {WrongClickFile} when the file has no orders; {AppError} `conflict` while another import runs; errors of
 * databases, with the earlier batches stored
 */
export async function importOrders(options: OrderImportOptions): Promise<ClickImportResult> {
  const { pool, workspace, dryRun = false } = options;
  return dryRun ? run(options) : oneAtATime(pool, workspace.id, () => run(options));
}

async function run(options: OrderImportOptions): Promise<ClickImportResult> {
  const { pool, workspace, source, dryRun = false, importId = uuidv7() } = options;
  const columns = new FileColumns();
  const { finder, link: standard } = await createLinkFinder(pool, workspace.id, options.shortUrl, {
    domain: options.domain,
  });
  const { visitor: secret } = await readSecrets(pool);
  const limits = timeLimits(workspace, Date.now());
  const result = emptyResult(importId, dryRun);
  /** Ids of earlier orders in the file. */
  const seen = new Set<string>();

  function visitorOf(name: string): string | null {
    if (name === '') return null;
    return isUuid(name) ? name.toLowerCase() : bytesToUuid(visitorOfName(secret, workspace.id, name));
  }

  /** @returns null after an error */
  function imported({ line, order }: Pending): ImportedOrder | null {
    const name = order.link ?? standard;
    const link = name === null ? null : finder.find(name);
    if (typeof link === 'string') {
      addError(result, line, name, new RowProblem(null, link));
      return null;
    }
    const { orderId, ts, email, amountMinor, currency } = order;
    return {
      orderId,
      ts,
      email,
      amountMinor,
      currency,
      visitorId: visitorOf(order.visitor),
      linkId: link?.id ?? null,
    };
  }

  async function flush(batch: readonly Pending[]): Promise<void> {
    await finder.prepare(batch.flatMap(({ order }) => order.link ?? []));
    const orders = batch.flatMap((one) => imported(one) ?? []);
    const ids = orders.map(({ orderId }) => orderId);
    const created = dryRun
      ? orders.length - (await knownOrders(pool, workspace.id, ids)).size
      : await store(orders);
    result.created += created;
    result.orders += created;
    result.skipped += orders.length - created;
    options.onProgress?.(result);
  }

  async function store(orders: readonly ImportedOrder[]): Promise<number> {
    if (orders.length === 0) return 0;
    return inTransaction(pool, async (tx) => {
      const stored = await storeImportedOrders(tx, { workspaceId: workspace.id, importId }, orders);
      if (stored.size === 0) return 0;
      await beginClickImport(tx, { id: importId, workspaceId: workspace.id, source });
      await addOrdersToImport(tx, { id: importId, workspaceId: workspace.id }, stored.size);
      return stored.size;
    });
  }

  let batch: Pending[] = [];
  const rows = clickFileRows(options.text, options.form, columns, (keys) => isOfFormat(ORDER_FILE, keys));
  for await (const row of rows) {
    await options.slice?.();
    const isFirst = result.read === result.failed; // the first readable row
    if (isFirst && !('problem' in row)) requireFormat(ORDER_FILE, columns.names);
    result.read += 1;
    try {
      if ('problem' in row) throw row.problem;
      const order = readOrder(row, workspace.currency);
      requireTime(order.ts, limits);
      if (seen.has(order.orderId)) result.skipped += 1;
      else batch.push({ line: row.line, order });
      seen.add(order.orderId);
    } catch (error) {
      if (!(error instanceof RowProblem)) throw error;
      addError(result, row.line, null, error);
    }
    if (batch.length === BATCH) {
      await flush(batch);
      batch = [];
    }
  }
  requireFormat(ORDER_FILE, columns.names, result.errors[0]);
  await flush(batch);
  result.unknown_columns = columns.unread();
  return result;
}
