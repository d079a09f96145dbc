import { Type } from 'typebox';
import { PURCHASE_REASONS } from '../../core/referrals/terms.ts';
import { Instant, Limit, Nullable, OneOf, Uuid } from '../schemas.ts';

const Major = Type.Number({ description: 'Major units of `currency`.' });

export const PurchaseRecord = Type.Object({
  internal_order_id: Type.Integer(),
  order_id: Type.String(),
  external_user_id: Nullable(Type.String({ description: 'The buyer.' })),
  matched: Type.Boolean({ description: 'Whether the buyer was referred.' }),
  program_id: Nullable(Uuid),
  partner_id: Nullable(Type.String({ description: 'Who referred the buyer.' })),
  referrer_external_user_id: Nullable(Type.String()),
  amount: Major,
  refunded: Major,
  currency: Type.String(),
  is_renewal: Type.Boolean(),
  rewarded: Type.Boolean(),
  ledger_rows: Type.Integer(),
  reason: Nullable(OneOf(PURCHASE_REASONS, { description: 'Why a referred purchase earned nothing.' })),
  purchased_at: Instant,
});

export const PurchaseQuery = Type.Object({
  program_id: Type.Optional(Type.String({ format: 'uuid' })),
  partner_id: Type.Optional(Type.String({ format: 'uuid', description: 'Of buyers of this referrer.' })),
  matched: Type.Optional(
    Type.Boolean({ description: 'Of referred buyers, or of others; all unless given.' }),
  ),
  rewarded: Type.Optional(Type.Boolean()),
  reason: Type.Optional(OneOf(PURCHASE_REASONS)),
  order_id: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  limit: Limit(500, 100),
  cursor: Type.Optional(Type.Integer({ minimum: 1, description: "The previous answer's `next_cursor`." })),
});

export const PurchaseList = Type.Object({
  purchases: Type.Array(PurchaseRecord),
  next_cursor: Nullable(Type.Integer()),
});
