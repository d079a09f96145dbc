import { type Static, Type } from 'typebox';
import { PLAN_TIERS } from '../../core/access/plans.ts';
import { ATTRIBUTION_MODELS, PLAN_STATUSES } from '../../sql/workspaces/workspaces.ts';
import { Instant, Nullable, OneOf, Uuid } from '../schemas.ts';

const Usage = Type.Object(
  { used: Type.Number(), limit: Nullable(Type.Number({ description: 'Null: unlimited.' })) },
  { title: 'Usage' },
);

const Workspace = Type.Object(
  {
    id: Uuid,
    name: Type.String(),
    slug: Type.String(),
    primary_domain: Type.String({ description: 'Empty until the first own-site link sets it.' }),
    attribution_model: OneOf(ATTRIBUTION_MODELS, { title: 'AttributionModel' }),
    attribution_window: Type.Number({ description: 'Days.' }),
    created_at: Instant,
    partner_managed: Type.Boolean({ description: 'A platform partner created the workspace.' }),
  },
  { title: 'Workspace' },
);

const Plan = Type.Object(
  {
    tier: OneOf(PLAN_TIERS, { title: 'PlanTier' }),
    name: Type.String(),
    status: OneOf(PLAN_STATUSES, { title: 'PlanStatus' }),
    covered_by: Nullable(Type.String({ description: "The owner's plan that covers this workspace." })),
    revenue_visible: Type.Boolean(),
    limits: Type.Object({ links: Usage, events: Usage, commission: Usage }),
    events_reset_at: Instant,
    commission_reset_at: Instant,
  },
  { title: 'Plan' },
);

export const Me = Type.Object(
  {
    workspace: Workspace,
    plan: Plan,
    key: Type.Object({
      id: Uuid,
      label: Type.String(),
      scopes: Type.Array(Type.String(), {
        description: '`secret` or `publishable`, or what a restricted secret key may do.',
      }),
      manage: Type.Boolean({ description: 'May manage keys, members and settings.' }),
      created_at: Instant,
      expires_at: Nullable(Instant),
      last_used_at: Nullable(Instant),
    }),
    features: Type.Array(Type.String(), {
      description: 'Capabilities of this service. The list only grows.',
    }),
  },
  { title: 'Me' },
);
export type Me = Static<typeof Me>;
