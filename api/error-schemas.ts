import { Type } from 'typebox';
import { ERROR_STATUS, type ErrorCode } from '../core/errors.ts';
import { OneOf } from './schemas.ts';

const CODES = Object.keys(ERROR_STATUS) as ErrorCode[];

/** The body of every error, for the document; `plugins/errors.ts` writes it. */
export const ErrorBody = Type.Object(
  {
    error: Type.Object({
      code: OneOf(CODES, { title: 'ErrorCode' }),
      message: Type.String(),
      request_id: Type.String({ format: 'uuid', description: 'Also the `x-request-id` header.' }),
      details: Type.Optional(
        Type.Array(Type.Object({ path: Type.String(), message: Type.String() }, { title: 'ErrorDetail' }), {
          description: 'For invalid input: the first invalid field.',
        }),
      ),
    }),
  },
  { title: 'Error' },
);
