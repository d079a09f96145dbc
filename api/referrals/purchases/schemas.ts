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
  OrderId,
  Uuid,
} from '../../schemas.ts';
import { REFERRER_NAMES } from '../referrer-names.ts';
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
    ...REFERRER_NAMES,
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
    provider_event: Type.Union(
      [
        Type.Object(
          {
            connection_id: Uuid,
            event_id: Type.String({ description: "The provider's." }),
            reason: Nullable(Type.String({ description: 'Why no buyer is known, as events say it.' })),
            customer: Nullable(Type.String({ description: "The customer's id at the provider." })),
            subscription: Nullable(Type.String()),
          },
          { title: 'ProviderEventOfPurchase' },
        ),
        Type.Null(),
      ],
      {
        description:
          'Of a purchase without a referrer that a connected provider told of: its latest event, by which `POST /connections/:id/events/:event_id/assign` gives it to a referrer, and the ids that named no known buyer.',
      },
    ),
  },
  { title: 'Purchase' },
);

export const PurchaseQuery = Type.Object({
  program_id: Type.Optional(Uuid),
  partner_id: Type.Optional(
    Type.String({ format: 'uuid', description: 'Purchases by buyers that this referrer referred.' }),
  ),
  matched: Type.Optional(
    Type.Boolean({
      description:
        'Only purchases of referred buyers, or only the others: those of buyers without a referrer, and payments at connected providers that name no known buyer. All by default.',
    }),
  ),
  rewarded: Type.Optional(Type.Boolean()),
  held: Type.Optional(
    Type.Boolean({
      description: 'Only purchases that wait for a review, or only the others. All by default.',
    }),
  ),
  reason: Type.Optional(OneOf(PURCHASE_REASONS)),
  order_id: Type.Optional(OrderId),
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
