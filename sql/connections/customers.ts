import type { Buyer, CodeFact, TieFact } from '../../core/connections/connector.ts';
import type { Queryable } from '../database/pool.ts';
import type { Connection } from './connections.ts';

/** Ties a customer of the provider to a buyer, from the event's time on. @returns false when the event has done so already */
export async function tieCustomer(
  tx: Queryable,
  connection: Connection,
  { kind: _, customer, ...buyer }: TieFact,
  given: { eventId: string; at: Date },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `INSERT INTO connection_ties (connection_id, workspace_id, customer_id, event_id, buyer, tied_at)
     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`,
    [connection.id, connection.workspace_id, customer, given.eventId, buyer, given.at],
  );
  return rowCount === 1;
}

/** Returns the buyer of a customer at a time: by the newest tie before it, else by the first one after it. */
export async function tiedBuyer(
  tx: Queryable,
  connectionId: string,
  customerId: string,
  at: Date,
): Promise<Buyer | null> {
  const { rows } = await tx.query<{ buyer: Buyer }>(
    `SELECT buyer FROM connection_ties WHERE connection_id = $1 AND customer_id = $2
     ORDER BY tied_at > $3, abs(extract(epoch FROM tied_at - $3)), event_id LIMIT 1`,
    [connectionId, customerId, at],
  );
  return rows[0]?.buyer ?? null;
}

/** Records the text of a discount code. */
export async function putCode(
  tx: Queryable,
  connection: Connection,
  { codeId, code }: CodeFact,
): Promise<void> {
  await tx.query(
    `INSERT INTO connection_codes (connection_id, workspace_id, code_id, code) VALUES ($1, $2, $3, $4)
     ON CONFLICT (connection_id, code_id) DO UPDATE SET code = excluded.code`,
    [connection.id, connection.workspace_id, codeId, code],
  );
}

/** Returns the texts of discount codes. One that is not known by its id is its own text: a coupon's id may be its code. */
export async function textsOfCodes(
  tx: Queryable,
  connectionId: string,
  codes: readonly string[],
): Promise<string[]> {
  if (codes.length === 0) return [];
  const { rows } = await tx.query<{ code_id: string; code: string }>(
    'SELECT code_id, code FROM connection_codes WHERE connection_id = $1 AND code_id = ANY ($2)',
    [connectionId, codes],
  );
  const known = new Map(rows.map((row) => [row.code_id, row.code]));
  return codes.map((code) => known.get(code) ?? code);
}
