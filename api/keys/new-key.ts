import type { KeyRestriction } from '../../core/access/key-scopes.ts';
import { AppError, badRequest } from '../../core/errors.ts';
import { readEach } from '../../core/faults.ts';
import { requireInstant } from '../../core/time/timestamps.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import { createKey, type KeyMaker, type KeyRights, mayStillMakeKeys } from '../../sql/workspaces/keys.ts';
import type { Auth } from '../dependencies.ts';
import type { KeyBody } from './schemas.ts';

/**
 * Creates a key for a caller, in a transaction that has locked the workspace.
 *
 * @throws {AppError} `unauthorized` when the caller lost its rights since the request began
 */
export async function createKeyFor(tx: Queryable, auth: Auth, body: KeyBody, rights: KeyRights) {
  const maker: KeyMaker & { type: 'key' | 'member' } = auth.member
    ? { type: 'member', id: auth.member.id }
    : { type: 'key', id: auth.key.id };
  if (!(await mayStillMakeKeys(tx, maker))) {
    throw new AppError('unauthorized', 'the caller may no longer create keys');
  }
  return createKey(tx, {
    workspaceId: auth.workspace.id,
    kind: body.kind,
    label: body.label?.trim() ?? '',
    maker,
    ...rights,
  });
}

/**
 * Returns the rights of the key in a request. A key gives no more than it has: no `manage`, no scope and no time beyond
 * its own. Missing fields are inherited.
 *
 * @throws {AppError} `bad_request`, or `forbidden` when a key requests more
 */
export function rightsOf(body: KeyBody, auth: Auth, now: Date): KeyRights {
  checkRights(body, now);
  const expiresAt = body.expires_at ? expiryOf(body.expires_at, now) : null;
  const restrictions = body.scopes ? [...new Set(body.scopes)] : null;
  const manage = body.manage ?? false;
  if (body.kind === 'publishable') return { manage: false };
  return auth.member
    ? { manage, restrictions, expiresAt }
    : withinKey({ manage, restrictions, expiresAt }, auth.key);
}

/** Checks the rights that a request names. @throws {AppError} `bad_request` that names every fault */
export function checkRights(body: Partial<KeyBody>, now: Date): void {
  const given = {
    manage: body.manage ?? false,
    scopes: (body.scopes ?? null) !== null,
    expires_at: (body.expires_at ?? null) !== null,
  };
  readEach(Object.entries(given), ([path, isGiven]) => {
    if (isGiven && body.kind === 'publishable') throw badRequest(path, 'is for secret keys only');
    if (path === 'expires_at' && body.expires_at) expiryOf(body.expires_at, now);
  });
}

type Rights = { manage: boolean; restrictions: KeyRestriction[] | null; expiresAt: Date | null };

function withinKey({ manage, restrictions, expiresAt }: Rights, maker: Auth['key']): Rights {
  if (manage) throw new AppError('forbidden', 'only a member or an operator can create a key with `manage`');
  const own = maker.scopes.filter((scope) => scope !== 'secret' && scope !== 'publishable');
  if (own.length > 0 && restrictions?.some((scope) => !own.includes(scope))) {
    throw new AppError('forbidden', `a key can give only its own scopes, which are ${own.join(', ')}`);
  }
  if (maker.expires_at && expiresAt && expiresAt > maker.expires_at) {
    throw new AppError('forbidden', 'a key cannot create a key that expires later than itself');
  }
  return {
    manage,
    restrictions: restrictions ?? (own.length > 0 ? own : null),
    expiresAt: expiresAt ?? maker.expires_at,
  };
}

function expiryOf(text: string, now: Date): Date {
  const at = new Date(Number(requireInstant('expires_at', text) / 1_000_000n));
  if (at <= now) throw badRequest('expires_at', 'must be in the future');
  return at;
}
