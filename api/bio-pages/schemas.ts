import { type Static, Type } from 'typebox';
import { GRADIENTS } from '../../core/bio/gradients.ts';
import { SOCIAL_PLATFORMS } from '../../core/bio/public-page.ts';
import {
  BUTTON_RADII,
  BUTTON_SHADOWS,
  BUTTON_STYLES,
  CANVAS_MODES,
  CARD_MODES,
  FONTS,
} from '../../core/bio/theme.ts';
import { PAGE_ORIGINS } from '../../sql/bio/pages.ts';
import {
  Body,
  ExternalId,
  Instant,
  Limit,
  Metadata,
  Nullable,
  NullableMetadata,
  OneOf,
  Uuid,
  WINDOW_PARAMETERS,
  Window,
} from '../schemas.ts';

const PAGE_SIZE = { maximum: 200, default: 50 };
const BUTTONS_LIMIT = 50;
const SOCIAL_LINKS_LIMIT = 12;
const EMOJI_LIMIT = 16;

const BUTTON_TYPES = ['link', 'section'] as const;
/** Longest URL of a button, in characters. */
export const BUTTON_URL_LIMIT = 2_048;

const colour = 'A CSS colour: hex, `rgb()`, `hsl()` or a name.';

const ThemeRecord = Type.Object({
  canvasMode: OneOf(CANVAS_MODES),
  canvasValue: Type.String({
    description: `A CSS colour, an http(s) image URL, or one of the gradients ${Object.keys(GRADIENTS).join(', ')}. One that does not go with \`canvasMode\` is drawn as white.`,
  }),
  cardMode: OneOf(CARD_MODES),
  cardBg: Type.String({ description: colour }),
  textColor: Type.String({
    description: `${colour} Where it could not be read on its ground it is drawn near-black or white.`,
  }),
  buttonStyle: OneOf(BUTTON_STYLES),
  buttonColor: Type.String({ description: colour }),
  buttonTextColor: Type.String({
    description: `${colour} Of \`fill\` buttons; the others take \`buttonColor\`.`,
  }),
  buttonRadius: OneOf(BUTTON_RADII),
  buttonShadow: OneOf(BUTTON_SHADOWS),
  buttonShadowColor: Type.String({ description: colour }),
  font: OneOf(FONTS),
  footerImage: Nullable(Type.String()),
});

/** Judged value by value: what is outside its set becomes the default, so the schema asks for an object only. */
const ThemeBody = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
  description:
    'Any of the keys that the page shows. A value outside its allowed set becomes the default, an unknown key is ignored. On update it is merged onto the current theme.',
});

const ButtonBody = Body({
  id: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9_-]{1,64}$',
      description:
        'Generated if omitted. While it stays the same the button keeps its short link and history.',
    }),
  ),
  type: Type.Optional(OneOf(BUTTON_TYPES, { default: 'link' })),
  label: Type.Optional(Type.String({ maxLength: 80, default: '' })),
  url: Type.Optional(
    Nullable(Type.String({ description: 'http(s). Required for a link, ignored for a section.' })),
  ),
  emoji: Type.Optional(Nullable(Type.String({ maxLength: EMOJI_LIMIT }))),
  image_url: Type.Optional(Nullable(Type.String({ description: 'http(s).' }))),
});
export type ButtonBody = Static<typeof ButtonBody>;

const SocialLink = Type.Object({ platform: OneOf(SOCIAL_PLATFORMS), url: Type.String() });
const SocialLinkBody = Body({
  platform: OneOf(SOCIAL_PLATFORMS),
  url: Type.String({
    description:
      'http(s); for `email` an address or a `mailto:` URL, which is what it becomes, does as well.',
  }),
});

