import { Type } from 'typebox';
import {
  PREVIEW_DESCRIPTION_LIMIT,
  PREVIEW_IMAGE_LIMIT,
  PREVIEW_SIDE_LIMIT,
  PREVIEW_TITLE_LIMIT,
} from '../../core/links/preview.ts';
import { Body, LINES, NAME, Nullable } from '../schemas.ts';

/** Schemas of the card that link-preview bots get. */

const PREVIEW = {
  title: 'LinkPreview',
  description:
    'The card that bots of networks and messengers show. They get a page with Open Graph and card tags, and people the redirect. A missing text is the short address.',
};
const SIDE = { minimum: 1, maximum: PREVIEW_SIDE_LIMIT };
const CARD = {
  title: Type.Optional(Type.String({ minLength: 1, maxLength: PREVIEW_TITLE_LIMIT, pattern: NAME })),
  description: Type.Optional(
    Type.String({ minLength: 1, maxLength: PREVIEW_DESCRIPTION_LIMIT, pattern: LINES }),
  ),
  image_url: Type.Optional(
    Type.String({
      format: 'uri',
      maxLength: PREVIEW_IMAGE_LIMIT,
      description:
        'Begins with https://, and is not an SVG. Networks fetch it; at best a PNG or JPEG of 1200 × 630 pixels.',
    }),
  ),
  image_width: Type.Optional(
    Type.Integer({
      ...SIDE,
      description:
        'Pixels, together with `image_height`. Without a size Facebook shows no image at the first share.',
    }),
  ),
  image_height: Type.Optional(Type.Integer({ ...SIDE, description: 'Pixels, together with `image_width`.' })),
};

/** Fields that a create and a change share. Null clears. */
export const PREVIEW_FIELDS = { preview: Type.Optional(Nullable(Body(CARD, PREVIEW))) };

/** The same in a link's record. */
export const PREVIEW_RECORD = { preview: Nullable(Type.Object(CARD, PREVIEW)) };
