import { randomBytes } from 'node:crypto';
import { hashPassword, LINK_COST } from '../../core/access/passwords.ts';
import { AppError, badRequest } from '../../core/errors.ts';
import { checkAll } from '../../core/faults.ts';
import { isUuid } from '../../core/ids.ts';
import { formatInstant, NANOS_PER_MICRO, requireInstant } from '../../core/time/timestamps.ts';
import { annotations } from '../../sql/console/annotations.ts';
import {
  type DashboardFields,
  type DashboardScope,
  presentScopeValues,
  type SharedDashboard,
} from '../../sql/console/shared-dashboards.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import { foldersByIds } from '../../sql/links/folders.ts';
import { linksByIds } from '../../sql/links/links.ts';
import { MOST_ANNOTATIONS, type SharedAnnotation } from '../annotations/schemas.ts';
import type { Scope, SharedDashboardChange, SharedDashboardRecord } from './schemas.ts';

/** Maximum number of shared dashboards of a workspace. */
export const MOST_DASHBOARDS = 200;

/** Returns a new token: 32 random bytes in base64url. */
export const newDashboardToken = (): string => randomBytes(32).toString('base64url');

/** Returns dashboards of a workspace as the API shows them. */
export async function recordsOf(
  db: Queryable,
  workspaceId: string,
  appUrl: string,
  dashboards: readonly SharedDashboard[],
): Promise<SharedDashboardRecord[]> {
  const present = await presentScopeValues(
    db,
    workspaceId,
    dashboards.map(({ scope }) => scope),
  );
  return dashboards.map((dashboard) => recordOf(appUrl, dashboard, present));
}

/** {@link recordsOf} for one. */
export async function oneRecordOf(
  db: Queryable,
  workspaceId: string,
  appUrl: string,
  dashboard: SharedDashboard,
): Promise<SharedDashboardRecord> {
  const present = await presentScopeValues(db, workspaceId, [dashboard.scope]);
  return recordOf(appUrl, dashboard, present);
}

/** Returns whether a dashboard's whole scope was deleted, so that it shows 0. */
export async function isScopeGone(
  db: Queryable,
  { workspace_id, scope }: Pick<SharedDashboard, 'workspace_id' | 'scope'>,
): Promise<boolean> {
  if (scope.type === 'workspace') return false;
  return (await presentScopeValues(db, workspace_id, [scope])).size === 0;
}

/** Returns the annotations of a workspace as visitors see them. */
export async function sharedAnnotations(db: Queryable, workspaceId: string): Promise<SharedAnnotation[]> {
  const all = await annotations.list(db, workspaceId, { before: null, limit: MOST_ANNOTATIONS });
  return all.map(({ at, text }) => ({ at, text }));
}

function recordOf(
  appUrl: string,
  dashboard: SharedDashboard,
  present: ReadonlySet<string>,
): SharedDashboardRecord {
  const { id, name, token, scope, show_revenue, show_annotations, password_hash, embed } = dashboard;
  return {
    id,
    name,
    token,
    url: `${appUrl}/shared/${token}`,
    scope: scope.type === 'workspace' ? { type: 'workspace' } : scope,
    show_revenue,
    show_annotations,
    has_password: password_hash !== null,
    embed,
    missing_values: scope.values.filter((value) => !present.has(value)),
    expires_at: dashboard.expires_at,
    created_at: dashboard.created_at,
  };
}

/**
 * Hashes the password of a change, before its transaction: undefined when the password does not change.
 */
export async function passwordHashOf({
  password,
}: Pick<SharedDashboardChange, 'password'>): Promise<string | null | undefined> {
  return password === undefined || password === null ? password : hashPassword(password, LINK_COST);
}

/**
 * Returns the fields of a dashboard with a change applied.
 *
 * @param passwordHash of {@link passwordHashOf}
 * @throws {AppError} `bad_request` for an invalid scope, an end in the past or a frame with a password, `not_found` for
 *   a folder or link that the workspace does not have
 */
export async function changedFields(
  tx: Queryable,
  workspaceId: string,
  before: DashboardFields,
  change: SharedDashboardChange,
  passwordHash: string | null | undefined,
): Promise<DashboardFields> {
  const after = {
    name: change.name ?? before.name,
    scope: change.scope ? await readScope(tx, workspaceId, change.scope) : before.scope,
    password_hash: passwordHash === undefined ? before.password_hash : passwordHash,
    show_revenue: change.show_revenue ?? before.show_revenue,
    show_annotations: change.show_annotations ?? before.show_annotations,
    embed: change.embed ?? before.embed,
    expires_at: change.expires_at === undefined ? before.expires_at : readEnd(change.expires_at),
  };
  // A page of another site must not frame a form for a password of ours: it could imitate it.
  if (after.embed && after.password_hash !== null) throw frameWithPassword();
  return after;
}

/** Fields of a new dashboard that its create leaves out. */
export const DEFAULT_FIELDS: DashboardFields = {
  name: '',
  scope: { type: 'workspace', values: [] },
  password_hash: null,
  show_revenue: false,
  show_annotations: false,
  embed: false,
  expires_at: null,
};

/**
 * Checks a create or change body for what does not depend on the dashboard.
 *
 * @throws {AppError} `bad_request` that names every fault
 */
export function checkDashboard({ scope, embed, password, expires_at }: SharedDashboardChange): void {
  checkAll([
    () => scope && checkScope(scope),
    () => expires_at && readEnd(expires_at),
    () => {
      if (embed && (password ?? null) !== null) throw frameWithPassword();
    },
  ]);
}

const frameWithPassword = () => badRequest('embed', 'must be false for a dashboard with a password');

/** @throws {AppError} `bad_request` for values that do not fit the type */
function checkScope(scope: Scope): void {
  const { type, values = [] } = scope;
  if (type === 'workspace') {
    if (scope.values) throw badRequest('scope.values', 'must be left out for the type `workspace`');
    return;
  }
  if (values.length === 0) throw badRequest('scope.values', `must name what the type \`${type}\` shows`);
  if (type !== 'tag' && !values.every(isUuid))
    throw badRequest('scope.values', `must be ids for the type \`${type}\``);
}

async function readScope(tx: Queryable, workspaceId: string, scope: Scope): Promise<DashboardScope> {
  const { type, values = [] } = scope;
  checkScope(scope);
  if (type === 'workspace' || type === 'tag') return { type, values };
  const known = await (type === 'folder' ? foldersByIds : linksByIds)(tx, workspaceId, values);
  const ids = new Set(known.map(({ id }) => id));
  if (values.some((id) => !ids.has(id.toLowerCase()))) {
    const one = type === 'folder' ? 'folder' : 'link';
    throw new AppError('not_found', `\`scope.values\` names a ${one} that the workspace does not have`);
  }
  return { type, values: [...ids] };
}

function readEnd(text: string | null): string | null {
  if (text === null) return null;
  const nanos = requireInstant('expires_at', text);
  if (nanos <= BigInt(Date.now()) * 1_000_000n) throw badRequest('expires_at', 'must be in the future');
  return formatInstant(nanos - (nanos % NANOS_PER_MICRO), 6);
}
