import { type Static, Type } from 'typebox';
import { UtmValue } from '../links/switch-schemas.ts';
import { Body, Cursor, Instant, Limit, Name, NextCursor, Nullable, Uuid } from '../schemas.ts';

/** Maximum number of templates of a workspace. */
export const MOST_TEMPLATES = 200;

export const UTM_PARAMETERS = [
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'utm_term',
  'utm_content',
] as const;

const Given = Type.Optional(Nullable(UtmValue));

export const UtmTemplateBody = Body(
  {
    name: Name,
    utm_source: Given,
    utm_medium: Given,
    utm_campaign: Given,
    utm_term: Given,
    utm_content: Given,
  },
  { title: 'CreateUtmTemplate' },
);
export type UtmTemplateBody = Static<typeof UtmTemplateBody>;

const Kept = Nullable(Type.String());

export const UtmTemplateRecord = Type.Object(
  {
    id: Uuid,
    name: Type.String(),
    utm_source: Kept,
    utm_medium: Kept,
    utm_campaign: Kept,
    utm_term: Kept,
    utm_content: Kept,
    created_at: Instant,
  },
  { title: 'UtmTemplate' },
);
export type UtmTemplateRecord = Static<typeof UtmTemplateRecord>;

export const UtmTemplateList = Type.Object(
  { utm_templates: Type.Array(UtmTemplateRecord), next_cursor: NextCursor },
  { title: 'UtmTemplateList' },
);

export const UtmTemplateQuery = Type.Object({
  limit: Limit(MOST_TEMPLATES, 100),
  cursor: Type.Optional(Cursor),
});
