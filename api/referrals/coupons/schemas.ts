import { type Static, Type } from 'typebox';
import { DISCOUNT_DURATIONS } from '../../../core/connections/promotion-codes.ts';
import {
  Body,
  Currency,
  CurrencyInput,
  ExternalUserId,
  Instant,
  Limit,
  NAME,
  NextUuidCursor,
  Nullable,
  OneOf,
  Uuid,
  UuidCursor,
  VisibleText,
} from '../../schemas.ts';
import { REFERRER_NAMES } from '../referrer-names.ts';

const Code = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: NAME,
  title: 'CouponCode',
  description:
    'The discount code as customers enter it. Codes are compared without regard to case, and one referrer of the workspace has a code.',
});

const Duration = OneOf(DISCOUNT_DURATIONS, {
  title: 'DiscountDuration',
  description: 'How long the discount lasts on a subscription; `repeating`: for `duration_in_months`.',
});
const LONGEST_MONTHS = 120;

export const PromotionCodeInput = Body(
  {
    connection_id: Type.Optional({
      ...Uuid,
      description:
        'A Stripe connection with a restricted key. By default the oldest one, live mode before test mode.',
    }),
    percent_off: Type.Optional(
      Type.Number({ exclusiveMinimum: 0, maximum: 100, description: 'This, or `amount_off`.' }),
    ),
    amount_off: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 1_000_000,
        description: 'Major units of `currency`.',
      }),
    ),
    currency: Type.Optional({ ...CurrencyInput, description: 'Of `amount_off`, required. ISO 4217 code.' }),
    duration: Type.Optional(Duration),
    duration_in_months: Type.Optional(
      Type.Integer({ minimum: 1, maximum: LONGEST_MONTHS, description: 'Of `repeating`, required.' }),
    ),
  },
  {
    title: 'PromotionCodeInput',
    description:
      'Terms of a promotion code that is made in Stripe. The code of the coupon must then be of letters, digits, and hyphens.',
  },
);
export type PromotionCodeInput = Static<typeof PromotionCodeInput>;

const PromotionCode = Type.Object(
  {
    connection_id: Uuid,
    status: OneOf(['pending', 'active', 'failed'], {
      title: 'PromotionCodeStatus',
      description:
        '`pending`: being made; `error` is of the last attempt. `failed`: the provider refused it, or every attempt failed.',
    }),
    reference: Nullable(Type.String({ description: "The provider's id of the promotion code." })),
    error: Nullable(Type.String()),
    percent_off: Nullable(Type.Number()),
    amount_off: Nullable(Type.Number({ description: 'Major units of `currency`.' })),
    currency: Nullable(Currency),
    duration: Duration,
    duration_in_months: Nullable(Type.Integer()),
  },
  { title: 'PromotionCode', description: 'The promotion code of a coupon at a connected provider.' },
);

export const CouponRecord = Type.Object(
  {
    id: Uuid,
    code: Code,
    program_id: Type.String({ format: 'uuid', description: "The referrer's program." }),
    partner_id: Type.String({ format: 'uuid', description: 'The referrer.' }),
    external_user_id: ExternalUserId,
    ...REFERRER_NAMES,
    promotion_code: Nullable(PromotionCode),
    created_at: Instant,
  },
  { title: 'Coupon' },
);
export type CouponRecord = Static<typeof CouponRecord>;

export const CouponQuery = Type.Object({
  code: Type.Optional(VisibleText(200)),
  external_user_id: Type.Optional(ExternalUserId),
  partner_id: Type.Optional(Uuid),
  program_id: Type.Optional(Uuid),
  limit: Limit(500, 100),
  cursor: Type.Optional(UuidCursor),
});

export const CouponList = Type.Object(
  { coupons: Type.Array(CouponRecord), next_cursor: NextUuidCursor },
  { title: 'CouponList' },
);

export const CouponBody = Body(
  {
    code: Code,
    external_user_id: ExternalUserId,
    program_id: Type.Optional(
      Nullable(Type.String({ format: 'uuid', description: "The referrer's program; another is a 400." })),
    ),
    promotion_code: Type.Optional(Nullable(PromotionCodeInput)),
  },
  { title: 'CreateCoupon' },
);
export type CouponBody = Static<typeof CouponBody>;
