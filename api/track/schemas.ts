import { Type } from 'typebox';
import { EMAIL_LIMIT } from '../../core/tracking/emails.ts';
import { VISITOR_IDS_LIMIT } from '../../core/tracking/track-reports.ts';
import { CommissionableAmount } from '../referrals/schemas.ts';
import {
  Body,
  CurrencyInput,
  ExternalUserId,
  Nullable,
  OrderId,
  Uuid,
  VID_IS_VISITOR_ID,
  VisitorIds,
} from '../schemas.ts';

/** Fields that name the person; at least one of them is required. */
const PERSON_FIELDS = {
  visitor_id: Type.Optional(
    VisitorIds(
      'The `visitor_id` of a click, and the `_vid` that the destination gets. Also a list, as in `visitor_ids`.',
    ),
  ),
  _vid: Type.Optional(VisitorIds(VID_IS_VISITOR_ID)),
  visitor_ids: Type.Optional(
    Nullable(
      Type.Array(Uuid, {
        maxItems: VISITOR_IDS_LIMIT,
        description:
          'All ids that the browser has, newest first: the cookies `_vid` and `_vids`. They are one person for attribution.',
      }),
    ),
  ),
  email: Type.Optional(
    Nullable(Type.String({ format: 'email', minLength: 1, maxLength: EMAIL_LIMIT + 100 })),
  ),
  external_user_id: Type.Optional(Nullable(ExternalUserId)),
};

export const IdentifyBody = Body(PERSON_FIELDS, {
  title: 'TrackIdentify',
  description: 'At least one of `visitor_id`, `email` and `external_user_id` is required.',
});

export const OrderBody = Body(
  {
    order_id: Type.String({
      ...OrderId,
      description: 'Your id of the order. Several reports of one order count once.',
    }),
    amount: Type.Number({ minimum: 0, description: 'Major units of `currency`, at most 10^12 minor units.' }),
    currency: Type.String({ ...CurrencyInput, default: 'usd' }),
    commissionable_amount: CommissionableAmount,
    is_renewal: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'A renewal. Programs with first-sale-only terms skip renewals.',
      }),
    ),
    ...PERSON_FIELDS,
  },
  {
    title: 'TrackOrder',
    description: 'At least one of `visitor_id`, `email` and `external_user_id` is required.',
  },
);
