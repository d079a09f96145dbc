import { Type } from 'typebox';
import { PURCHASE_REASONS } from '../../../core/referrals/terms.ts';
import {
  Currency,
  Instant,
  Limit,
  NextNumberCursor,
  Nullable,
  NumberCursor,
  OneOf,
  Uuid,
} from '../../schemas.ts';
import { PurchaseReason } from '../schemas.ts';

const Major = Type.Number({ description: 'Major units of `currency`.' });

const PurchaseRecord = Type.Object(
  {
    internal_order_id: Type.Integer(),
    order_id: Type.String(),
    external_user_id: Nullable(Type.String({ description: 'The buyer.' })),
    matched: Type.Boolean({ description: 'Whether a referrer brought the order.' }),
    program_id: Nullable(Uuid),
    partner_id: Nullable(Type.String({ format: 'uuid', description: 'The referrer who brought the order.' })),
    referrer_external_user_id: Nullable(Type.String()),
    amount: Major,
    commissionable_amount: Type.Number({ description: 'The part of `amount` that earns commission.' }),
    refunded: Major,
    currency: Currency,
    is_renewal: Type.Boolean(),
    held: Type.Boolean({ description: "Waits for the review of the buyer's signup." }),
    rewarded: Type.Boolean(),
    ledger_rows: Type.Integer(),
    reason: Nullable(PurchaseReason),
    coupon: Nullable(Type.String({ description: "A referrer's coupon that the order used." })),
    purchased_at: Instant,
  },
  { title: 'Purchase' },
);

export const PurchaseQuery = Type.Object({
  program_id: Type.Optional(Uuid),
  partner_id: Type.Optional(
    Type.String({ format: 'uuid', description: 'Purchases by buyers that this referrer referred.' }),
  ),
  matched: Type.Optional(
    Type.Boolean({ description: 'Only purchases of referred buyers, or only the others. All by default.' }),
  ),
  rewarded: Type.Optional(Type.Boolean()),
  held: Type.Optional(
    Type.Boolean({
      description: 'Only purchases that wait for a review, or only the others. All by default.',
    }),
  ),
  reason: Type.Optional(OneOf(PURCHASE_REASONS)),
  order_id: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  limit: Limit(500, 100),
  cursor: Type.Optional(NumberCursor),
});

export const PurchaseList = Type.Object(
  { purchases: Type.Array(PurchaseRecord), next_cursor: NextNumberCursor },
  { title: 'PurchaseList' },
);

export const InternalOrderIdParams = Type.Object({
  internal_order_id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
});
