import type { Buyer, CodeFact, CustomerFact, Payer } from '../../core/connections/connector.ts';
import { isCodeId, payersOf } from '../../core/connections/payment-parts.ts';
import type { Queryable } from '../database/pool.ts';
import type { ProviderAccount } from './payments.ts';

/**
 * Ties a payer at the provider to a buyer, from a time on.
 *
 * @param given.eventId id of the provider's event, or another name of the source: it ties a payer once
 * @returns false when it has done so already
 */
export async function tiePayer(
  tx: Queryable,
  { workspace_id, provider }: ProviderAccount,
  { payer, buyer }: { payer: Payer; buyer: Buyer },
  given: { eventId: string; connectionId: string | null; at: Date },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `INSERT INTO connection_ties (workspace_id, provider, payer, event_id, connection_id, buyer, tied_at)
     SELECT $1, $2, payer, $4, $5, $6, $7 FROM unnest($3::text[]) AS payer ON CONFLICT DO NOTHING`,
    [workspace_id, provider, payersOf(payer), given.eventId, given.connectionId, buyer, given.at],
  );
  return rowCount !== 0;
}

/**
 * Returns the buyers to whom the payer is tied at a time: by the newest tie before it, else by the first one after it.
 */
export async function tiedBuyers(
  tx: Queryable,
  { workspace_id, provider }: ProviderAccount,
  payer: Payer,
  at: Date,
): Promise<Buyer[]> {
  const payers = payersOf(payer);
  if (payers.length === 0) return [];
  const { rows } = await tx.query<{ buyer: Buyer }>(
    `SELECT buyer FROM connection_ties WHERE workspace_id = $1 AND provider = $2 AND payer = ANY ($3)
     ORDER BY tied_at > $4, abs(extract(epoch FROM tied_at - $4)), array_position($3, payer), event_id`,
    [workspace_id, provider, payers, at],
  );
  return rows.map(({ buyer }) => buyer);
}

/**
 * Records the email of a customer, unless a later event has recorded another one. Of two events of one second the one
 * that changed the other's email is later.
 */
export async function putCustomerEmail(
  tx: Queryable,
  { workspace_id, provider }: ProviderAccount,
  { customer, email, isChange = false, former }: Omit<CustomerFact, 'kind'>,
  at: Date,
): Promise<void> {
  await tx.query(
    `INSERT INTO connection_customers AS known (workspace_id, provider, customer_id, email, told_at, is_change)
     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (workspace_id, provider, customer_id)
     DO UPDATE SET email = excluded.email, told_at = excluded.told_at, is_change = excluded.is_change
     WHERE known.told_at < excluded.told_at
       OR (known.told_at = excluded.told_at AND excluded.is_change
           AND (NOT known.is_change OR lower(known.email) = lower($7)))`,
    [workspace_id, provider, customer, email, at, isChange, former ?? null],
  );
}

/** Returns the email of a payer: of its customer, else of its account; or null. */
export async function emailOfPayer(
  tx: Queryable,
  { workspace_id, provider }: ProviderAccount,
  { customer, account = null }: Payer,
): Promise<string | null> {
  if (customer === null && account === null) return null;
  const { rows } = await tx.query<{ email: string }>(
    `SELECT email FROM connection_customers WHERE workspace_id = $1 AND provider = $2 AND customer_id IN ($3, $4)
     ORDER BY (customer_id = $3) DESC NULLS LAST LIMIT 1`,
    [workspace_id, provider, customer, account],
  );
  return rows[0]?.email ?? null;
}

/** Records the text of a discount code. */
export async function putCode(
  tx: Queryable,
  { workspace_id, provider }: ProviderAccount,
  { codeId, code }: CodeFact,
): Promise<void> {
  await tx.query(
    `INSERT INTO connection_codes (workspace_id, provider, code_id, code) VALUES ($1, $2, $3, $4)
     ON CONFLICT (workspace_id, provider, code_id) DO UPDATE SET code = excluded.code`,
    [workspace_id, provider, codeId, code],
  );
}

/**
 * Returns the texts of discount codes. A value whose text is not known is its own text, as a coupon's id may be, or a
 * code that looks like an id.
 *
 * @returns `unknown`: ids without a text; `open`: those of them that the provider was not asked about
 */
export async function textsOfCodes(
  tx: Queryable,
  { workspace_id, provider }: ProviderAccount,
  codes: readonly string[],
): Promise<{ texts: string[]; unknown: string[]; open: string[] }> {
  if (codes.length === 0) return { texts: [], unknown: [], open: [] };
  const { rows } = await tx.query<{ code_id: string; code: string }>(
    'SELECT code_id, code FROM connection_codes WHERE workspace_id = $1 AND provider = $2 AND code_id = ANY ($3)',
    [workspace_id, provider, codes],
  );
  const known = new Map(rows.map((row) => [row.code_id, row.code]));
  const unknown = codes.filter((code) => isCodeId(provider, code) && !known.get(code));
  return {
    texts: codes.map((code) => known.get(code) || code),
    unknown,
    open: unknown.filter((code) => !known.has(code)),
  };
}
