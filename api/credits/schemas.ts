import { type Static, Type } from 'typebox';
import { GRANT_STATUSES } from '../../sql/referrals/grants.ts';
import { Instant, Limit, Nullable, OneOf, Uuid } from '../schemas.ts';

export const GrantRecord = Type.Object({
  id: Type.Integer(),
  program_id: Uuid,
  partner_id: Type.String({ description: "The referrer, also of a referee's credit." }),
  commission_id: Nullable(Type.String({ description: 'Null: credits are no part of a commission.' })),
  credit_kind: Type.String(),
  amount: Type.Number(),
  status: OneOf(GRANT_STATUSES, { description: '`revoked`: a self-referral; it never counted.' }),
  external_user_id: Type.String({ description: 'Who gets it.' }),
  referee_external_user_id: Type.String(),
  earned_at: Nullable(Instant),
  delivered_at: Nullable(Instant),
  created_at: Instant,
});

export const CreditsQuery = Type.Object({
  partner_id: Type.Optional(
    Type.String({ format: 'uuid', description: 'Grants of a referrer, with the credits of the referees.' }),
  ),
  external_user_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'Grants that this user gets.' }),
  ),
  status: OneOf(['earned', 'delivered', 'all'], { default: 'all' }),
  limit: Limit(500, 100),
});
export type CreditsQuery = Static<typeof CreditsQuery>;

export const Credits = Type.Object({
  grants: Type.Array(GrantRecord),
  balance: Type.Record(Type.String(), Type.Object({ earned: Type.Number(), delivered: Type.Number() }), {
    description: 'Sums by present status, of all grants that the parameters name.',
  }),
});

export const Delivered = Type.Object({
  ok: Type.Literal(true),
  already: Type.Optional(Type.Literal(true)),
});

export const GrantParams = Type.Object({ id: Type.Integer({ minimum: 1 }) });
