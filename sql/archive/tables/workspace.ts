import type { ArchivedTable } from '../archived-table.ts';

/** The workspace, its keys, members, and what they have saved. */
export const WORKSPACE_TABLES: readonly ArchivedTable[] = [
  {
    name: 'workspaces',
    rows: 't.id = $1',
    order: 'id',
    without: {
      partner_id: 'the platform that made the workspace is a record of the deployment',
      partner_external_id: 'the platform that made the workspace is a record of the deployment',
      sample_of: 'only a sample shop belongs to another workspace, and each deployment makes its own',
      sample_ready_at: 'only a sample shop has it',
      removed_at: 'a sample shop that was removed is not exported',
    },
    read: { id: `($2::jsonb ->> 'workspace_id')::uuid`, slug: `$2::jsonb ->> 'workspace_slug'` },
    refersToItself: true,
  },
  { name: 'identity_secrets', order: 'workspace_id' },
  {
    name: 'api_keys',
    order: 'id',
    without: { partner_id: 'the platform that made the key is a record of the deployment' },
    read: {
      lookup: `coalesce($2::jsonb #>> ARRAY['lookups', r.lookup], r.lookup)`,
      revoked_at: `CASE WHEN $2::jsonb -> 'lookups' ? r.lookup THEN coalesce(r.revoked_at, now()) ELSE r.revoked_at END`,
    },
    refersToItself: true,
  },
  { name: 'members', order: 'id', refersToItself: true },
  { name: 'authenticator_apps', order: 'member_id' },
  { name: 'recovery_codes', order: 'member_id, code_hash' },
  { name: 'provider_identities', order: 'issuer, subject' },
  { name: 'first_steps', order: 'step' },
  { name: 'saved_views', order: 'id' },
  { name: 'annotations', order: 'id' },
  { name: 'shared_dashboards', order: 'id' },
  { name: 'mail_unsubscribes', order: 'email' },
  { name: 'mail_confirmations', order: 'email' },
  { name: 'reports', order: 'id' },
  { name: 'alerts', order: 'id' },
  { name: 'alert_changes', order: 'id' },
  { name: 'report_problems', order: 'problem, field' },
];
