import { type Static, Type } from 'typebox';
import { ASSET_TYPES } from '../../core/referrals/assets.ts';
import {
  Body,
  Instant,
  LINES,
  Limit,
  Name,
  NextUuidCursor,
  Nullable,
  OneOf,
  Url,
  Uuid,
  UuidCursor,
} from '../schemas.ts';

/** Characters of an asset's text. */
const TEXT_LIMIT = 10_000;
/** Bytes of an asset's address. */
export const ASSET_URL_LIMIT = 2_000;

const AssetType = OneOf(ASSET_TYPES, { title: 'AssetType' });

export const AssetQuery = Type.Object({
  program_id: Type.Optional(Uuid),
  type: Type.Optional(AssetType),
  limit: Limit(200, 50),
  cursor: Type.Optional(UuidCursor),
});

export const AssetBody = Body(
  {
    program_id: Uuid,
    type: AssetType,
    name: {
      ...Name,
      description: 'What affiliates see above it, such as `Banner for a sidebar`.',
    } as typeof Name,
    image_url: Type.Optional(
      Type.String({
        maxLength: ASSET_URL_LIMIT,
        description: 'Of an image, required: the `url` of `POST /assets/pictures`.',
      }),
    ),
    text: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: TEXT_LIMIT,
        pattern: LINES,
        description: 'Of a text, required. Plain text: nothing in it is read as HTML.',
      }),
    ),
    url: Type.Optional(
      Type.String({ maxLength: ASSET_URL_LIMIT, description: 'Of a link, required. It is never fetched.' }),
    ),
  },
  { title: 'CreateAsset' },
);
export type AssetBody = Static<typeof AssetBody>;

const AssetImage = Type.Object(
  {
    url: {
      ...Url,
      description: 'Anyone with this address sees the picture, without a sign-in.',
    } as typeof Url,
    width: Type.Integer({ description: 'Pixels.' }),
    height: Type.Integer({ description: 'Pixels.' }),
    bytes: Type.Integer({ description: 'Bytes of the stored picture.' }),
  },
  { title: 'AssetImage' },
);

export const AssetRecord = Type.Object(
  {
    id: Uuid,
    program_id: Uuid,
    type: AssetType,
    name: Type.String(),
    image: Nullable(AssetImage),
    text: Nullable(Type.String()),
    url: Nullable(Url),
    created_at: Instant,
  },
  { title: 'Asset' },
);
export type AssetRecord = Static<typeof AssetRecord>;

export const AssetList = Type.Object(
  { assets: Type.Array(AssetRecord), next_cursor: NextUuidCursor },
  { title: 'AssetList' },
);