const PAGE_FIELDS = {
  title: Type.Optional(Type.String({ maxLength: 60 })),
  bio: Type.Optional(Type.String({ maxLength: 280 })),
  avatar_url: Type.Optional(Nullable(Type.String({ description: 'http(s) image URL.' }))),
  links: Type.Optional(
    Type.Array(ButtonBody, { maxItems: BUTTONS_LIMIT, description: 'Replaces the whole list.' }),
  ),
  social_links: Type.Optional(
    Type.Array(SocialLinkBody, { maxItems: SOCIAL_LINKS_LIMIT, description: 'Replaces the whole list.' }),
  ),
  theme: Type.Optional(ThemeBody),
  is_published: Type.Optional(Type.Boolean()),
  show_branding: Type.Optional(Type.Boolean()),
};

export const CreateBody = Body({
  slug: Type.String({
    description: '3-40 lowercase letters, digits and hyphens. Capitals and spaces are normalised. Immutable.',
  }),
  ...PAGE_FIELDS,
  external_id: Type.Optional(Nullable(ExternalId)),
  metadata: Type.Optional(NullableMetadata),
});
export type CreateBody = Static<typeof CreateBody>;

export const ChangeBody = Body({ ...PAGE_FIELDS, metadata: Type.Optional(NullableMetadata) });
export type ChangeBody = Static<typeof ChangeBody>;

/** A page that is not saved. */
export const PreviewBody = Body({
  slug: Type.Optional(Type.String({ maxLength: 200, description: 'Shown where the title is empty.' })),
  ...PAGE_FIELDS,
});
export type PreviewBody = Static<typeof PreviewBody>;

export const BioPageRecord = Type.Object({
  id: Uuid,
  slug: Type.String(),
  url: Type.String(),
  title: Type.String(),
  bio: Type.String(),
  avatar_url: Nullable(Type.String()),
  theme: ThemeRecord,
  links: Type.Array(
    Type.Object({
      id: Type.String(),
      type: OneOf(BUTTON_TYPES),
      label: Type.String(),
      url: Nullable(Type.String({ description: 'Null for a section.' })),
      emoji: Nullable(Type.String()),
      image_url: Nullable(Type.String()),
      tracked_link_id: Nullable(Type.String({ format: 'uuid', description: 'Null: it has no short link.' })),
      short_url: Nullable(Type.String()),
    }),
  ),
  social_links: Type.Array(SocialLink),
  is_published: Type.Boolean(),
  show_branding: Type.Boolean(),
  external_id: Nullable(Type.String()),
  metadata: Nullable(Metadata as typeof Metadata & { type: string }),
  made_in: OneOf(PAGE_ORIGINS, { description: 'Who made it: a key, or a member in the console.' }),
  created_at: Instant,
  updated_at: Instant,
});
export type BioPageRecord = Static<typeof BioPageRecord>;

export const ListQuery = Type.Object({
  limit: Limit(PAGE_SIZE.maximum, PAGE_SIZE.default),
  cursor: Type.Optional(Type.String({ description: '`next_cursor` of the page before.' })),
  external_id: Type.Optional(ExternalId),
});

export const BioPageList = Type.Object({
  bio_pages: Type.Array(BioPageRecord),
  next_cursor: Nullable(Instant),
});

export const PageParams = Type.Object({
  id: Type.String({ minLength: 1, description: "The page's id or its slug." }),
});

export const AvailabilityQuery = Type.Object({ slug: Type.Optional(Type.String()) });

export const Availability = Type.Object({
  slug: Type.String({ description: 'As it would be stored.' }),
  available: Type.Boolean(),
  reason: Nullable(OneOf(['invalid', 'reserved', 'taken'])),
});
export type Availability = Static<typeof Availability>;

export const StatsQuery = Type.Object(WINDOW_PARAMETERS);

const FIGURES = {
  clicks: Type.Integer(),
  visitors: Type.Integer(),
  conversions: Type.Number(),
  revenue: Type.Number({ description: "In the workspace's currency." }),
};

export const Stats = Type.Object({
  window: Window,
  totals: Type.Object(FIGURES, {
    description: '`visitors` is the sum of the buttons’: who clicked two counts twice.',
  }),
  links: Type.Array(
    Type.Object({
      id: Type.String(),
      label: Type.String(),
      url: Type.String(),
      tracked_link_id: Nullable(Uuid),
      ...FIGURES,
    }),
  ),
});
export type Stats = Static<typeof Stats>;
