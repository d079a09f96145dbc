import { Type } from 'typebox';
import { BLOCK_REASONS } from '../../../core/referrals/terms.ts';
import { Bom } from '../../byte-order-mark.ts';
import { ListFormat } from '../../csv-rows.ts';
import {
  Email,
  Instant,
  Limit,
  NextUuidCursor,
  Nullable,
  OneOf,
  Uuid,
  UuidCursor,
  VisibleText,
} from '../../schemas.ts';
import { REFERRER_NAMES } from '../referrer-names.ts';
import { BlockReason } from '../schemas.ts';

const STATUSES = ['pending', 'held', 'matched', 'unmatched'] as const;
const SignupStatus = OneOf(STATUSES, {
  title: 'SignupStatus',
  description:
    '`pending`: reported by `_vid` with a click that is not visible yet. `held`: the signup, or what it earns, waits for a review. `unmatched`: a server reported that no one referred the user.',
});

export const SignupRecord = Type.Object(
  {
    id: Uuid,
    external_user_id: Type.String({ description: 'The user who signed up.' }),
    email: Nullable(Email),
    status: SignupStatus,
    by_server: Type.Boolean({ description: 'A server reported it: reports of pages change nothing.' }),
    program_id: Nullable(Uuid),
    partner_id: Nullable(Type.String({ format: 'uuid', description: 'The referrer. Null while pending.' })),
    referrer_external_user_id: Nullable(Type.String()),
    ...REFERRER_NAMES,
    blocked: Type.Boolean({
      description: 'Whether the signup earned nothing; `block_reason` says why.',
    }),
    block_reason: Nullable(BlockReason),
    reported_at: Instant,
    lifetime_value: Type.Record(Type.String(), Type.Number(), {
      description: "What the user's purchases brought less refunds, in major units by currency.",
    }),
  },
  { title: 'Signup' },
);

export const SignupQuery = Type.Object({
  program_id: Type.Optional(Uuid),
  partner_id: Type.Optional(Type.String({ format: 'uuid', description: 'Signups of this referrer.' })),
  blocked: Type.Optional(
    Type.Boolean({ description: 'Only blocked signups, or only the others. All by default.' }),
  ),
  block_reason: Type.Optional(OneOf(BLOCK_REASONS)),
  status: Type.Optional(
    OneOf(STATUSES, { description: '`held` is the list to review. All but `unmatched` by default.' }),
  ),
  search: Type.Optional(VisibleText(200, 'Text in `external_user_id` or `email`, ignoring case.')),
  limit: Limit(500, 100),
  cursor: Type.Optional(UuidCursor),
  format: ListFormat,
  bom: Bom,
});

export const SignupList = Type.Object(
  { signups: Type.Array(SignupRecord), next_cursor: NextUuidCursor },
  { title: 'SignupList' },
);
