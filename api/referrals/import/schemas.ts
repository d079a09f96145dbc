import { type Static, Type } from 'typebox';
import { REFERRAL_FORMATS } from '../../../core/referral-imports/formats/known.ts';
import { Body, Name, Nullable, OneOf, Uuid } from '../../schemas.ts';

const FORMATS = Object.keys(REFERRAL_FORMATS);
const FILES_LIMIT = 12;

const SourceFileBody = Body(
  {
    name: Type.String({
      ...Name,
      maxLength: 200,
      title: 'FileName',
      description: 'Names the file in errors.',
    }),
    text: Type.String({ minLength: 1, description: 'The whole CSV.' }),
  },
  { title: 'ReferralImportFile' },
);

export const ReferralImportBody = Body(
  {
    from: OneOf(FORMATS, {
      title: 'ReferralFormat',
      description: '`csv`: files with the columns of the guide.',
    }),
    program_id: Type.Optional(
      Type.String({ format: 'uuid', description: 'The program of the new referrers. Default: the newest.' }),
    ),
    files: Type.Array(SourceFileBody, {
      minItems: 1,
      maxItems: FILES_LIMIT,
      description: 'Partners, customers, and commissions, in any order. The columns of a file tell its kind.',
    }),
    dry_run: Type.Optional(
      Type.Boolean({ default: false, description: 'Responds as the import would, and writes nothing.' }),
    ),
  },
  { title: 'ReferralImport' },
);
export type ReferralImportBody = Static<typeof ReferralImportBody>;

const Counts = Type.Object(
  {
    read: Type.Integer(),
    created: Type.Integer(),
    existing: Type.Integer({ description: 'Rows that were there.' }),
    skipped: Type.Integer({ description: 'Commissions with nothing to pay.' }),
  },
  { title: 'ReferralImportCounts' },
);

const Place = {
  file: Type.String(),
  line: Type.Integer({ description: 'Where the row begins, from 1.' }),
};

export const ReferralImportResult = Type.Object(
  {
    dry_run: Type.Boolean(),
    program_id: Uuid,
    partners: Counts,
    customers: Counts,
    commissions: Counts,
    sum: Type.Object(
      {
        currency: Type.String(),
        files: Type.Number({ description: 'Unpaid commissions in the files.' }),
        ledger: Type.Number({ description: 'Those of them that the ledger has.' }),
      },
      {
        title: 'ReferralImportSum',
        description: 'Major units. The two are equal once every row is imported.',
      },
    ),
    unknown_columns: Type.Array(
      Type.Object(
        { file: Type.String(), columns: Type.Array(Type.String()) },
        { title: 'ReferralImportColumns' },
      ),
      { description: 'Columns that are not taken over.' },
    ),
    notes: Type.Array(Type.Object({ ...Place, message: Type.String() }, { title: 'ReferralImportNote' }), {
      description: 'Codes and coupons that another referrer has.',
    }),
    errors: Type.Array(
      Type.Object(
        {
          ...Place,
          field: Nullable(Type.String({ description: 'Name of the column. Null for the row as a whole.' })),
          message: Type.String(),
        },
        { title: 'ReferralImportError' },
      ),
      { description: 'Rows that made nothing. The other rows are imported.' },
    ),
  },
  { title: 'ReferralImportResult' },
);
