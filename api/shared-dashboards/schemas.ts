import { type Static, Type } from 'typebox';
import { SharedAnnotation } from '../annotations/schemas.ts';
import {
  Body,
  Cursor,
  Instant,
  Limit,
  Name,
  NextCursor,
  Nullable,
  OneOf,
  Url,
  Uuid,
  VisibleText,
} from '../schemas.ts';

/** Maximum number of values of a scope. */
const MOST_VALUES = 500;

const ScopeType = OneOf(['workspace', 'tag', 'folder', 'links'], { title: 'DashboardScopeType' });

export const Scope = Type.Object(
  {
    type: ScopeType,
    values: Type.Optional(
      Type.Array(VisibleText(200), {
        minItems: 1,
        maxItems: MOST_VALUES,
        uniqueItems: true,
        description: 'Tags, or ids of folders or links. Left out for `workspace`, required for the others.',
      }),
    ),
  },
  {
    title: 'DashboardScope',
    additionalProperties: false,
    description: 'What the dashboard shows. Nothing outside it is in its page, its data or its exports.',
  },
);
export type Scope = Static<typeof Scope>;

const OPTIONS = {
  password: Type.Optional(
    Nullable(
      Type.String({
        minLength: 4,
        maxLength: 200,
        description: 'Visitors must enter it. Null: no password.',
      }),
    ),
  ),
  show_revenue: Type.Optional(
    Type.Boolean({ description: 'Whether visitors see revenue and revenue per click. False by default.' }),
  ),
  show_annotations: Type.Optional(
    Type.Boolean({ description: "Whether its chart shows the workspace's annotations. False by default." }),
  ),
  embed: Type.Optional(
    Type.Boolean({
      description:
        'Whether pages of other sites may show it in a frame. False by default, and with a password. In a frame its URL takes `?theme=light` or `dark`, and `&background=` a CSS color.',
    }),
  ),
  expires_at: Type.Optional(
    Nullable({ ...Instant, description: 'The dashboard ends at this instant. Null: it does not end.' }),
  ),
};

export const SharedDashboardBody = Body(
  { name: Name, scope: Type.Optional(Scope), ...OPTIONS },
  { title: 'CreateSharedDashboard' },
);
export type SharedDashboardBody = Static<typeof SharedDashboardBody>;

export const SharedDashboardChange = Body(
  { name: Type.Optional(Name), scope: Type.Optional(Scope), ...OPTIONS },
  { title: 'UpdateSharedDashboard' },
);
export type SharedDashboardChange = Static<typeof SharedDashboardChange>;

export const SharedDashboardRecord = Type.Object(
  {
    id: Uuid,
    name: Type.String(),
    token: Type.String({ description: 'The secret part of `url`.' }),
    url: Url,
    scope: Scope,
    show_revenue: Type.Boolean(),
    show_annotations: Type.Boolean(),
    has_password: Type.Boolean(),
    embed: Type.Boolean(),
    missing_values: Type.Array(Type.String(), {
      description:
        'Values of the scope that are gone: deleted folders and links, and tags that no link has. They add nothing to the figures.',
    }),
    expires_at: Nullable(Instant),
    created_at: Instant,
  },
  { title: 'SharedDashboard' },
);
export type SharedDashboardRecord = Static<typeof SharedDashboardRecord>;

export const SharedDashboardList = Type.Object(
  { shared_dashboards: Type.Array(SharedDashboardRecord), next_cursor: NextCursor },
  { title: 'SharedDashboardList' },
);

export const SharedDashboardQuery = Type.Object({ limit: Limit(500, 100), cursor: Type.Optional(Cursor) });

/** The parameter of routes for visitors of a dashboard. */
export const TokenParams = Type.Object({ token: Type.String({ maxLength: 100 }) });

export const UnlockBody = Body({ password: Type.String({ maxLength: 200 }) }, { title: 'UnlockDashboard' });

/** The parts of a dashboard besides its figures that visitors see. */
export const DashboardView = Type.Object(
  {
    name: Type.String(),
    show_revenue: Type.Boolean(),
    currency: Type.String({ description: 'Currency of revenue: ISO 4217 code in lower case.' }),
    time_zone: Nullable(Type.String({ description: "The workspace's. Null: the visitor's own." })),
    is_scope_gone: Type.Boolean({
      description:
        'Whether all that the dashboard shows is gone: its folders and links, or the tags of its links.',
    }),
    annotations: Type.Array(SharedAnnotation, {
      description: "The workspace's, where the dashboard shows them; else empty.",
    }),
    expires_at: Nullable(Instant),
  },
  { title: 'DashboardView' },
);
export type DashboardView = Static<typeof DashboardView>;
