import { uuidv7 } from '../../core/ids.ts';
import { type CommissionType, NO_OWN_TERMS, type OwnTerms } from '../../core/referrals/terms.ts';
import { conditionsAfter } from '../database/conditions.ts';
import type { Queryable } from '../database/pool.ts';
import type { ChangeOrigin, Enrollment } from './enrollments.ts';

/** Referrers of a program with terms of their own. Null: the program's. */
export type PartnerGroup = {
  /** Also the cursor of the list, newest first. */
  id: string;
  workspace_id: string;
  program_id: string;
  name: string;
  commission_type: CommissionType | null;
  /** Percent, or major units of the program's currency when flat. */
  commission_rate: number | null;
  hold_days: number | null;
  /** Minor units of `currency`. */
  min_payout_minor: number | null;
  /** The program's. */
  currency: string;
  /** How many referrers are in it. */
  partners: number;
  created_at: Date;
  updated_at: Date;
};

/** What a group is called and pays. */
export type GroupSettings = Pick<
  PartnerGroup,
  'name' | 'commission_type' | 'commission_rate' | 'hold_days' | 'min_payout_minor'
>;

const SELECT = `SELECT g.id, g.workspace_id, g.program_id, g.name, g.commission_type,
    g.commission_rate::float8 AS commission_rate, g.hold_days, g.min_payout_minor, p.currency, g.created_at, g.updated_at,
    (SELECT count(*) FROM enrollments e WHERE e.group_id = g.id AND e.deleted_at IS NULL)::integer AS partners
  FROM partner_groups g JOIN programs p ON p.id = g.program_id`;

/** @param filter.before a group's id: only older ones */
export async function listGroups(
  db: Queryable,
  workspaceId: string,
  filter: { id: string | null; programId: string | null; before: string | null; limit: number },
): Promise<PartnerGroup[]> {
  const { add, parameter, text, values } = conditionsAfter(workspaceId);
  add((p) => `g.id = ${p}`, filter.id);
  add((p) => `g.program_id = ${p}`, filter.programId);
  add((p) => `g.id < ${p}`, filter.before);
  const { rows } = await db.query<PartnerGroup>(
    `${SELECT} WHERE g.workspace_id = $1${text()} ORDER BY g.id DESC LIMIT ${parameter(filter.limit)}`,
    values,
  );
  return rows;
}

/** Returns the group with this id in the workspace, or null. */
export async function groupById(
  db: Queryable,
  workspaceId: string,
  id: string,
): Promise<PartnerGroup | null> {
  const [group] = await listGroups(db, workspaceId, { id, programId: null, before: null, limit: 1 });
  return group ?? null;
}

/** {@link groupById}, locked against every other change until the transaction ends. */
export async function lockGroup(
  tx: Queryable,
  workspaceId: string,
  id: string,
): Promise<PartnerGroup | null> {
  await tx.query('SELECT FROM partner_groups WHERE workspace_id = $1 AND id = $2 FOR NO KEY UPDATE', [
    workspaceId,
    id,
  ]);
  return groupById(tx, workspaceId, id);
}

/**
 * Stores a group. The caller has locked the program.
 *
 * @returns its id; null when the program has a group of this name, ignoring case
 */
export async function insertGroup(
  tx: Queryable,
  {
    workspaceId,
    programId,
    now,
    ...settings
  }: GroupSettings & { workspaceId: string; programId: string; now: Date },
): Promise<string | null> {
  const { rows } = await tx.query<{ id: string }>(
    `INSERT INTO partner_groups (id, workspace_id, program_id, name, commission_type, commission_rate, hold_days,
       min_payout_minor, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9) ON CONFLICT (program_id, lower(name)) DO NOTHING RETURNING id`,
    [uuidv7(), workspaceId, programId, ...valuesOf(settings), now],
  );
  return rows[0]?.id ?? null;
}

/**
 * Changes a group for later events. The caller has locked it and its program.
 *
 * @returns false when the program has another group of this name
 */
export async function updateGroup(
  tx: Queryable,
  { id, program_id }: PartnerGroup,
  settings: GroupSettings,
  now: Date,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `UPDATE partner_groups SET name = $3, commission_type = $4, commission_rate = $5, hold_days = $6,
       min_payout_minor = $7, updated_at = $8
     WHERE id = $1 AND NOT EXISTS (
       SELECT FROM partner_groups WHERE program_id = $2 AND id <> $1 AND lower(name) = lower($3))`,
    [id, program_id, ...valuesOf(settings), now],
  );
  return rowCount === 1;
}

