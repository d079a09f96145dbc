import type { FulfilmentProvider } from '../../core/referrals/fulfilment.ts';
import { nextCreation } from '../database/creation-times.ts';
import { isoMicros } from '../database/instants.ts';
import type { Queryable } from '../database/pool.ts';

/** Settings of a fulfilment; those of the other provider are null. */
export type FulfilmentSettings = {
  url: string | null;
  /** Sealed key of Stripe. Never shown. */
  restricted_key: Buffer | null;
  /** Lower-case ISO 4217 code. */
  currency: string | null;
  /** Major units of `currency` for one credit. */
  credit_value: number | null;
};

/** A fulfilment without its secrets. Instants are ISO 8601 with microseconds. */
export type Fulfilment = Omit<FulfilmentSettings, 'restricted_key'> & {
  id: string;
  provider: FulfilmentProvider;
  program_id: string;
  restricted_key_set: boolean;
  created_at: string;
  updated_at: string;
};

const COLUMNS = `id, provider, program_id, url, currency, credit_value::float8, restricted_key IS NOT NULL AS restricted_key_set,
  ${isoMicros('created_at')} AS created_at, ${isoMicros('updated_at')} AS updated_at`;

/** SQL: not deleted. */
const OWN = 'workspace_id = $1 AND deleted_at IS NULL';

export type NewFulfilment = FulfilmentSettings & {
  id: string;
  provider: FulfilmentProvider;
  programId: string;
  /** Secret of a webhook. */
  secret: Buffer | null;
};

/** Creates a fulfilment. The caller has locked the workspace: creation times are unique in it. */
export async function insertFulfilment(
  tx: Queryable,
  workspaceId: string,
  given: NewFulfilment,
): Promise<Fulfilment> {
  const { rows } = await tx.query<Fulfilment>(
    `INSERT INTO fulfilments (id, workspace_id, program_id, provider, url, secret, restricted_key, currency, credit_value,
       created_at, updated_at)
     SELECT $2, $1, $3, $4, $5, $6, $7, $8, $9, at, at FROM (
       SELECT ${nextCreation('fulfilments', '$1')} AS at) AS clock
     RETURNING ${COLUMNS}`,
    [
      workspaceId,
      given.id,
      given.programId,
      given.provider,
      given.url,
      given.secret,
      given.restricted_key,
      given.currency,
      given.credit_value,
    ],
  );
  if (!rows[0]) throw new Error('the fulfilment was not inserted');
  return rows[0];
}

/**
 * Returns the fulfilments of a workspace, newest first.
 *
 * @param page.before ISO 8601 with microseconds: older ones only
 */
export async function listFulfilments(
  db: Queryable,
  workspaceId: string,
  page: { programId: string | null; before: string | null; limit: number },
): Promise<Fulfilment[]> {
  const { rows } = await db.query<Fulfilment>(
    `SELECT ${COLUMNS} FROM fulfilments
     WHERE ${OWN} AND ($2::uuid IS NULL OR program_id = $2)
       AND ($3::timestamptz IS NULL OR fulfilments.created_at < $3)
     ORDER BY fulfilments.created_at DESC LIMIT $4`,
    [workspaceId, page.programId, page.before, page.limit],
  );
  return rows;
}

/** Returns the fulfilment with this id in the workspace, or null. */
export async function fulfilmentById(
  db: Queryable,
  workspaceId: string,
  id: string,
): Promise<Fulfilment | null> {
  const { rows } = await db.query<Fulfilment>(`SELECT ${COLUMNS} FROM fulfilments WHERE ${OWN} AND id = $2`, [
    workspaceId,
    id,
  ]);
  return rows[0] ?? null;
}

/** As {@link fulfilmentById}, locked until the transaction ends. */
export async function lockFulfilment(
  tx: Queryable,
  workspaceId: string,
  id: string,
): Promise<Fulfilment | null> {
  const { rows } = await tx.query<Fulfilment>(
    `SELECT ${COLUMNS} FROM fulfilments WHERE ${OWN} AND id = $2 FOR NO KEY UPDATE`,
    [workspaceId, id],
  );
  return rows[0] ?? null;
}

/** Changes the given settings only. Null values stay as they are. */
export async function updateFulfilment(
  tx: Queryable,
  workspaceId: string,
  id: string,
  settings: FulfilmentSettings,
): Promise<Fulfilment | null> {
  const { rows } = await tx.query<Fulfilment>(
    `UPDATE fulfilments SET url = coalesce($3, url), restricted_key = coalesce($4, restricted_key),
       currency = coalesce($5, currency), credit_value = coalesce($6, credit_value), updated_at = clock_timestamp()
     WHERE ${OWN} AND id = $2 RETURNING ${COLUMNS}`,
    [workspaceId, id, settings.url, settings.restricted_key, settings.currency, settings.credit_value],
  );
  return rows[0] ?? null;
}

/** Replaces the secret that signs a webhook's calls. */
export async function replaceFulfilmentSecret(tx: Queryable, id: string, secret: Buffer): Promise<void> {
  await tx.query('UPDATE fulfilments SET secret = $2, updated_at = clock_timestamp() WHERE id = $1', [
    id,
    secret,
  ]);
}

/** Deletes a fulfilment; its pending deliveries fail. Returns false when there is none. */
export async function deleteFulfilment(tx: Queryable, workspaceId: string, id: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    `UPDATE fulfilments SET deleted_at = clock_timestamp(), restricted_key = NULL WHERE ${OWN} AND id = $2`,
    [workspaceId, id],
  );
  if (rowCount !== 1) return false;
  await tx.query(
    `UPDATE grant_deliveries SET status = 'failed', error = 'the fulfilment was deleted', next_attempt_at = NULL
     WHERE fulfilment_id = $1 AND status = 'pending'`,
    [id],
  );
  return true;
}
