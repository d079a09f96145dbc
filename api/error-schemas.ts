import { Type } from 'typebox';
import { DETAIL_CODES, ERROR_STATUS, type ErrorCode } from '../core/errors.ts';
import { FAULTS_LIMIT } from '../core/faults.ts';
import { OneOf } from './schemas.ts';

const CODES = Object.keys(ERROR_STATUS) as ErrorCode[];

const Detail = Type.Object(
  {
    path: Type.String(),
    message: Type.String({ description: 'What the field must be.' }),
    code: Type.Optional(
      OneOf(DETAIL_CODES, { description: 'The broken rule, where a client may handle it.' }),
    ),
    hint: Type.Optional(Type.String({ description: 'Another way to satisfy the rule.' })),
  },
  { title: 'ErrorDetail' },
);

/** The body of every error, for the document; `plugins/errors.ts` writes it. */
export const ErrorBody = Type.Object(
  {
    error: Type.Object({
      code: OneOf(CODES, { title: 'ErrorCode' }),
      message: Type.String(),
      request_id: Type.String({ format: 'uuid', description: 'Also the `x-request-id` header.' }),
      doc_url: Type.String({ format: 'uri', description: 'The page that says what to do about it.' }),
      details: Type.Optional(
        Type.Array(Detail, {
          maxItems: FAULTS_LIMIT,
          description: 'For invalid input: each invalid field.',
        }),
      ),
    }),
  },
  { title: 'Error' },
);
