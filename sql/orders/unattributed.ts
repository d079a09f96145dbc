import type { Queryable } from '../database/pool.ts';
import { missedParameters, recordsMissed, type StoredWrite } from '../event-log/replica-repairs.ts';
import type { AttributionModel } from '../workspaces/workspaces.ts';
import { IS_UNDONE } from './imported-orders.ts';
import { BROWSER, IS_KNOWN } from './leads.ts';
import { visitorOfUser } from './user-visitors.ts';

/**
 * The shares of one version of an event: their number and the event's time then (microseconds), by which they are
 * found.
 */
export type WrittenShares = { version: number; parts: number; ts: number; streamOrdinal: number };

/** Kinds of events that attribution connects to clicks, by the table in which they wait for it. */
export type ConversionKind = 'orders' | 'leads';

/** A link that gets an order if no click of its buyer does. An empty domain is the deployment's own. */
export type NamedLink = { id: string; slug: string; domain: string; channel: string | null };

/** An order or a lead that waits for attribution. */
export type Unattributed = {
  internalId: number;
  workspaceId: string;
  /** The order's id; a lead has a name for its shares. */
  orderId: string;
  version: number;
  /** Microseconds. */
  ts: number;
  streamOrdinal: number;
  /** The event's visitor, or the visitor known to be its user; null: none. */
  visitorId: string | null;
  /** Other ids of the same browser. */
  otherVisitorIds: readonly string[];
  email: string | null;
  /** The link that an imported order names; null: none. */
  link: NamedLink | null;
  /** Null: a lead. */
  revenue: { amountMinor: number; currency: string; workspaceCurrency: string } | null;
  /**
   * It gets no shares: an older order of the same payment counts, or an earlier identify of the same person, or its
   * import was undone.
   */
  isGivenUp: boolean;
  model: AttributionModel;
  /** Days. */
  window: number;
  /**
   * Versions whose attributed shares may be in ClickHouse, including this one once a worker has begun to write its
   * shares.
   */
  written: readonly WrittenShares[];
  /** Changes with the row. */
  rowVersion: string;
};

/** Each kind's lock (the first half of the advisory locks that claim events), condition, columns and mark. */
const KINDS = {
  orders: {
    lock: 7_205,
    // Imported clicks are found by their visitor once their days are rolled up.
    waits: `attributed_version IS DISTINCT FROM version AND (reported_at IS NULL OR reported_at < $1)
       AND (import_id IS NULL OR NOT EXISTS (SELECT FROM click_imports AS i
         WHERE i.workspace_id = orders.workspace_id AND i.roll_up_due IS NOT NULL))`,
    columns: `event.order_id, event.version,
       coalesce(event.visitor_id, event.pixel_visitor_id, event.signup_visitor_id,
         ${visitorOfUser('event.workspace_id', 'event.external_user_id')}) AS visitor_id,
       event.amount_minor, event.currency, workspace.currency AS workspace_currency,
       event.same_as IS NOT NULL OR ${IS_UNDONE('event')} AS is_given_up, named.link`,
    joined: `JOIN workspaces AS workspace ON workspace.id = event.workspace_id
     LEFT JOIN LATERAL (
       SELECT json_build_object('id', l.id, 'slug', l.slug, 'domain', coalesce(d.domain, ''), 'channel', l.channel) AS link
       FROM links l LEFT JOIN domains d ON d.number = l.domain_number
       WHERE l.id = event.link_id AND l.workspace_id = event.workspace_id) AS named ON true`,
    attributed: 'attributed_version = done.version',
  },
  leads: {
    lock: 7_206,
    waits: 'attributed_at IS NULL',
    // Each attempt writes a version of its own and replaces those of earlier attempts.
    columns: `'lead:' || event.internal_id AS order_id,
       greatest((extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
         (SELECT max((one ->> 'version')::bigint) + 1 FROM jsonb_array_elements(event.written_shares) AS one)) AS version,
       event.visitor_id, NULL AS amount_minor, NULL AS currency, NULL AS workspace_currency, ${IS_KNOWN} AS is_given_up, NULL AS link`,
    joined: `CROSS JOIN LATERAL (
       SELECT event.*, array_prepend(event.visitor_id, event.other_visitor_ids) AS visitors) AS lead ${BROWSER}`,
    attributed: 'attributed_at = now()',
  },
};

/**
 * SQL of the time that a worker has for writing recorded shares. After it another worker may write them too, which is
 * harmless: as after a kill, the newest version counts.
 */
const CLAIMED_UNTIL = "clock_timestamp() + interval '20 seconds'";

/**
 * Claims events older than the watermark whose shares are missing, oldest first, until the transaction ends: every
 * earlier identify is stored. {@link recordShares} prolongs the claim. An order that was reported through the API waits
 * until the watermark has passed that report too. Skips other workers' claims. Advisory locks, so that a lane never
 * waits for an attribution.
 *
 * @param before microseconds: the watermark
 */
