import { countEvents } from '../../clickhouse/queries/events-used.ts';
import { limitsOf, PLAN_NAMES, usagePeriod } from '../../core/access/plans.ts';
import { commissionUsed, countLinks } from '../../sql/workspaces/usage.ts';
import type { ApiDeps, Auth } from '../dependencies.ts';
import type { Me } from './schemas.ts';

/** The specification's flags, then one for each extension. Append only. */
const FEATURES = [
  'idempotency',
  'external_id',
  'destination_id',
  'social_channels',
  'link_ids_filter',
  'partner_workspaces',
  'webhook_retries',
  'folders',
  'bulk_links',
  'track',
  'exports',
  'watermark',
  'programs',
  'webhooks',
  'analytics',
  'domains',
  'connections',
  'listen',
];

/** Returns the key's workspace, the plan's limits and their usage. */
export async function describeCaller(
  { pool, readers }: Pick<ApiDeps, 'pool' | 'readers'>,
  { workspace, key }: Auth,
  now: Date,
): Promise<Me> {
  const limits = limitsOf(workspace);
  const { start, reset } = usagePeriod(workspace.created_at, now);
  const [links, events, commission] = await Promise.all([
    countLinks(pool, workspace.id, null),
    readers.read((clickhouse) => countEvents(clickhouse, workspace.id, start, reset)),
    commissionUsed(pool, workspace, start, reset),
  ]);
  return {
    workspace: {
      id: workspace.id,
      name: workspace.name,
      slug: workspace.slug,
      primary_domain: workspace.primary_domain ?? '',
      attribution_model: workspace.attribution_model,
      attribution_window: workspace.attribution_window,
      created_at: workspace.created_at.toISOString(),
      partner_managed: workspace.partner_id !== null,
    },
    plan: {
      tier: workspace.plan,
      name: PLAN_NAMES[workspace.plan],
      status: workspace.plan_status,
      covered_by: null,
      revenue_visible: workspace.plan !== 'free',
      limits: {
        links: { used: links, limit: limits.links },
        events: { used: events, limit: limits.events },
        commission: { used: commission, limit: limits.commission },
      },
      events_reset_at: reset.toISOString(),
      commission_reset_at: reset.toISOString(),
    },
    key: {
      id: key.id,
      label: key.label,
      scopes: key.scopes,
      manage: key.manage,
      created_at: key.created_at.toISOString(),
      expires_at: key.expires_at?.toISOString() ?? null,
      last_used_at: key.last_used_at?.toISOString() ?? null,
    },
    features: FEATURES,
  };
}
