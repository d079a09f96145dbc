import { randomUUID } from 'node:crypto';
import { uuidv7 } from '../../core/ids.ts';
import type { Language } from '../../core/languages/languages.ts';
import type { Tracking } from '../../core/tracking/tracking.ts';
import type { Queryable } from '../database/pool.ts';

export const PLANS = ['free', 'starter', 'pro', 'business', 'unlimited'] as const;
export type Plan = (typeof PLANS)[number];
export const PLAN_STATUSES = ['active', 'trialing', 'past_due', 'canceled'] as const;
export type PlanStatus = (typeof PLAN_STATUSES)[number];
export const ATTRIBUTION_MODELS = ['last_click', 'first_click', 'linear'] as const;
export type AttributionModel = (typeof ATTRIBUTION_MODELS)[number];

/** `required`: calls with a publishable key that name a user need a `user_hash`. */
export const IDENTITY_VERIFICATIONS = ['off', 'required'] as const;
export type IdentityVerification = (typeof IDENTITY_VERIFICATIONS)[number];
/** Longest time that a payout line is held back after its address changed. Days. */
export const MOST_PAYOUT_HOLD_DAYS = 90;
/** Longest `retention_months`. */
export const MOST_RETENTION_MONTHS = 120;

export type Workspace = {
  id: string;
  name: string;
  slug: string;
  primary_domain: string | null;
  plan: Plan;
  plan_status: PlanStatus;
  attribution_model: AttributionModel;
  /** Days. */
  attribution_window: number;
  /** Lower-case ISO 4217 code. */
  currency: string;
  identity_verification: IdentityVerification;
  /** IANA time zone of days in reports. Null: UTC for the API, the viewer's in the console. */
  time_zone: string | null;
  /** How long a payout line is held back after an unproven change of its address. */
  payout_hold_days: number;
  /** Origins of pages that may use a publishable key; empty: any. */
  allowed_origins: string[];
  /** The language of visitors' pages and of mail. Null: each visitor's own for pages, English for mail. */
  language: Language | null;
  /** Whether owners are told of problems by mail. */
  problem_mails: boolean;
  /** Whether workers request its destinations once a day. */
  check_destinations: boolean;
  tracking: Tracking;
  /** Clicks older than this many months are deleted; null: none. */
  retention_months: number | null;
  partner_id: string | null;
  partner_external_id: string | null;
  created_at: Date;
  /** When the operator suspended the workspace; null: not suspended. */
  suspended_at: Date | null;
  /** The workspace whose members view this one, which has sample data only; null: it has data of its own. */
  sample_of: string | null;
};

const COLUMN_NAMES = [
  'id',
  'name',
  'slug',
  'primary_domain',
  'plan',
  'plan_status',
  'attribution_model',
  'attribution_window',
  'currency',
  'identity_verification',
  'time_zone',
  'payout_hold_days',
  'allowed_origins',
  'language',
  'problem_mails',
  'check_destinations',
  'tracking',
  'retention_months',
  'partner_id',
  'partner_external_id',
  'created_at',
  'suspended_at',
  'sample_of',
] as const satisfies readonly (keyof Workspace)[];

/** Returns the columns of a {@link Workspace}, for a query that joins `workspaces` under this alias. */
export const workspaceColumns = (alias: string) => COLUMN_NAMES.map((name) => `${alias}.${name}`).join(', ');

const COLUMNS = COLUMN_NAMES.join(', ');

export type NewWorkspace = {
  name: string;
  plan: Plan;
  /** The workspace whose members view this one as sample data; left out: none. */
  sampleOf?: string;
  primaryDomain?: string | null;
  partnerId?: string;
  partnerExternalId?: string;
};

/** Suffixes are numbers up to this one, then random: a platform may create thousands of workspaces with one name. */
const NUMBERED = 10;

/** Creates a workspace. Its slug comes from its name, with a suffix when that is taken. */
export async function createWorkspace(db: Queryable, given: NewWorkspace): Promise<Workspace> {
  const base = slugOf(given.name);
  for (let attempt = 1; ; attempt++) {
    const { rows } = await db.query<Workspace>(
      `INSERT INTO workspaces (id, name, slug, plan, primary_domain, partner_id, partner_external_id, sample_of)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (slug) DO NOTHING RETURNING ${COLUMNS}`,
      [
        uuidv7(),
        given.name,
        attempt === 1
          ? base
          : attempt <= NUMBERED
            ? `${base}-${attempt}`
            : `${base}-${randomUUID().slice(0, 8)}`,
        given.plan,
        given.primaryDomain ?? null,
        given.partnerId ?? null,
        given.partnerExternalId ?? null,
        given.sampleOf ?? null,
      ],
    );
    if (rows[0]) return rows[0];
  }
}

