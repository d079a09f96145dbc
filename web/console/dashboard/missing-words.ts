import type { SharedDashboard } from './shared-dashboards.ts';

/** Why values of a scope are gone: for its only value, for all values, and for some of them. */
const FATES = {
  workspace: null,
  tag: { one: 'No link has its tag', all: 'No link has its tags', some: 'tags have no link' },
  folder: { one: 'Its folder is deleted', all: 'Its folders are deleted', some: 'folders are deleted' },
  links: { one: 'Its link is deleted', all: 'Its links are deleted', some: 'links are deleted' },
} as const;

/** Returns what a shared dashboard no longer shows because it is gone, or null. */
export function missingWords({
  scope,
  missing_values,
}: Pick<SharedDashboard, 'scope' | 'missing_values'>): string | null {
  const [gone, all] = [missing_values.length, scope.values?.length ?? 0];
  const fate = FATES[scope.type];
  if (gone === 0 || fate === null) return null;
  if (gone < all) return `${gone} of its ${all} ${fate.some}.`;
  return `${all === 1 ? fate.one : fate.all}: it shows nothing.`;
}
