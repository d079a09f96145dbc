import type { Queryable } from '../database/pool.ts';
import { bumpWebhookVersion } from '../webhooks/webhooks.ts';
import type { ArchivedTable, ImportContext } from './archived-table.ts';

const WORKSPACE_ID = `($2::jsonb ->> 'workspace_id')::uuid`;

/** SQL of a number here. 0 belongs to no row, so it stays. */
function numberHere(column: string, table: string): string {
  return `CASE r.${column} WHEN 0 THEN 0 ELSE r.${column} + ($2::jsonb #>> ARRAY['offsets', '${table}'])::bigint END`;
}

function insertion(table: ArchivedTable, columns: readonly string[], rows: string): string {
  const values = columns.map((column) => {
    // Never the row's own: an archive may come from someone who would add rows to another workspace.
    if (column === 'workspace_id') return WORKSPACE_ID;
    const numbered = table.numbers?.[column];
    return table.read?.[column] ?? (numbered === undefined ? `r.${column}` : numberHere(column, numbered));
  });
  return `INSERT INTO ${table.name} (${columns.join(', ')}) OVERRIDING SYSTEM VALUE
    SELECT ${values.join(', ')} FROM ${rows} AS r WHERE $2::jsonb IS NOT NULL AND ${table.stored ?? 'true'}`;
}

/**
 * Stores rows of an archive in a table, in the caller's transaction, and returns how many.
 *
 * @param columns those of the archive
 * @param batches lines of JSON
 */
export async function writeTable(
  tx: Queryable,
  table: ArchivedTable,
  columns: readonly string[],
  batches: AsyncIterable<readonly string[]>,
  context: ImportContext,
): Promise<number> {
  const changes = JSON.stringify(context);
  let stored = 0;
  if (table.refersToItself !== true) {
    const insert = insertion(table, columns, `json_populate_recordset(NULL::${table.name}, $1::json)`);
    for await (const lines of batches) {
      const { rowCount } = await tx.query(insert, [`[${lines.join(',')}]`, changes]);
      stored += rowCount ?? 0;
    }
    return stored;
  }
  // A row may refer to one that comes later: foreign keys are checked at the end of a statement.
  await tx.query('CREATE TEMPORARY TABLE IF NOT EXISTS archived_rows (line json) ON COMMIT DROP');
  await tx.query('TRUNCATE archived_rows');
  for await (const lines of batches) {
    await tx.query('INSERT INTO archived_rows SELECT json_array_elements($1::json)', [
      `[${lines.join(',')}]`,
    ]);
  }
  const rows = `(SELECT one.* FROM archived_rows, json_populate_record(NULL::${table.name}, line) AS one)`;
  const { rowCount } = await tx.query(insertion(table, columns, rows).replaceAll('$2', '$1'), [changes]);
  return rowCount ?? 0;
}

/** Lets the triggers of this transaction log no new rows: the archive has their history. */
export async function beginImport(tx: Queryable): Promise<void> {
  await tx.query(
    "SELECT set_config('hoplog.import', 'on', true), set_config('statement_timeout', '0', true)",
  );
}

/** Queues every order of the workspace for ClickHouse. */
export async function queueOrders(tx: Queryable, workspaceId: string): Promise<void> {
  await tx.query(
    `INSERT INTO order_publications (order_internal_id) SELECT internal_id FROM orders WHERE workspace_id = $1
     ON CONFLICT DO NOTHING`,
    [workspaceId],
  );
}

/**
 * Tells ingest and the deliverers of webhooks what triggers announce only on a change: the workspace's policy, and
 * former addresses of links.
 */
export async function announceWorkspace(tx: Queryable, workspaceId: string): Promise<void> {
  await tx.query(
    `INSERT INTO link_changes (kind, target_id) SELECT 'workspace', $1::uuid
     UNION ALL SELECT 'alias', alias_id FROM slugs WHERE workspace_id = $1 AND alias_id IS NOT NULL`,
    [workspaceId],
  );
  await tx.query("SELECT pg_notify('link_changes', '')");
  await bumpWebhookVersion(tx);
}

/**
 * Makes the former slugs of renamed referral links codes of their referrers, whose pages and customers still use them.
 */
export async function keepFormerCodes(
  tx: Queryable,
  workspaceId: string,
  former: readonly { id: string; slug: string }[],
): Promise<void> {
  await tx.query(
    `INSERT INTO referral_codes (workspace_id, code_key, enrollment_id)
     SELECT $1, lower(slug), enrollment_id FROM unnest($2::uuid[], $3::text[]) AS former (id, slug)
     JOIN referral_links ON link_id = id ON CONFLICT DO NOTHING`,
    [workspaceId, former.map(({ id }) => id), former.map(({ slug }) => slug)],
  );
}
