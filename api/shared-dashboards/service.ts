import { randomBytes } from 'node:crypto';
import { hashPassword, LINK_COST } from '../../core/access/passwords.ts';
import { AppError, badRequest } from '../../core/errors.ts';
import { isUuid } from '../../core/ids.ts';
import { formatInstant, NANOS_PER_MICRO, requireInstant } from '../../core/time/timestamps.ts';
import type {
  DashboardFields,
  DashboardScope,
  SharedDashboard,
} from '../../sql/console/shared-dashboards.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import { foldersByIds } from '../../sql/links/folders.ts';
import { linksByIds } from '../../sql/links/links.ts';
import type { Scope, SharedDashboardChange, SharedDashboardRecord } from './schemas.ts';

/** Shared dashboards of a workspace. */
export const MOST_DASHBOARDS = 200;

/** Returns a new token: 32 random bytes in base64url. */
export const newDashboardToken = (): string => randomBytes(32).toString('base64url');

/** Returns a dashboard as the API shows it. */
export function recordOf(appUrl: string, dashboard: SharedDashboard): SharedDashboardRecord {
  const { id, name, token, scope, show_revenue, password_hash, expires_at, created_at } = dashboard;
  return {
    id,
    name,
    token,
    url: `${appUrl}/shared/${token}`,
    scope: scope.type === 'workspace' ? { type: 'workspace' } : scope,
    show_revenue,
    has_password: password_hash !== null,
    expires_at,
    created_at,
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
 * @throws {AppError} `bad_request` for a scope without sense or an end in the past, `not_found` for a folder or link
 *   that the workspace does not have
 */
export async function changedFields(
  tx: Queryable,
  workspaceId: string,
  before: DashboardFields,
  change: SharedDashboardChange,
  passwordHash: string | null | undefined,
): Promise<DashboardFields> {
  return {
    name: change.name ?? before.name,
    scope: change.scope ? await readScope(tx, workspaceId, change.scope) : before.scope,
    password_hash: passwordHash === undefined ? before.password_hash : passwordHash,
    show_revenue: change.show_revenue ?? before.show_revenue,
    expires_at: change.expires_at === undefined ? before.expires_at : readEnd(change.expires_at),
  };
}

/** What a dashboard has when a create leaves it out. */
export const DEFAULT_FIELDS: DashboardFields = {
  name: '',
  scope: { type: 'workspace', values: [] },
  password_hash: null,
  show_revenue: false,
  expires_at: null,
};

async function readScope(tx: Queryable, workspaceId: string, scope: Scope): Promise<DashboardScope> {
  const { type, values = [] } = scope;
  if (type === 'workspace') {
    if (scope.values) throw badRequest('scope.values', 'must be left out for the type `workspace`');
    return { type, values };
  }
  if (values.length === 0) throw badRequest('scope.values', `must name what the type \`${type}\` shows`);
  if (type === 'tag') return { type, values };
  if (!values.every(isUuid)) throw badRequest('scope.values', `must be ids for the type \`${type}\``);
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
