import { type Static, Type } from 'typebox';
import { GRADIENTS } from '../../core/bio/gradients.ts';
import { SOCIAL_PLATFORMS } from '../../core/bio/public-page.ts';
import {
  BUTTON_RADII,
  BUTTON_SHADOWS,
  BUTTON_STYLES,
  CANVAS_MODES,
  CARD_MODES,
  DEFAULT_THEME,
  FONTS,
} from '../../core/bio/theme.ts';
import { PREVIEW_SIDE_LIMIT } from '../../core/links/preview.ts';
import { PAGE_ORIGINS } from '../../sql/bio/pages.ts';
import {
  Body,
  ExternalId,
  FIGURES,
  Instant,
  LanguageOrNull,
  Leads,
  Limit,
  Metadata,
  NextCursor,
  NOT_BLANK_OR_EMPTY,
  Nullable,
  NullableMetadata,
  OneOf,
  Url,
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

const ButtonType = OneOf(BUTTON_TYPES, { title: 'BioButtonType' });
const SocialPlatform = OneOf(SOCIAL_PLATFORMS, { title: 'SocialPlatform' });
const color = 'A CSS color: hex, `rgb()`, `hsl()` or a name.';

const ThemeRecord = Type.Object(
  {
    canvasMode: OneOf(CANVAS_MODES),
    canvasValue: Type.String({
      description: `A CSS color, an http(s) image URL, or one of the gradients ${Object.keys(GRADIENTS).join(', ')}. A value that does not match \`canvasMode\` is drawn as white.`,
    }),
    cardMode: OneOf(CARD_MODES),
    cardBg: Type.String({ description: color }),
    textColor: Type.String({
      description: `${color} If unreadable on its background, it is drawn near-black or white.`,
    }),
    buttonStyle: OneOf(BUTTON_STYLES),
    buttonColor: Type.String({ description: color }),
    buttonTextColor: Type.String({
      description: `${color} For \`fill\` buttons. Other styles use \`buttonColor\`.`,
    }),
    buttonRadius: OneOf(BUTTON_RADII),
    buttonShadow: OneOf(BUTTON_SHADOWS),
    buttonShadowColor: Type.String({ description: color }),
    font: OneOf(FONTS),
    footerImage: Nullable(Url),
  },
  { title: 'BioTheme' },
);

/** The schema only names the keys: code checks each value, and replaces an unknown one by the default. */
const ThemeBody = Body(
  Object.fromEntries(Object.keys(DEFAULT_THEME).map((key) => [key, Type.Optional(Type.Unknown())])),
  {
    title: 'BioThemeInput',
    description:
      'Any keys of `BioTheme`. A value outside its allowed set becomes the default. An update is merged onto the current theme.',
  },
);

const ButtonBody = Body(
  {
    id: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9_-]{1,64}$',
        description:
          'Generated if omitted. The button keeps its short link and history while its id is unchanged.',
      }),
    ),
    type: Type.Optional(OneOf(BUTTON_TYPES, { title: 'BioButtonType', default: 'link' })),
    label: Type.Optional(Type.String({ maxLength: 80, pattern: NOT_BLANK_OR_EMPTY, default: '' })),
    url: Type.Optional(
      Nullable(
        Type.String({
          format: 'uri',
          description:
            'An http(s) URL, or `mailto:`, `tel:` or `sms:`, which get no short link. Required for a link, ignored for a section.',
        }),
      ),
    ),
    emoji: Type.Optional(
      Nullable(Type.String({ maxLength: EMOJI_LIMIT, description: 'The page shows its first character.' })),
    ),
    image_url: Type.Optional(Nullable(Type.String({ format: 'uri', description: 'An http(s) URL.' }))),
  },
  { title: 'BioButtonInput' },
);
export type ButtonBody = Static<typeof ButtonBody>;

const SocialLink = Type.Object({ platform: SocialPlatform, url: Url }, { title: 'SocialLink' });
const SocialLinkBody = Body(
  {
    platform: SocialPlatform,
    url: Type.String({
      description:
        'An http(s) URL. For `email`, an email address or a `mailto:` URL; an address becomes a `mailto:` URL.',
    }),
  },
  { title: 'SocialLinkInput' },
);

const SIDE = { minimum: 1, maximum: PREVIEW_SIDE_LIMIT };

const PageLanguage = LanguageOrNull(
  "Language of the page, for screen readers and for the words that are not the page's own. Null, the default: that of the workspace, or else the visitor's.",
);

const PAGE_FIELDS = {
  title: Type.Optional(Type.String({ maxLength: 60, pattern: NOT_BLANK_OR_EMPTY, title: 'BioTitle' })),
  bio: Type.Optional(Type.String({ maxLength: 280 })),
  avatar_url: Type.Optional(Nullable(Type.String({ format: 'uri', description: 'An http(s) image URL.' }))),
  avatar_width: Type.Optional(
    Nullable(
      Type.Integer({
        ...SIDE,
        description:
          'Pixels, together with `avatar_height`. Without a size Facebook shows no image at the first share. A new `avatar_url` without a size clears it.',
      }),
    ),
  ),
  avatar_height: Type.Optional(
    Nullable(Type.Integer({ ...SIDE, description: 'Pixels, together with `avatar_width`.' })),
  ),
  links: Type.Optional(
    Type.Array(ButtonBody, { maxItems: BUTTONS_LIMIT, description: 'Replaces the whole list.' }),
  ),
  social_links: Type.Optional(
    Type.Array(SocialLinkBody, { maxItems: SOCIAL_LINKS_LIMIT, description: 'Replaces the whole list.' }),
  ),
  theme: Type.Optional(ThemeBody),
  is_published: Type.Optional(Type.Boolean()),
  show_branding: Type.Optional(Type.Boolean()),
  language: Type.Optional(PageLanguage),
};

