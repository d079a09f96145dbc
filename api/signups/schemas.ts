import { Type } from 'typebox';
import { BLOCK_REASONS } from '../../core/referrals/terms.ts';
import { Instant, Limit, Nullable, OneOf, Uuid } from '../schemas.ts';

export const SignupRecord = Type.Object({
  id: Uuid,
  external_user_id: Type.String({ description: 'Who signed up.' }),
  email: Nullable(Type.String()),
  status: OneOf(['pending', 'matched'], {
    description: '`pending`: reported by `_vid` with a click that is not visible yet.',
  }),
  program_id: Nullable(Uuid),
  partner_id: Nullable(Type.String({ description: 'The referrer; null while pending.' })),
  referrer_external_user_id: Nullable(Type.String()),
  blocked: Type.Boolean({ description: 'Whether it earned nothing as a self-referral, or by suspension.' }),
  block_reason: Nullable(OneOf(BLOCK_REASONS)),
  reported_at: Instant,
});

export const SignupQuery = Type.Object({
  program_id: Type.Optional(Type.String({ format: 'uuid' })),
  partner_id: Type.Optional(Type.String({ format: 'uuid', description: 'Of this referrer.' })),
  blocked: Type.Optional(Type.Boolean({ description: 'Blocked ones, or the others; all unless given.' })),
  block_reason: Type.Optional(OneOf(BLOCK_REASONS)),
  search: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Part of `external_user_id` or `email`, in any case of letters.',
    }),
  ),
  limit: Limit(500, 100),
  cursor: Type.Optional(Type.String({ format: 'uuid', description: "The previous answer's `next_cursor`." })),
});

export const SignupList = Type.Object({
  signups: Type.Array(SignupRecord),
  next_cursor: Nullable(Type.String()),
});
