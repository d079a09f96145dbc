import type { Queryable } from '../sql/database/pool.ts';
import { NAMED_DIMENSIONS, namesByIds } from '../sql/links/names.ts';
import type { AnalyticsNames, AnalyticsRow } from './query.ts';

/** Returns the names of the ids in rows, by dimension and id; undefined when the rows have no ids. */
export async function namesIn(
  db: Queryable,
  workspaceId: string,
  rows: readonly AnalyticsRow[],
): Promise<AnalyticsNames | undefined> {
  const names: AnalyticsNames = {};
  for (const dimension of NAMED_DIMENSIONS) {
    const ids = new Set<string>();
    for (const { dimensions } of rows) {
      const id = dimensions[dimension];
      if (typeof id === 'string') ids.add(id);
    }
    if (ids.size === 0) continue;
    const found = await namesByIds(db, workspaceId, dimension, [...ids]);
    names[dimension] = Object.fromEntries(
      found.map(({ id, name, note }) => [id, { name, ...(note !== null && { note }) }]),
    );
  }
  return Object.keys(names).length > 0 ? names : undefined;
}