export const CreateBody = Body(
  {
    slug: Type.String({
      description:
        '3 to 40 lowercase letters, digits and hyphens. Capitals and spaces are normalized. Immutable.',
    }),
    ...PAGE_FIELDS,
    external_id: Type.Optional(Nullable(ExternalId)),
    metadata: Type.Optional(NullableMetadata),
  },
  { title: 'CreateBioPage' },
);
export type CreateBody = Static<typeof CreateBody>;

export const ChangeBody = Body(
  { ...PAGE_FIELDS, metadata: Type.Optional(NullableMetadata) },
  { title: 'UpdateBioPage' },
);
export type ChangeBody = Static<typeof ChangeBody>;

/** A page that is rendered without saving it. */
export const PreviewBody = Body(
  {
    slug: Type.Optional(Type.String({ maxLength: 200, description: 'Shown if the title is empty.' })),
    ...PAGE_FIELDS,
  },
  { title: 'PreviewBioPage' },
);
export type PreviewBody = Static<typeof PreviewBody>;

const BioButton = Type.Object(
  {
    id: Type.String(),
    type: ButtonType,
    label: Type.String(),
    url: Nullable(Type.String({ format: 'uri', description: 'Null for a section.' })),
    emoji: Nullable(Type.String()),
    image_url: Nullable(Url),
    tracked_link_id: Nullable(
      Type.String({ format: 'uuid', description: 'Null if the button has no short link.' }),
    ),
    short_url: Nullable({
      ...Url,
      description: 'Null if the button has no short link, or the workspace has lost its domain.',
    }),
  },
  { title: 'BioButton' },
);

export const BioPageRecord = Type.Object(
  {
    id: Uuid,
    slug: Type.String({ pattern: '^[a-z0-9-]{3,40}$' }),
    url: Url,
    title: Type.String(),
    bio: Type.String(),
    avatar_url: Nullable(Url),
    avatar_width: Nullable(Type.Integer({ description: 'Pixels.' })),
    avatar_height: Nullable(Type.Integer({ description: 'Pixels.' })),
    theme: ThemeRecord,
    links: Type.Array(BioButton),
    social_links: Type.Array(SocialLink),
    is_published: Type.Boolean(),
    show_branding: Type.Boolean(),
    language: PageLanguage,
    external_id: Nullable(Type.String()),
    metadata: Nullable(Metadata as typeof Metadata & { type: string }),
    made_in: OneOf(PAGE_ORIGINS, {
      title: 'BioPageOrigin',
      description: 'Who created the page: a key, or a member in the console.',
    }),
    created_at: Instant,
    updated_at: Instant,
  },
  { title: 'BioPage' },
);
export type BioPageRecord = Static<typeof BioPageRecord>;

export const ListQuery = Type.Object({
  limit: Limit(PAGE_SIZE.maximum, PAGE_SIZE.default),
  cursor: Type.Optional(Type.String({ description: 'The `next_cursor` of the previous page, unchanged.' })),
  external_id: Type.Optional(ExternalId),
});

export const BioPageList = Type.Object(
  { bio_pages: Type.Array(BioPageRecord), next_cursor: NextCursor },
  { title: 'BioPageList' },
);

export const PageParams = Type.Object({
  id: Type.String({ minLength: 1, description: 'Id or slug of the page.' }),
});

export const AvailabilityQuery = Type.Object({ slug: Type.Optional(Type.String()) });

/** {@link AvailabilityQuery} for the document. A request without `slug` reads the page whose slug is `availability`. */
export const AvailabilityQueryShown = Type.Object({
  slug: Type.String({ description: 'The slug to check. It is normalized first.' }),
});

export const Availability = Type.Object(
  {
    slug: Type.String({ description: 'The slug as it would be stored.' }),
    available: Type.Boolean(),
    reason: Nullable(OneOf(['invalid', 'reserved', 'taken'], { title: 'SlugProblem' })),
  },
  { title: 'SlugAvailability' },
);
export type Availability = Static<typeof Availability>;

export const StatsQuery = Type.Object(WINDOW_PARAMETERS);

const ButtonStats = Type.Object(
  {
    id: Type.String(),
    label: Type.String(),
    url: Type.String(),
    tracked_link_id: Nullable(Uuid),
    ...FIGURES,
    leads: Leads,
  },
  { title: 'BioButtonStats' },
);

export const Stats = Type.Object(
  {
    window: Window,
    totals: Type.Object(
      { ...FIGURES, leads: Leads },
      {
        title: 'BioPageTotals',
        description:
          '`visitors` is the sum over the buttons: a visitor who clicked two buttons counts twice.',
      },
    ),
    links: Type.Array(ButtonStats),
  },
  { title: 'BioPageStats' },
);
export type Stats = Static<typeof Stats>;
