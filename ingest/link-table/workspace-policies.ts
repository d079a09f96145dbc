import { bytesToUuid } from '../../core/ids.ts';
import type { Language } from '../../core/languages/languages.ts';
import { LINK_PARAMETERS } from '../../core/referrals/link-parameters.ts';
import type { Tracking } from '../../core/tracking/tracking.ts';
import type { LinkTable } from './table.ts';

/** Settings of the operator or the workspace that hold for all links of the workspace. */
export type WorkspacePolicy = {
  suspended: boolean;
  tracking: Tracking;
  /** Query parameters of pages that name a referrer; left out: the default ones. */
  linkParameters?: readonly string[];
  /** Origins of pages that may use a publishable key; left out: any. */
  allowedOrigins?: readonly string[];
  /** The language of visitors' pages; left out: each visitor's own. */
  language?: Language;
};

/** The workspaces whose policy is not the default one. */
export type WorkspacePolicies = {
  isSuspended(workspaceId: Uint8Array): boolean;
  trackingOf(workspaceId: Uint8Array): Tracking;
  /** Returns the query parameters of pages that name a referrer. */
  linkParametersOf(workspaceId: Uint8Array): readonly string[];
  /** Returns the origins of pages that may use a publishable key; empty: any. */
  allowedOriginsOf(workspaceId: Uint8Array): readonly string[];
  /** Returns the language of visitors' pages; null: each visitor's own. */
  languageOf(workspaceId: Uint8Array): Language | null;
};

/**
 * Returns the name under which the policy of a workspace is in the link table. No visitor can ask for it: a slug has
 * no colon.
 */
export function policySlug(workspaceId: string): string {
  return `:${workspaceId.replaceAll('-', '')}`;
}

/** Follows the policies in the table. Create it before the table is filled. */
export function createWorkspacePolicies(table: LinkTable): WorkspacePolicies {
  const policies = new Map<string, WorkspacePolicy>();
  table.listen({
    slugChanged(slug) {
      if (!slug.startsWith(':')) return;
      const id = uuidOf(slug);
      const record = table.find(slug);
      if (record === null || record.kind !== 'workspace') policies.delete(id);
      else policies.set(id, JSON.parse(record.content) as WorkspacePolicy);
    },
  });
  const policyOf = (workspaceId: Uint8Array) =>
    policies.size === 0 ? undefined : policies.get(bytesToUuid(workspaceId));
  return {
    isSuspended: (workspaceId) => policyOf(workspaceId)?.suspended === true,
    trackingOf: (workspaceId) => policyOf(workspaceId)?.tracking ?? 'full',
    linkParametersOf: (workspaceId) => policyOf(workspaceId)?.linkParameters ?? LINK_PARAMETERS,
    allowedOriginsOf: (workspaceId) => policyOf(workspaceId)?.allowedOrigins ?? [],
    languageOf: (workspaceId) => policyOf(workspaceId)?.language ?? null,
  };
}

function uuidOf(slug: string): string {
  return slug.slice(1).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
