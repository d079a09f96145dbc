import { Type } from 'typebox';
import { EMAIL_LIMIT } from '../../core/tracking/emails.ts';
import { Body, Nullable, Uuid } from '../schemas.ts';

/** Who did it: at least one of them. */
const PERSON_FIELDS = {
  visitor_id: Type.Optional(
    Nullable({ ...Uuid, description: 'As a click shows it, and as the destination gets it in `_vid`.' }),
  ),
  email: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: EMAIL_LIMIT + 100 }))),
  external_user_id: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 200 }))),
};

export const IdentifyBody = Body(PERSON_FIELDS, {
  description: 'At least one of `visitor_id`, `email` and `external_user_id`.',
});

export const OrderBody = Body(
  {
    order_id: Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Your id of the order: reports of one order count once.',
    }),
    amount: Type.Number({ minimum: 0, description: 'Major units of `currency`; at most 10^12 minor ones.' }),
    currency: Type.String({ default: 'usd', description: 'ISO 4217 code.' }),
    ...PERSON_FIELDS,
  },
  { description: 'At least one of `visitor_id`, `email` and `external_user_id`.' },
);
