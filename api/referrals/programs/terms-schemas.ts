import { type Static, Type } from 'typebox';
import { Body, Instant, LINES, Limit, NextNumberCursor, Nullable, NumberCursor } from '../../schemas.ts';
import { TERMS_TEXT, TERMS_URL, VERSION } from './portal-schemas.ts';

export const TermsBody = Body(
  {
    text: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: TERMS_TEXT,
        pattern: LINES,
        description: 'Shown on the page. Either this or `url`.',
      }),
    ),
    url: Type.Optional(
      Type.String({
        format: 'uri',
        maxLength: TERMS_URL,
        description: '`https://`, where the terms are. Either this or `text`.',
      }),
    ),
    version: Type.Optional(
      Type.String({ ...VERSION, description: 'A name that no earlier version has. By default a number.' }),
    ),
  },
  { title: 'PublishTerms' },
);
export type TermsBody = Static<typeof TermsBody>;

export const TermsRecord = Type.Object(
  {
    number: Type.Integer({ description: 'Counts up in each program.' }),
    version: Type.String(),
    url: Nullable(Type.String({ format: 'uri' })),
    text: Nullable(Type.String()),
    sha256: Type.String({ description: 'SHA-256 (hex) of the text, or of the address.' }),
    is_current: Type.Boolean({ description: 'Whether applicants and affiliates are asked to accept it.' }),
    accepted: Type.Integer({ description: 'How many applicants and affiliates have accepted it.' }),
    published_at: Instant,
  },
  { title: 'ProgramTerms' },
);
export type TermsRecord = Static<typeof TermsRecord>;

export const TermsList = Type.Object(
  { terms: Type.Array(TermsRecord), next_cursor: NextNumberCursor },
  { title: 'ProgramTermsList' },
);
export type TermsList = Static<typeof TermsList>;
export const TermsQuery = Type.Object({ limit: Limit(50, 20), cursor: Type.Optional(NumberCursor) });
