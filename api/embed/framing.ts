import { keyMatches, parseKey } from '../../core/access/keys.ts';
import { callerByLookup } from '../../sql/workspaces/callers.ts';
import type { Workspace } from '../../sql/workspaces/workspaces.ts';
import type { ApiDeps, FastifyRequest } from '../dependencies.ts';

/** Hosts that a Content-Security-Policy can name: browsers ignore a source with any other host. */
const POLICY_SOURCE = /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d+)?$/;

/** `Sec-Fetch-Dest` of a document within a page. */
const FRAMES = ['iframe', 'frame', 'embed', 'object'];

/** What the page takes from a workspace. */
export type EmbeddingWorkspace = Pick<Workspace, 'allowed_origins' | 'language'>;

const NO_WORKSPACE: EmbeddingWorkspace = { allowed_origins: [], language: null };

/**
 * Returns the `allowed_origins` of a publishable key's workspace, empty: any, and its language. An unknown key has
 * nothing to protect. While PostgreSQL is down, any site may frame the page: the API then checks the framing page,
 * which each call names.
 *
 * @param key as the query has it; of several the page's script uses the first
 */
export async function workspaceOfKey(
  { pool, log }: Pick<ApiDeps, 'pool' | 'log'>,
  key: unknown,
): Promise<EmbeddingWorkspace> {
  const first: unknown = Array.isArray(key) ? key[0] : key;
  const token = typeof first === 'string' ? first.trim() : '';
  const parsed = parseKey(token);
  if (parsed?.kind !== 'publishable') return NO_WORKSPACE;
  try {
    const caller = await callerByLookup(pool, parsed.lookup);
    return caller && keyMatches(token, caller.key.hash) ? caller.workspace : NO_WORKSPACE;
  } catch (error) {
    log.warn({ err: error }, 'failed to read the origins that may frame the dashboard; allowing all');
    return NO_WORKSPACE;
  }
}

/**
 * Returns the sources of `frame-ancestors`.
 *
 * Hazard: an origin's host may contain `;`, `,` and quotes.
 *
 * @param allowed origins; empty: any
 */
export function frameAncestors(allowed: readonly string[]): string {
  if (allowed.length === 0) return '*';
  return allowed.filter((origin) => POLICY_SOURCE.test(origin)).join(' ') || "'none'";
}

/** Returns the origin of the page that frames this one, or null when the browser does not send it. */
export function framingOrigin({ headers }: FastifyRequest): string | null {
  const { referer, 'sec-fetch-dest': destination } = headers;
  if (referer === undefined || !FRAMES.includes(String(destination))) return null;
  const url = URL.parse(referer);
  return url === null || url.host === '' ? null : `${url.protocol}//${url.host}`;
}
