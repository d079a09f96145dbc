import { type Static, Type } from 'typebox';
import { LANGUAGES } from '../../core/languages/languages.ts';
import { Body, Email, Instant, LINES, Name, ONE_LINE, OneOf, Url } from '../schemas.ts';

export const ChallengeRecord = Type.Object(
  {
    challenge: Type.String(),
    bits: Type.Integer({
      description: 'Zero bits that the SHA-256 of `<challenge>:<nonce>` must begin with.',
    }),
    expires_at: Instant,
  },
  { title: 'PortalChallenge' },
);

const Code = Type.String({ minLength: 1, maxLength: 64, description: 'The code of the program.' });
const Language = OneOf(LANGUAGES, { description: 'Of the page.' });

/** A solved challenge, in the body of a call. */
const WORK = {
  challenge: Type.String({ maxLength: 100 }),
  nonce: Type.String({ minLength: 1, maxLength: 20, pattern: '^[0-9a-z]+$' }),
};

export const ApplyBody = Body(
  {
    code: Code,
    email: Email,
    name: Name,
    answers: Type.Optional(
      Type.Record(Type.String({ maxLength: 40 }), Type.String({ maxLength: 2_000, pattern: LINES }), {
        maxProperties: 20,
        description: "By the names of the program's `portal.fields`.",
      }),
    ),
    terms_version: Type.Optional(
      Type.String({ maxLength: 40, description: 'The accepted version, where the program has terms.' }),
    ),
    language: Language,
    ...WORK,
    website: Type.Optional(
      Type.String({
        maxLength: 2_000,
        description: 'Hidden on the page: a program that fills it in is ignored.',
      }),
    ),
  },
  { title: 'Apply' },
);
export type ApplyBody = Static<typeof ApplyBody>;

export const PortalSignInBody = Body(
  { code: Code, email: Email, language: Language },
  { title: 'PortalSignIn' },
);

export const PortalTokenBody = Body(
  { token: Type.String({ minLength: 1, maxLength: 100, description: 'Of the link in the mail.' }) },
  { title: 'PortalToken' },
);

export const PortalPayoutBody = Body(
  {
    code: Code,
    method: Type.String({ maxLength: 40, description: 'One of the `payout_methods` of the program.' }),
    email: Email,
  },
  { title: 'PortalPayout' },
);

export const PortalNoticesBody = Body(
  {
    code: Code,
    notices: OneOf(['on', 'off'], { description: 'Whether first sale, payouts, and refunds are mailed.' }),
  },
  { title: 'PortalNotices' },
);

export const PortalTermsBody = Body(
  {
    code: Code,
    terms_version: Type.String({ minLength: 1, maxLength: 40, description: 'The version that was read.' }),
  },
  { title: 'PortalTerms' },
);

export const DeepLinkBody = Body(
  {
    code: Code,
    url: Type.String({ minLength: 1, maxLength: 2_000, pattern: ONE_LINE, description: 'Of the page.' }),
  },
  { title: 'PortalDeepLink' },
);
export const DeepLinkRecord = Type.Object({ url: Url }, { title: 'PortalDeepLinkMade' });

export const DeleteAccountBody = Body({ code: Code }, { title: 'PortalDeleteAccount' });