function slugOf(name: string): string {
  const slug = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40);
  return slug || 'workspace';
}

/** Returns the workspace with this id, or null. */
export async function workspaceById(db: Queryable, id: string): Promise<Workspace | null> {
  const { rows } = await db.query<Workspace>(`SELECT ${COLUMNS} FROM workspaces WHERE id = $1`, [id]);
  return rows[0] ?? null;
}

/**
 * Returns the workspace as it is now, locked until the transaction ends. This serializes creation of links, checks of
 * the cap and changes of the domain. Inserts that only refer to the workspace don't wait.
 *
 * @throws Error when there is none
 */
export async function lockWorkspace(tx: Queryable, id: string): Promise<Workspace> {
  const { rows } = await tx.query<Workspace>(
    `SELECT ${COLUMNS} FROM workspaces WHERE id = $1 FOR NO KEY UPDATE`,
    [id],
  );
  if (!rows[0]) throw new Error(`workspace ${id} does not exist`);
  return rows[0];
}

/** Returns the workspace with this id or slug, or null. An id wins over a slug that looks like it. */
export async function findWorkspace(db: Queryable, idOrSlug: string): Promise<Workspace | null> {
  const { rows } = await db.query<Workspace>(
    `SELECT ${COLUMNS} FROM workspaces WHERE (id::text = lower($1) OR slug = $1) AND removed_at IS NULL
     ORDER BY id::text = lower($1) DESC LIMIT 1`,
    [idOrSlug],
  );
  return rows[0] ?? null;
}

/** Returns whether the workspace has any order. */
export async function hasOrders(db: Queryable, id: string): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>(
    'SELECT EXISTS (SELECT FROM orders WHERE workspace_id = $1) AS found',
    [id],
  );
  return rows[0]?.found === true;
}

/** Returns every workspace, oldest first, without sample data that was removed. */
export async function listWorkspaces(db: Queryable): Promise<Workspace[]> {
  const { rows } = await db.query<Workspace>(
    `SELECT ${COLUMNS} FROM workspaces WHERE removed_at IS NULL ORDER BY created_at, id`,
  );
  return rows;
}

/** Suspends a workspace, or ends its suspension. Returns the workspace, or null when there is none. */
export async function suspendWorkspace(
  db: Queryable,
  id: string,
  isSuspended: boolean,
): Promise<Workspace | null> {
  const { rows } = await db.query<Workspace>(
    `UPDATE workspaces SET suspended_at = CASE WHEN $2 THEN coalesce(suspended_at, now()) END
     WHERE id = $1 RETURNING ${COLUMNS}`,
    [id, isSuspended],
  );
  return rows[0] ?? null;
}

export type WorkspaceSettings = Partial<
  Pick<
    Workspace,
    | 'name'
    | 'plan'
    | 'plan_status'
    | 'attribution_model'
    | 'attribution_window'
    | 'primary_domain'
    | 'currency'
    | 'identity_verification'
    | 'payout_hold_days'
    | 'allowed_origins'
    | 'language'
    | 'problem_mails'
    | 'check_destinations'
    | 'time_zone'
    | 'tracking'
    | 'retention_months'
  >
>;

const SETTABLE = [
  'name',
  'plan',
  'plan_status',
  'attribution_model',
  'attribution_window',
  'primary_domain',
  'currency',
  'identity_verification',
  'payout_hold_days',
  'allowed_origins',
  'language',
  'problem_mails',
  'check_destinations',
  'time_zone',
  'tracking',
  'retention_months',
] as const satisfies readonly (keyof WorkspaceSettings)[];

/** Changes the given settings and leaves the others. Returns the workspace, or null when there is none. */
export async function updateWorkspace(
  db: Queryable,
  id: string,
  settings: WorkspaceSettings,
): Promise<Workspace | null> {
  const names = SETTABLE.filter((name) => settings[name] !== undefined);
  if (names.length === 0) return workspaceById(db, id);
  const assignments = names.map((name, index) => `${name} = $${index + 2}`).join(', ');
  const { rows } = await db.query<Workspace>(
    `UPDATE workspaces SET ${assignments} WHERE id = $1 RETURNING ${COLUMNS}`,
    [id, ...names.map((name) => settings[name])],
  );
  return rows[0] ?? null;
}

/** Returns the workspaces that keep clicks for a limited time, by their `retention_months`. */
export async function workspacesByRetention(db: Queryable): Promise<Map<number, string[]>> {
  const { rows } = await db.query<{ months: number; ids: string[] }>(
    `SELECT retention_months AS months, array_agg(id::text) AS ids FROM workspaces
     WHERE retention_months IS NOT NULL GROUP BY retention_months`,
  );
  return new Map(rows.map(({ months, ids }) => [months, ids]));
}
