import { bytesToUuid } from '../../core/ids.ts';
import type { LinkTable } from './table.ts';

/** Workspaces that the operator has suspended. */
export type Suspensions = {
  has(workspaceId: Uint8Array): boolean;
};

/**
 * Returns the name under which a suspended workspace is in the link table. No visitor can ask for it: a slug has no
 * colon.
 */
export function suspensionSlug(workspaceId: string): string {
  return `:${workspaceId.replaceAll('-', '')}`;
}

/** Follows the suspensions in the table. Create it before the table is filled. */
export function createSuspensions(table: LinkTable): Suspensions {
  const suspended = new Set<string>();
  table.listen({
    slugChanged(slug) {
      if (!slug.startsWith(':')) return;
      const id = uuidOf(slug);
      if (table.find(slug) === null) suspended.delete(id);
      else suspended.add(id);
    },
  });
  return { has: (workspaceId) => suspended.size > 0 && suspended.has(bytesToUuid(workspaceId)) };
}

function uuidOf(slug: string): string {
  return slug.slice(1).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
