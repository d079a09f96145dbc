import { type Static, Type } from 'typebox';
import { GRANT_STATUSES } from '../../../sql/referrals/grants.ts';
import {
  Body,
  ExternalUserId,
  Instant,
  Limit,
  Nullable,
  NumberCursor,
  OneOf,
  Uuid,
  VisibleText,
} from '../../schemas.ts';

export const GrantRecord = Type.Object(
  {
    id: Type.Integer(),
    program_id: Uuid,
    partner_id: Type.String({
      format: 'uuid',
      description: "The referrer, also for the referee's own credit.",
    }),
    commission_id: Nullable(
      Type.String({ format: 'uuid', description: 'Always null: a credit is not part of a commission.' }),
    ),
    credit_kind: Type.String(),
    amount: Type.Number({ description: 'Number of credits.' }),
    status: OneOf(GRANT_STATUSES, {
      title: 'CreditStatus',
      description:
        '`revoked`: blocked as a self-referral, or revoked before it was delivered. It does not count.',
    }),
    revoked_reason: Nullable(
      Type.String({
        description:
          'Null unless revoked: a block reason, `refunded`, `corrected`, or the reason of `POST /credits/{id}/revoke`.',
      }),
    ),
    external_user_id: Type.String({ description: 'The user who gets the credit.' }),
    referee_external_user_id: Nullable(
      Type.String({ description: "The referred user. Null: a coupon's order that names no user." }),
    ),
    earned_at: Nullable(Instant),
    delivered_at: Nullable(Instant),
    created_at: Instant,
  },
  { title: 'CreditGrant' },
);

export const CreditsQuery = Type.Object({
  partner_id: Type.Optional(
    Type.String({
      format: 'uuid',
      description: 'Grants of this referrer, including the credits of their referees.',
    }),
  ),
  external_user_id: Type.Optional(Type.String({ ...ExternalUserId, description: 'Grants to this user.' })),
  status: OneOf(['earned', 'delivered', 'all'], { default: 'all' }),
  limit: Limit(500, 100),
  cursor: Type.Optional(NumberCursor),
});
export type CreditsQuery = Static<typeof CreditsQuery>;

export const Credits = Type.Object(
  {
    grants: Type.Array(GrantRecord),
    balance: Type.Record(
      Type.String(),
      Type.Object({ earned: Type.Number(), delivered: Type.Number() }, { title: 'CreditSums' }),
      { description: 'By credit kind: sums by current status, over all matching grants.' },
    ),
    next_cursor: Type.Optional(
      Nullable(
        Type.Integer({
          description: 'Only in the list across users: the `cursor` of the next page. Null on the last page.',
        }),
      ),
    ),
  },
  { title: 'Credits' },
);

export const Delivered = Type.Object(
  { ok: Type.Literal(true), already: Type.Optional(Type.Literal(true)) },
  { title: 'Delivered' },
);

export const GrantParams = Type.Object({
  id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
});

export const RevokeCredit = Body(
  {
    reason: VisibleText(500, 'Shown as `revoked_reason`.'),
  },
  { title: 'RevokeCredit' },
);

export const Revoked = Type.Object(
  { ok: Type.Literal(true), already: Type.Optional(Type.Literal(true)) },
  { title: 'Revoked' },
);
