import { uuidv7 } from '../../core/ids.ts';
import { nextCreation } from '../database/creation-times.ts';
import { isoMicros } from '../database/instants.ts';
import type { Queryable } from '../database/pool.ts';
import { workspaceRows } from '../database/workspace-list.ts';

/** The content of a shared dashboard. `values`: tags, or ids of folders or links; empty for the workspace. */
export type DashboardScope = { type: 'workspace' | 'tag' | 'folder' | 'links'; values: string[] };

/** `created_at`: ISO 8601 with microseconds, unique in the workspace. */
export type SharedDashboard = {
  id: string;
  workspace_id: string;
  name: string;
  token: string;
  scope: DashboardScope;
  password_hash: string | null;
  show_revenue: boolean;
  show_annotations: boolean;
  /** Whether other pages may frame it. Never with a password. */
  embed: boolean;
  expires_at: string | null;
  created_at: string;
};

/** Fields that a create stores and a change may set. */
export type DashboardFields = Pick<
  SharedDashboard,
  'name' | 'scope' | 'password_hash' | 'show_revenue' | 'show_annotations' | 'embed' | 'expires_at'
>;

const COLUMNS = `id, workspace_id, name, token,
  json_build_object('type', scope_type, 'values', scope_values) AS scope,
  password_hash, show_revenue, show_annotations, embed, ${isoMicros('expires_at')} AS expires_at,
  ${isoMicros('created_at')} AS created_at`;

export const {
  count: countSharedDashboards,
  list: listSharedDashboards,
  lock: lockSharedDashboard,
  delete: deleteSharedDashboard,
} = workspaceRows<SharedDashboard>('shared_dashboards', COLUMNS);

/** Creates a dashboard. The caller has locked the workspace: creation times are unique in it. */
export async function insertSharedDashboard(
  tx: Queryable,
  workspaceId: string,
  token: string,
  { name, scope, password_hash, show_revenue, show_annotations, embed, expires_at }: DashboardFields,
): Promise<SharedDashboard> {
  const { rows } = await tx.query<SharedDashboard>(
    `INSERT INTO shared_dashboards (id, workspace_id, token, name, scope_type, scope_values, password_hash,
       show_revenue, show_annotations, embed, expires_at, created_at)
     SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, ${nextCreation('shared_dashboards', '$2')}
     RETURNING ${COLUMNS}`,
    [
      uuidv7(),
      workspaceId,
      token,
      name,
      scope.type,
      scope.values,
      password_hash,
      show_revenue,
      show_annotations,
      embed,
      expires_at,
    ],
  );
  if (!rows[0]) throw new Error('the shared dashboard was not inserted');
  return rows[0];
}

/** Stores the fields of a dashboard that the caller read in this transaction. */
export async function updateSharedDashboard(
  tx: Queryable,
  workspaceId: string,
  id: string,
  { name, scope, password_hash, show_revenue, show_annotations, embed, expires_at }: DashboardFields,
): Promise<SharedDashboard> {
  const { rows } = await tx.query<SharedDashboard>(
    `UPDATE shared_dashboards SET name = $3, scope_type = $4, scope_values = $5, password_hash = $6,
       show_revenue = $7, show_annotations = $8, embed = $9, expires_at = $10
     WHERE id = $1 AND workspace_id = $2 RETURNING ${COLUMNS}`,
    [
      id,
      workspaceId,
      name,
      scope.type,
      scope.values,
      password_hash,
      show_revenue,
      show_annotations,
      embed,
      expires_at,
    ],
  );
  if (!rows[0]) throw new Error(`the shared dashboard ${id} was not updated`);
  return rows[0];
}

/** Returns the values of scopes that exist: folders and links that are not deleted, and tags that a link has. */
export async function presentScopeValues(
  db: Queryable,
  workspaceId: string,
  scopes: readonly DashboardScope[],
): Promise<ReadonlySet<string>> {
  const valuesOf = (type: DashboardScope['type']) =>
    scopes.flatMap((scope) => (scope.type === type ? scope.values : []));
  const { rows } = await db.query<{ value: string }>(
    `SELECT id::text AS value FROM folders WHERE workspace_id = $1 AND id = ANY ($2::uuid[])
     UNION ALL
     SELECT id::text FROM links WHERE workspace_id = $1 AND id = ANY ($3::uuid[]) AND deleted_at IS NULL
     UNION
     SELECT tag FROM destinations, unnest(tags) AS tag WHERE workspace_id = $1 AND tag = ANY ($4)`,
    [workspaceId, valuesOf('folder'), valuesOf('links'), valuesOf('tag')],
  );
  return new Set(rows.map(({ value }) => value));
}

/** Returns the dashboard of a token, unless it has ended. Null without one. */
export async function openDashboardByToken(db: Queryable, token: string): Promise<SharedDashboard | null> {
  const { rows } = await db.query<SharedDashboard>(
    `SELECT ${COLUMNS} FROM shared_dashboards
     WHERE token = $1 AND (expires_at IS NULL OR expires_at > now())`,
    [token],
  );
  return rows[0] ?? null;
}
