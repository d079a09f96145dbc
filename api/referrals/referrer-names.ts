import { Type } from 'typebox';
import { Email, Nullable } from '../schemas.ts';

/** Who a referrer is, beside the user's id. */
export const REFERRER_NAMES = {
  referrer_name: Nullable(Type.String({ description: 'Null: no name is known.' })),
  referrer_email: Nullable({ ...Email, description: 'Null: no email is known.' }),
};
