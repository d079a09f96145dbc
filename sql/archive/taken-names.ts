import type { Queryable } from '../database/pool.ts';

/**
 * Returns which of these keys of slugs another workspace has on the deployment's own domain, or a slug above them: what
 * is below it would get the visits of a link that forwards paths.
 */
export async function takenNames(
  db: Queryable,
  workspaceId: string,
  keys: readonly string[],
): Promise<Set<string>> {
  // Itself, and each slug above it.
  const names = keys.flatMap((key) => {
    const segments = key.endsWith('/') ? [key] : key.split('/');
    return segments.map((_, last) => ({ key, slug: segments.slice(0, last + 1).join('/') }));
  });
  const { rows } = await db.query<{ key: string }>(
    `SELECT DISTINCT name.key FROM unnest($2::text[], $3::text[]) AS name (key, slug)
     JOIN slugs AS s ON s.domain_number = 0 AND s.slug = name.slug AND s.workspace_id <> $1`,
    [workspaceId, names.map(({ key }) => key), names.map(({ slug }) => slug)],
  );
  return new Set(rows.map(({ key }) => key));
}

/** Returns which of these look-up ids of API keys are taken. */
export async function takenLookups(db: Queryable, lookups: readonly string[]): Promise<Set<string>> {
  const { rows } = await db.query<{ lookup: string }>(
    'SELECT lookup FROM api_keys WHERE lookup = ANY ($1::text[])',
    [lookups],
  );
  return new Set(rows.map(({ lookup }) => lookup));
}

/** Returns whether a workspace has this slug. */
export async function hasWorkspaceSlug(db: Queryable, slug: string): Promise<boolean> {
  const { rowCount } = await db.query('SELECT FROM workspaces WHERE slug = $1', [slug]);
  return rowCount !== 0;
}

/** Returns which of these domains a workspace has verified here. */
export async function verifiedDomains(db: Queryable, domains: readonly string[]): Promise<Set<string>> {
  const { rows } = await db.query<{ domain: string }>(
    `SELECT domain FROM domains WHERE domain = ANY ($1::text[]) AND status <> 'pending'`,
    [domains],
  );
  return new Set(rows.map(({ domain }) => domain));
}