export async function claimUnattributed(
  transaction: Queryable,
  kind: ConversionKind,
  before: number,
  limit: number,
): Promise<Unattributed[]> {
  const { lock, waits, columns, joined } = KINDS[kind];
  const { rows } = await transaction.query<{
    internal_id: number;
    workspace_id: string;
    order_id: string;
    version: number;
    ts: number;
    stream_ordinal: number;
    visitor_id: string | null;
    other_visitor_ids: string[];
    email: string | null;
    amount_minor: number | null;
    currency: string;
    workspace_currency: string;
    attribution_model: AttributionModel;
    attribution_window: number;
    written_shares: WrittenShares[];
    is_given_up: boolean;
    link: NamedLink | null;
    row_version: string;
  }>(
    `WITH waiting AS MATERIALIZED (
       SELECT internal_id FROM ${kind}
       WHERE ${waits} AND ts < $1 AND (claimed_until IS NULL OR claimed_until < now())
       ORDER BY ts LIMIT $2 * 4
     ), claimed AS MATERIALIZED (
       SELECT internal_id FROM waiting WHERE pg_try_advisory_xact_lock($3, (internal_id % 2147483647)::int) LIMIT $2
     )
     SELECT event.internal_id, event.workspace_id, event.ts, event.stream_ordinal, event.other_visitor_ids, event.email,
       event.attribution_model, event.attribution_window, event.written_shares, event.xmin::text AS row_version, ${columns}
     FROM claimed JOIN ${kind} AS event USING (internal_id) ${joined}
     ORDER BY event.ts`,
    [before, limit, lock],
  );
  return rows.map((row) => ({
    internalId: row.internal_id,
    workspaceId: row.workspace_id,
    orderId: row.order_id,
    version: row.version,
    ts: row.ts,
    streamOrdinal: row.stream_ordinal,
    visitorId: row.visitor_id,
    otherVisitorIds: row.other_visitor_ids,
    email: row.email,
    link: row.link,
    revenue:
      row.amount_minor === null
        ? null
        : {
            amountMinor: row.amount_minor,
            currency: row.currency,
            workspaceCurrency: row.workspace_currency,
          },
    isGivenUp: row.is_given_up,
    model: row.attribution_model,
    window: row.attribution_window,
    written: row.written_shares,
    rowVersion: row.row_version,
  }));
}

/** The shares that are about to be written for an event. */
export type SharesToWrite = {
  event: Unattributed;
  /** Every version whose shares may be in ClickHouse after the write. */
  written: readonly WrittenShares[];
  /** Whether they have no revenue because no rate is set for the order's currency. */
  withoutRate: boolean;
};

/**
 * Records the shares of claimed events before they are written, and extends the claim beyond the transaction. Commit it
 * before writing them.
 *
 * @returns the events that have not changed since they were claimed; do not write the shares of the others
 */
export async function recordShares(
  transaction: Queryable,
  kind: ConversionKind,
  shares: readonly SharesToWrite[],
): Promise<Set<number>> {
  if (shares.length === 0) return new Set();
  const { rows } = await transaction.query<{ internal_id: number }>(
    `UPDATE ${kind} AS event SET written_shares = about.written, claimed_until = ${CLAIMED_UNTIL}
       ${kind === 'orders' ? ', without_rate = about.without_rate' : ''}
     FROM unnest($1::bigint[], $2::text[], $3::jsonb[], $4::boolean[])
       AS about (internal_id, row_version, written, without_rate)
     WHERE event.internal_id = about.internal_id AND event.xmin::text = about.row_version
     RETURNING event.internal_id`,
    [
      shares.map(({ event }) => event.internalId),
      shares.map(({ event }) => event.rowVersion),
      shares.map(({ written }) => JSON.stringify(written)),
      shares.map(({ withoutRate }) => withoutRate),
    ],
  );
  return new Set(rows.map((row) => row.internal_id));
}

/** Ends the claim of events whose shares were not written. */
export async function releaseClaims(
  db: Queryable,
  kind: ConversionKind,
  internalIds: readonly number[],
): Promise<void> {
  await db.query(`UPDATE ${kind} SET claimed_until = NULL WHERE internal_id = ANY ($1::bigint[])`, [
    internalIds,
  ]);
}

/**
 * Records that the shares of these versions are in ClickHouse, and ends the claim. A newer version of an order still
 * waits for its own. The row of an identify that is not a lead is removed.
 *
 * @param write the shares, and the replicas that have them
 */
export async function markAttributed(
  db: Queryable,
  kind: ConversionKind,
  events: readonly Pick<Unattributed, 'internalId' | 'version' | 'isGivenUp'>[],
  write: StoredWrite,
): Promise<void> {
  const isGone = (event: (typeof events)[number]) => kind === 'leads' && event.isGivenUp;
  const [gone, marked] = [events.filter(isGone), events.filter((event) => !isGone(event))];
  if (gone.length > 0) {
    await db.query(`WITH ${recordsMissed(2)} DELETE FROM leads WHERE internal_id = ANY ($1::bigint[])`, [
      gone.map(({ internalId }) => internalId),
      ...missedParameters(write),
    ]);
  }
  if (marked.length === 0) return;
  await db.query(
    `WITH ${recordsMissed(3)}
     UPDATE ${kind} AS event
     SET ${KINDS[kind].attributed}, claimed_until = NULL
     FROM unnest($1::bigint[], $2::bigint[]) AS done (internal_id, version)
     WHERE event.internal_id = done.internal_id`,
    [
      marked.map(({ internalId }) => internalId),
      marked.map(({ version }) => version),
      ...missedParameters(write),
    ],
  );
}
