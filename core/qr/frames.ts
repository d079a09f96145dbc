// Browsers run this file too.
import { badRequest } from '../errors.ts';

/** Frames around a code: a border, a filled border, or a speech bubble below the code. */
export const QR_FRAMES = ['none', 'line', 'banner', 'bubble'] as const;
export type QrFrame = (typeof QR_FRAMES)[number];

/** Text of a frame without words of its own. */
export const USUAL_FRAME_TEXT = 'Scan me';
/** Characters of a frame's text. */
export const FRAME_TEXT_MOST = 30;
/** Least quiet zone in a frame, in modules: a frame as dark as the code would hide the code's edge. */
export const FRAME_MARGIN = 2;

/** A text as outlines. */
export type Words = {
  /** SVG path with the baseline at 0. */
  path: string;
  /** Width of the text, in the unit of `em`. */
  width: number;
  em: number;
};

/** A frame with the outlines of its text. */
export type Frame = { kind: Exclude<QrFrame, 'none'>; words: Words };

/** A filled outline of `m`, `l`, and `q`, which is scaled, then moved. Modules. */
export type FrameShape = {
  fill: 'color' | 'background';
  path: string;
  x: number;
  y: number;
  scale: number;
};

/** A frame as shapes, from the back to the front. Modules. */
export type FrameDrawing = {
  width: number;
  height: number;
  /** Where the code and its quiet zone begin. */
  x: number;
  y: number;
  shapes: readonly FrameShape[];
};

/** Height of capitals of the letters, in an em. */
const CAPITALS = 0.727;
/** Height of the strip of the text, as a share of the code with its quiet zone. */
const STRIP = 0.2;
/** Width of a border. */
const BORDER = 2;

/** @param side width of the code with its quiet zone, in modules */
export function frameDrawing({ kind, words }: Frame, side: number): FrameDrawing {
  const strip = Math.max(5, Math.round(STRIP * side));
  const width = side + 2 * BORDER;
  if (kind === 'bubble') {
    const tip = 2;
    const top = BORDER + side + tip;
    const height = top + strip + BORDER;
    return {
      width,
      height,
      x: BORDER,
      y: BORDER,
      shapes: [
        shape('background', box(0, 0, width, height, 0)),
        shape('color', box(BORDER, top, side, strip, strip / 2)),
        shape('color', `m${width / 2 - tip} ${top}l${tip} ${-tip}l${tip} ${tip}`),
        text('background', words, { left: BORDER + strip / 2, width: side - strip, top, height: strip }),
      ],
    };
  }
  const height = side + strip + 2 * BORDER;
  const frame = [
    shape('background', box(0, 0, width, height, 0)),
    shape('color', box(0, 0, width, height, 3)),
  ];
  const place = { left: 2 * BORDER, width: side - 2 * BORDER, top: BORDER + side, height: strip };
  const shapes =
    kind === 'line'
      ? [...frame, shape('background', box(1, 1, width - 2, height - 2, 2)), text('color', words, place)]
      : [
          ...frame,
          shape('background', box(BORDER, BORDER, side, side, 2)),
          text('background', words, { ...place, height: strip + BORDER }),
        ];
  return { width, height, x: BORDER, y: BORDER, shapes };
}

const shape = (fill: FrameShape['fill'], path: string): FrameShape => ({ fill, path, x: 0, y: 0, scale: 1 });

/** A rectangle with round corners. */
function box(x: number, y: number, width: number, height: number, radius: number): string {
  const [w, h, r] = [width - 2 * radius, height - 2 * radius, radius];
  return (
    `m${x + r} ${y}l${w} 0q${r} 0 ${r} ${r}l0 ${h}q0 ${r} ${-r} ${r}` +
    `l${-w} 0q${-r} 0 ${-r} ${-r}l0 ${-h}q0 ${-r} ${r} ${-r}`
  );
}

/** A text in the middle of a place, as large as it allows. */
function text(
  fill: FrameShape['fill'],
  words: Words,
  place: { left: number; width: number; top: number; height: number },
): FrameShape {
  const scale = Math.min((0.62 * place.height) / words.em, place.width / Math.max(1, words.width));
  return {
    fill,
    path: words.path,
    x: place.left + (place.width - words.width * scale) / 2,
    y: place.top + (place.height + CAPITALS * words.em * scale) / 2,
    scale,
  };
}

/** @throws {AppError} `bad_request` that names `margin`, for a quiet zone that a frame would hide */
export function requireFrameMargin(frame: QrFrame, margin: number): void {
  if (frame === 'none' || margin >= FRAME_MARGIN) return;
  throw badRequest('margin', `must be at least ${FRAME_MARGIN} with a frame`);
}
