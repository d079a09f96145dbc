import { KEY_RESTRICTIONS, type KeyRestriction, mayCall } from '../../core/access/key-scopes.ts';
import type { DocumentedRoute } from './document.ts';

/** The callers of an operation beyond the kind of its key: the extension `x-access` of the document. */
type Access = {
  /** Restricted keys with one of these scopes may call it. */
  scopes?: KeyRestriction[];
  /** It needs a key with `manage`: always, or with some parameters. */
  manage?: 'always' | 'sometimes';
  plan: 'any' | 'paid' | 'depends';
};

/**
 * Returns the callers of an operation, by the same rules as the checks of keys and plans. @param path with the base
 * path
 */
export function accessOf({ config }: DocumentedRoute, path: string, method: string): Access {
  const { scope, manage, role, plan = 'paid' } = config;
  const isOfWorkspace = scope === 'secret' || scope === 'any';
  const isRead = (role ?? (method === 'get' ? 'analyst' : 'operator')) === 'analyst';
  const scopes = KEY_RESTRICTIONS.filter((restriction) => mayCall([restriction], { path, isRead }));
  return {
    ...(isOfWorkspace && manage !== true && { scopes }),
    ...(manage !== undefined && { manage: manage === true ? 'always' : 'sometimes' }),
    plan: typeof plan === 'function' ? 'depends' : isOfWorkspace ? plan : 'any',
  };
}
