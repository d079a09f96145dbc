import { type Static, Type } from 'typebox';
import {
  Body,
  ExternalUserId,
  Instant,
  Limit,
  NextUuidCursor,
  Nullable,
  ONE_LINE,
  Uuid,
  UuidCursor,
} from '../../schemas.ts';

const Code = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: ONE_LINE,
  description:
    'The discount code as customers enter it. Codes are compared without regard to case, and one referrer of the workspace has a code.',
});

export const CouponRecord = Type.Object(
  {
    id: Uuid,
    code: Code,
    program_id: Type.String({ format: 'uuid', description: "The referrer's program." }),
    partner_id: Type.String({ format: 'uuid', description: 'The referrer.' }),
    external_user_id: ExternalUserId,
    created_at: Instant,
  },
  { title: 'Coupon' },
);
export type CouponRecord = Static<typeof CouponRecord>;

export const CouponQuery = Type.Object({
  code: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
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
  },
  { title: 'CreateCoupon' },
);
export type CouponBody = Static<typeof CouponBody>;
