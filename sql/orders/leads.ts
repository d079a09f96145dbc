import type { Queryable } from '../database/pool.ts';
import type { AttributionModel } from '../workspaces/workspaces.ts';
import { MAX_JOINED } from './joined-visitors.ts';
import { CLAIMED_UNTIL, IS_UNCLAIMED, type WrittenShares } from './unattributed-orders.ts';

/** An identify of a visitor. */
export type LeadReport = {
  workspaceId: string;
  visitorId: string;
  /** Other ids of the same browser. */
  otherVisitorIds: readonly string[];
  /** Lower case. */
  email: string | null;
  externalUserId: string | null;
  /** Microseconds. */
  ts: number;
  streamOrdinal: number;
};

/** A row that may be a lead, `lead`: the ids that are one person with its browser. */
const BROWSER = `CROSS JOIN LATERAL (
    SELECT ARRAY(
      SELECT unnest(lead.visitors) UNION
      SELECT joined.other_visitor_id FROM unnest(lead.visitors) AS one CROSS JOIN LATERAL (
        SELECT other_visitor_id FROM joined_visitors
        WHERE workspace_id = lead.workspace_id AND visitor_id = one ORDER BY last_ts DESC LIMIT ${MAX_JOINED}) AS joined
    ) AS ids) AS browser`;

const isIn = (table: string, condition: string) =>
  `EXISTS (SELECT FROM ${table} AS known WHERE known.workspace_id = lead.workspace_id AND ${condition}`;
const earlierIn = (table: string, condition: string) =>
  `${isIn(table, condition)} AND known.first_ts < lead.ts)`;
/** Another lead of the person: one that counts already, or an earlier one. Times of two streams may be equal. */
const leadWith = (condition: string) =>
  `${isIn('leads', condition)} AND (known.ts, known.stream_ordinal) <> (lead.ts, lead.stream_ordinal)
    AND (known.attributed_at IS NOT NULL OR (known.ts, known.stream_ordinal) < (lead.ts, lead.stream_ordinal)))`;

/** SQL: whether an earlier identify is of the same person, one hop away: by visitor, email or user. */
const IS_KNOWN = `(
    ${earlierIn('identities', 'known.visitor_id = ANY (browser.ids)')}
    OR ${earlierIn('identities', 'known.email = lead.email')}
    OR ${earlierIn('identities', 'known.external_user_id = lead.external_user_id')}
    OR ${earlierIn('visitor_users', 'known.visitor_id = ANY (browser.ids)')}
    OR ${earlierIn('visitor_users', 'known.external_user_id = lead.external_user_id')}
    OR ${leadWith('known.visitor_id = ANY (browser.ids)')}
    OR ${leadWith('known.email = lead.email')}
    OR ${leadWith('known.external_user_id = lead.external_user_id')})`;

/**
 * Stores the identifies that may be the first of a person: an earlier one may still be on its way. To be called after the
 * identities of the same events are stored. Leaves out reports of unknown workspaces.
 */
export async function noteLeads(transaction: Queryable, reports: readonly LeadReport[]): Promise<void> {
  if (reports.length === 0) return;
  const rows = [...reports].sort((a, b) => a.ts - b.ts || a.streamOrdinal - b.streamOrdinal);
  await transaction.query(
    `INSERT INTO leads (workspace_id, ts, stream_ordinal, visitor_id, other_visitor_ids, email, external_user_id,
       attribution_model, attribution_window)
     SELECT lead.workspace_id, lead.ts, lead.stream_ordinal, lead.visitors[1], lead.visitors[2:], lead.email,
       lead.external_user_id, lead.attribution_model, lead.attribution_window
     FROM (
       SELECT report.workspace_id, report.ts, report.stream_ordinal, report.visitors::uuid[] AS visitors, report.email,
         report.external_user_id, workspace.attribution_model, workspace.attribution_window
       FROM unnest($1::uuid[], $2::bigint[], $3::smallint[], $4::text[], $5::text[], $6::text[])
         AS report (workspace_id, ts, stream_ordinal, visitors, email, external_user_id)
       JOIN workspaces AS workspace ON workspace.id = report.workspace_id
     ) AS lead ${BROWSER}
     WHERE NOT ${IS_KNOWN} ORDER BY lead.workspace_id, lead.ts, lead.stream_ordinal
     ON CONFLICT (workspace_id, ts, stream_ordinal) DO NOTHING`,
    [
      rows.map((row) => row.workspaceId),
      rows.map((row) => row.ts),
      rows.map((row) => row.streamOrdinal),
      rows.map((row) => `{${[row.visitorId, ...row.otherVisitorIds].join()}}`),
      rows.map((row) => row.email),
      rows.map((row) => row.externalUserId),
    ],
  );
}

