import { Type } from 'typebox';
import { LEAST_CONTRAST } from '../../core/qr/colors.ts';
import { FRAME_MARGIN, FRAME_TEXT_MOST, QR_FRAMES, USUAL_FRAME_TEXT } from '../../core/qr/frames.ts';
import { QR_LEVELS, QR_SHAPES, QUIET_ZONE } from '../../core/qr/layout.ts';
import { LOGO_BYTES, LOGO_SIDE, LOGO_URL_LIMIT } from '../../core/qr/logo.ts';
import type { LinkQrStyle } from '../../sql/links/qr-styles.ts';
import { Body, OneOf, VisibleText } from '../schemas.ts';

/** Width of an image, in pixels. */
const SIZE = { least: 64, most: 2_048, usual: 512 };
const MOST_MARGIN = 16;

/** The look of a code without settings. */
export const PLAIN_STYLE: LinkQrStyle = {
  color: '000000',
  background: 'ffffff',
  shape: 'square',
  frame: 'none',
  frame_text: USUAL_FRAME_TEXT,
  logo_from: 'none',
  logo: null,
};

const Color = (description: string) => Type.String({ minLength: 6, maxLength: 7, description });

const LOOK = {
  color: Color(
    `Color of the code, six hexadecimal digits, darker than the background. The contrast must be at least ${LEAST_CONTRAST} to 1.`,
  ),
  background: Color('Color behind the code, six hexadecimal digits.'),
  shape: OneOf(QR_SHAPES, {
    description:
      'Shape of the modules. Finder and alignment patterns stay whole, so that scanners find the code.',
  }),
  frame: OneOf(QR_FRAMES, {
    description: `Frame with a text: a border, a filled border, or a speech bubble below the code. The image is then higher than wide, and \`margin\` at least ${FRAME_MARGIN}.`,
  }),
  // Characters are counted after white space is removed, in `frameWords`.
  frame_text: VisibleText(
    4 * FRAME_TEXT_MOST,
    `Text of the frame, in one line: 1 to ${FRAME_TEXT_MOST} Latin, Greek, or Cyrillic letters, digits, and punctuation marks.`,
  ),
};

export const QrQuery = Type.Object({
  format: { ...OneOf(['svg', 'png']), default: 'svg' },
  size: Type.Integer({
    minimum: SIZE.least,
    maximum: SIZE.most,
    default: SIZE.usual,
    description:
      'Width in pixels; without a frame also the height. Each module needs two, and four with another `shape` than `square`.',
  }),
  margin: Type.Integer({
    minimum: 0,
    maximum: MOST_MARGIN,
    default: QUIET_ZONE,
    description:
      'Width of the quiet zone in modules; scanners expect four. Modules of a PNG are whole pixels, and what is left of its size widens the quiet zone: `x-quiet-zone` says its width.',
  }),
  level: Type.Optional(
    OneOf(QR_LEVELS, {
      description: 'Error correction. Default `M`; with a logo `H`, and at least `Q`.',
    }),
  ),
  color: Type.Optional(LOOK.color),
  background: Type.Optional(LOOK.background),
  shape: Type.Optional(LOOK.shape),
  frame: Type.Optional(LOOK.frame),
  frame_text: Type.Optional(LOOK.frame_text),
  logo: Type.Optional(
    OneOf(['0', '1'], {
      description: "`1`: the link's own logo in the middle, or else the workspace's. `0`: none.",
    }),
  ),
});

const Logo = Type.String({
  maxLength: LOGO_URL_LIMIT,
  description: `Logo in the middle: \`none\`, \`workspace\`, or the link's own: a PNG as \`data:image/png;base64,…\`, without interlacing, at most ${LOGO_BYTES / 1_024} KiB and ${LOGO_SIDE} pixels wide and high. Stored here, never fetched.`,
});

export const QrStyleChange = Body(
  {
    color: Type.Optional(LOOK.color),
    background: Type.Optional(LOOK.background),
    shape: Type.Optional(LOOK.shape),
    frame: Type.Optional(LOOK.frame),
    frame_text: Type.Optional(LOOK.frame_text),
    logo: Type.Optional(Logo),
  },
  { title: 'UpdateLinkQrStyle' },
);

export const QrStyleRecord = Type.Object({ ...LOOK, logo: Logo }, { title: 'LinkQrStyle' });