const valuesOf = (settings: GroupSettings) => [
  settings.name,
  settings.commission_type,
  settings.commission_rate,
  settings.hold_days,
  settings.min_payout_minor,
];

/** Deletes a group of the workspace; its referrers have the program's terms then. Returns false when there is none. */
export async function deleteGroup(
  tx: Queryable,
  workspaceId: string,
  id: string,
  { now, by }: ChangeOrigin,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    'SELECT FROM partner_groups WHERE workspace_id = $1 AND id = $2 FOR UPDATE',
    [workspaceId, id],
  );
  if (rowCount !== 1) return false;
  await tx.query(
    'UPDATE enrollments SET group_id = NULL, updated_at = $2, changed_by = $3 WHERE group_id = $1',
    [id, now, by],
  );
  await tx.query('DELETE FROM partner_groups WHERE id = $1', [id]);
  return true;
}

/** Returns how many groups a program has. */
export async function countGroups(tx: Queryable, programId: string): Promise<number> {
  const { rows } = await tx.query<{ count: number }>(
    'SELECT count(*)::integer AS count FROM partner_groups WHERE program_id = $1',
    [programId],
  );
  return rows[0]?.count ?? 0;
}

/** Returns whether groups of a locked program have amounts in its currency. */
export async function groupsHaveAmounts(tx: Queryable, programId: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    `SELECT FROM partner_groups WHERE program_id = $1 AND (min_payout_minor IS NOT NULL OR commission_type = 'flat') LIMIT 1`,
    [programId],
  );
  return rowCount !== 0;
}

/** Returns a group that stays until the transaction ends, or null. Call it before the referrer is locked. */
export async function lockGroupShared(
  tx: Queryable,
  workspaceId: string,
  id: string,
): Promise<{ id: string; program_id: string } | null> {
  const { rows } = await tx.query<{ id: string; program_id: string }>(
    'SELECT id, program_id FROM partner_groups WHERE workspace_id = $1 AND id = $2 FOR KEY SHARE',
    [workspaceId, id],
  );
  return rows[0] ?? null;
}

/**
 * Returns what a referrer has in place of a program's terms. A group counts in its program alone; the referrer's own
 * rate comes first, and counts in every program.
 */
export async function ownTermsOf(
  db: Queryable,
  enrollment: Pick<Enrollment, 'group_id' | 'commission_type' | 'commission_rate'>,
  programId: string,
): Promise<OwnTerms> {
  const { group_id: groupId } = enrollment;
  const group = groupId === null ? NO_OWN_TERMS : await termsOfGroup(db, groupId, programId);
  return withOwnRate(enrollment, group);
}

/** Returns the terms of a referrer's group with the referrer's own rate, if there is one. */
export function withOwnRate(
  { commission_type: type, commission_rate: rate }: Pick<Enrollment, 'commission_type' | 'commission_rate'>,
  group: OwnTerms,
): OwnTerms {
  return type === null || rate === null ? group : { ...group, commission: { type, rate } };
}

/** Returns what a group has in place of the terms of its program; none in another program. */
export async function termsOfGroup(db: Queryable, id: string, programId: string): Promise<OwnTerms> {
  const { rows } = await db.query<Omit<GroupSettings, 'name'>>(
    `SELECT commission_type, commission_rate::float8 AS commission_rate, hold_days, min_payout_minor
     FROM partner_groups WHERE id = $1 AND program_id = $2`,
    [id, programId],
  );
  const [found] = rows;
  if (!found) return NO_OWN_TERMS;
  const { commission_type: type, commission_rate: rate } = found;
  return {
    commission: type === null || rate === null ? null : { type, rate },
    holdDays: found.hold_days,
    minPayoutMinor: found.min_payout_minor,
  };
}

/** Returns the days of the hold period of these referrers whose group of the program has its own. */
export async function holdDaysOf(
  db: Queryable,
  programId: string,
  enrollmentIds: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await db.query<{ id: string; hold_days: number }>(
    `SELECT e.id, g.hold_days FROM enrollments e JOIN partner_groups g ON g.id = e.group_id
     WHERE e.id = ANY ($2) AND g.program_id = $1 AND g.hold_days IS NOT NULL`,
    [programId, enrollmentIds],
  );
  return new Map(rows.map(({ id, hold_days }) => [id, hold_days]));
}