/** An identify that waits for attribution. */
export type WaitingLead = LeadReport & {
  internalId: number;
  /** Whether an earlier identify is of the same person: then it is no lead. */
  isKnown: boolean;
  model: AttributionModel;
  /** Days. */
  window: number;
  /** Versions whose attributed shares may be in ClickHouse. */
  written: readonly WrittenShares[];
  /** Changes with the row. */
  rowVersion: string;
};

// The first half of the advisory locks that claim leads; the second is the lead's number.
const CLAIM = 7_206;

/**
 * Claims leads older than the watermark, oldest first, until the transaction ends: every earlier identify is stored. Skips other
 * workers' claims. {@link recordLeadShares} prolongs the claim.
 *
 * @param before microseconds: the watermark
 */
export async function claimLeads(
  transaction: Queryable,
  before: number,
  limit: number,
): Promise<WaitingLead[]> {
  const { rows } = await transaction.query<{
    internal_id: number;
    workspace_id: string;
    visitor_id: string;
    other_visitor_ids: string[];
    email: string | null;
    external_user_id: string | null;
    ts: number;
    stream_ordinal: number;
    is_known: boolean;
    attribution_model: AttributionModel;
    attribution_window: number;
    written_shares: WrittenShares[];
    row_version: string;
  }>(
    `WITH waiting AS MATERIALIZED (
       SELECT internal_id FROM leads WHERE attributed_at IS NULL AND ts < $1 AND ${IS_UNCLAIMED}
       ORDER BY ts LIMIT $2 * 4
     ), claimed AS MATERIALIZED (
       SELECT internal_id FROM waiting WHERE pg_try_advisory_xact_lock($3, (internal_id % 2147483647)::int) LIMIT $2
     )
     SELECT lead.*, ${IS_KNOWN} AS is_known
     FROM (
       SELECT leads.*, array_prepend(visitor_id, other_visitor_ids) AS visitors, leads.xmin::text AS row_version
       FROM claimed JOIN leads USING (internal_id)
     ) AS lead ${BROWSER} ORDER BY lead.ts`,
    [before, limit, CLAIM],
  );
  return rows.map((row) => ({
    internalId: row.internal_id,
    workspaceId: row.workspace_id,
    visitorId: row.visitor_id,
    otherVisitorIds: row.other_visitor_ids,
    email: row.email,
    externalUserId: row.external_user_id,
    ts: row.ts,
    streamOrdinal: row.stream_ordinal,
    isKnown: row.is_known,
    model: row.attribution_model,
    window: row.attribution_window,
    written: row.written_shares,
    rowVersion: row.row_version,
  }));
}

/**
 * Records the shares of claimed leads that are about to be written, and prolongs the claim beyond the transaction. To be
 * committed before they are written.
 *
 * @returns the leads that have not changed since they were claimed; the shares of the others must not be written
 */
export async function recordLeadShares(
  transaction: Queryable,
  leads: readonly { lead: WaitingLead; written: readonly WrittenShares[] }[],
): Promise<Set<number>> {
  if (leads.length === 0) return new Set();
  const { rows } = await transaction.query<{ internal_id: number }>(
    `UPDATE leads SET written_shares = about.written, claimed_until = ${CLAIMED_UNTIL}
     FROM unnest($1::bigint[], $2::text[], $3::jsonb[]) AS about (internal_id, row_version, written)
     WHERE leads.internal_id = about.internal_id AND leads.xmin::text = about.row_version
     RETURNING leads.internal_id`,
    [
      leads.map(({ lead }) => lead.internalId),
      leads.map(({ lead }) => lead.rowVersion),
      leads.map(({ written }) => JSON.stringify(written)),
    ],
  );
  return new Set(rows.map((row) => row.internal_id));
}

/** Ends the claim of leads whose shares were not written. */
export async function releaseLeads(db: Queryable, internalIds: readonly number[]): Promise<void> {
  await db.query('UPDATE leads SET claimed_until = NULL WHERE internal_id = ANY ($1::bigint[])', [
    internalIds,
  ]);
}

/** Records that the shares of these leads are in ClickHouse. */
export async function markLeadsAttributed(db: Queryable, internalIds: readonly number[]): Promise<void> {
  if (internalIds.length === 0) return;
  await db.query(
    'UPDATE leads SET attributed_at = now(), claimed_until = NULL WHERE internal_id = ANY ($1::bigint[])',
    [internalIds],
  );
}

/** Removes what turned out to be no lead. Shares that were written for it are to be replaced before. */
export async function dropLeads(db: Queryable, internalIds: readonly number[]): Promise<void> {
  if (internalIds.length === 0) return;
  await db.query('DELETE FROM leads WHERE internal_id = ANY ($1::bigint[])', [internalIds]);
}
