import type { Queryable } from '../database/pool.ts';
import { MAX_JOINED } from './joined-visitors.ts';

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
export const BROWSER = `CROSS JOIN LATERAL (
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
/** SQL: another lead of the person that counts already, or is earlier. Times of two streams may be equal. */
const leadWith = (condition: string) =>
  `${isIn('leads', condition)} AND (known.ts, known.stream_ordinal) <> (lead.ts, lead.stream_ordinal)
    AND (known.attributed_at IS NOT NULL OR (known.ts, known.stream_ordinal) < (lead.ts, lead.stream_ordinal)))`;

/** SQL: whether an earlier identify is of the same person, one hop away: by visitor, email or user. */
export const IS_KNOWN = `(
    ${earlierIn('identities', 'known.visitor_id = ANY (browser.ids)')}
    OR ${earlierIn('identities', 'known.email = lead.email')}
    OR ${earlierIn('identities', 'known.external_user_id = lead.external_user_id')}
    OR ${earlierIn('visitor_users', 'known.visitor_id = ANY (browser.ids)')}
    OR ${earlierIn('visitor_users', 'known.external_user_id = lead.external_user_id')}
    OR ${leadWith('known.visitor_id = ANY (browser.ids)')}
    OR ${leadWith('known.email = lead.email')}
    OR ${leadWith('known.external_user_id = lead.external_user_id')})`;

/**
 * Stores the identifies that may be the first of a person: an earlier one may not be stored yet. Call it after the
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
