import { type Static, Type } from 'typebox';
import { PORTAL_REVIEWS } from '../../../core/referrals/portal.ts';
import { Body, LINES, NAME, Name, Nullable, OneOf } from '../../schemas.ts';

const FieldName = Type.String({
  pattern: '^[a-z][a-z0-9_]{0,39}$',
  description: 'The name of the answer in an application.',
});
const Required = Type.Boolean();
const PortalField = Type.Object(
  { name: FieldName, label: Name, required: Required },
  { title: 'PortalField', description: 'A question of the application, besides name and email.' },
);
const PortalFieldInput = Body(
  { name: FieldName, label: Name, required: Required },
  { title: 'PortalFieldInput' },
);

/** Longest texts of terms. Characters. */
export const TERMS_TEXT = 50_000;
export const TERMS_URL = 2_000;
/** The name of a version of terms. */
export const VERSION = { minLength: 1, maxLength: 40, pattern: NAME } as const;

const Review = OneOf(PORTAL_REVIEWS, {
  title: 'PortalReview',
  description: '`none`: applications are approved at once. `manual` (default): they wait for your decision.',
});
const Text = (maxLength: number, description: string) =>
  Nullable(Type.String({ minLength: 1, maxLength, pattern: LINES, description }));
const IsOpen = Type.Boolean({
  description: 'Whether `{app_url}/p/<code>` takes applications. Default false.',
});
const TermsUrl = Nullable(
  Type.String({
    format: 'uri',
    maxLength: TERMS_URL,
    description: '`https://`. Either this or `terms_text`, or none.',
  }),
);
const TermsText = Text(TERMS_TEXT, 'Shown on the page. Either this or `terms_url`, or none.');
const TermsVersion = Nullable(
  Type.String({
    ...VERSION,
    description:
      'Required with terms, and another one whenever they change: affiliates are then asked to accept them. Each version is kept, as `GET /programs/{id}/terms` lists them.',
  }),
);
const Welcome = Text(5_000, 'Text above the application.');

const DeepLinks = Type.Boolean({
  description:
    'Whether affiliates make links to pages below `destination_url` in the portal. Referral links of the program then have `forward_path`. Default false.',
});

const MOST_FIELDS = 10;

/** `portal` of a program in a request: any subset. */
export const PortalSettings = Body(
  {
    is_open: Type.Optional(IsOpen),
    review: Type.Optional(Review),
    fields: Type.Optional(Type.Array(PortalFieldInput, { maxItems: MOST_FIELDS })),
    terms_url: Type.Optional(TermsUrl),
    terms_text: Type.Optional(TermsText),
    terms_version: Type.Optional(TermsVersion),
    welcome_text: Type.Optional(Welcome),
    deep_links: Type.Optional(DeepLinks),
  },
  { title: 'PortalSettings', description: "The affiliates' portal. What is left out keeps its value." },
);
export type PortalSettings = Static<typeof PortalSettings>;

export const PortalRecord = Type.Object(
  {
    is_open: IsOpen,
    review: Review,
    fields: Type.Array(PortalField),
    terms_url: TermsUrl,
    terms_text: TermsText,
    terms_version: TermsVersion,
    welcome_text: Welcome,
    deep_links: DeepLinks,
  },
  { title: 'Portal', description: "The affiliates' portal of the program." },
);
