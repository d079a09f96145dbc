import { PNG } from 'pngjs';
import type { Color } from './colors.ts';
import { fillPath } from './fill.ts';
import { frameDrawing } from './frames.ts';
import { logoSpan, type QrModules } from './layout.ts';
import { covers, formOf, type ModuleForm } from './shapes.ts';
import type { QrLook } from './svg.ts';

/** Pixels of a square of the image. */
type Square = { x: number; y: number; side: number };
type Area = { x: number; y: number; width: number; height: number };

/**
 * Returns where the code and its frame are in a PNG, in pixels: modules are whole pixels wide, and what remains of the
 * width is left at both sides. `width` is that of the drawing in modules.
 */
export function placed(
  modules: QrModules,
  { size, margin, frame }: Pick<QrLook, 'size' | 'margin' | 'frame'>,
) {
  const side = modules.length + 2 * margin;
  const drawing = frame ? frameDrawing(frame, side) : null;
  const { width, height } = drawing ?? { width: side, height: side };
  const scale = Math.floor(size / width);
  if (drawing === null) {
    const start = Math.floor((size - modules.length * scale) / 2);
    return { width, scale, height: size, x: start, y: start, quiet: start, drawing, edge: 0 };
  }
  const edge = Math.floor((size - width * scale) / 2);
  return {
    width,
    scale,
    height: height * scale + 2 * edge,
    x: edge + (drawing.x + margin) * scale,
    y: edge + (drawing.y + margin) * scale,
    /** Width of the quiet zone. */
    quiet: margin * scale,
    drawing,
    /** Width of what is around the frame. */
    edge,
  };
}

/**
 * Returns a code as PNG. Modules are whole pixels wide; the remaining pixels widen the quiet zone, or are around the
 * frame.
 *
 * @param look its size must have room for a pixel of each module
 * @param logo a PNG for the middle; null: none
 */
export async function qrPng(modules: QrModules, look: QrLook, logo: Uint8Array | null): Promise<Buffer> {
  const { size, color, background, shape = 'square' } = look;
  const { scale, height, x: left, y: top, drawing, edge } = placed(modules, look);
  if (scale < 1) throw new RangeError(`a code of ${modules.length} modules needs more than ${size} pixels`);
  const image = new PNG({ width: size, height });
  fill(image, { x: 0, y: 0, width: size, height }, background);
  for (const { fill: kind, path, ...place } of drawing?.shapes ?? []) {
    fillPath(
      image,
      path,
      { x: edge + place.x * scale, y: edge + place.y * scale, scale: place.scale * scale },
      look[kind],
    );
  }
  const maskOf = createMasks(scale);
  for (const [y, row] of modules.entries()) {
    for (const [x, dark] of row.entries()) {
      if (!dark) continue;
      const square = { x: left + x * scale, y: top + y * scale, side: scale };
      if (shape === 'square') fill(image, areaOf(square), color);
      else blend(image, square, maskOf(formOf(modules, shape, x, y)), { color, background });
    }
  }
  if (logo !== null) {
    const span = logoSpan(modules);
    const inset = ((modules.length - span) / 2) * scale;
    const [x, y] = [left + inset, top + inset];
    const edgeOfLogo = Math.floor(scale / 2);
    fill(image, areaOf({ x, y, side: span * scale }), background);
    const inner = { x: x + edgeOfLogo, y: y + edgeOfLogo, side: span * scale - 2 * edgeOfLogo };
    drawLogo(image, inner, PNG.sync.read(Buffer.from(logo)), background);
  }
  return encoded(image);
}

const areaOf = ({ x, y, side }: Square): Area => ({ x, y, width: side, height: side });

/** Compresses an image outside the event loop. */
function encoded(image: PNG): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    image.on('data', (part: Buffer) => parts.push(part));
    image.on('end', () => resolve(Buffer.concat(parts)));
    image.on('error', reject);
    image.pack();
  });
}

function fill({ data, width }: PNG, area: Area, [red, green, blue]: Color): void {
  for (let row = area.y; row < area.y + area.height; row++) {
    for (let at = 4 * (row * width + area.x), end = at + 4 * area.width; at < end; at += 4) {
      data[at] = red;
      data[at + 1] = green;
      data[at + 2] = blue;
      data[at + 3] = 255;
    }
  }
}

/** Points of a pixel's side that decide how much of it is dark. */
const SAMPLES = 4;

/** Returns the masks of modules: how much of each pixel is dark, 0 to 1, row by row. Each form is made once. */
function createMasks(side: number): (form: ModuleForm) => Float32Array {
  const masks = new Map<string, Float32Array>();
  return (form) => {
    const key = String(form);
    const known = masks.get(key);
    if (known) return known;
    const mask = new Float32Array(side * side);
    const points = side * SAMPLES;
    for (let y = 0; y < points; y++) {
      for (let x = 0; x < points; x++) {
        if (!covers(form, (x + 0.5) / points, (y + 0.5) / points)) continue;
        const at = Math.floor(y / SAMPLES) * side + Math.floor(x / SAMPLES);
        mask[at] = (mask[at] ?? 0) + 1 / SAMPLES ** 2;
      }
    }
    masks.set(key, mask);
    return mask;
  };
}

function blend(
  { data, width }: PNG,
  { x, y, side }: Square,
  mask: Float32Array,
  { color, background }: Record<'color' | 'background', Color>,
): void {
  for (const [index, share] of mask.entries()) {
    const at = 4 * ((y + Math.floor(index / side)) * width + x + (index % side));
    for (const part of [0, 1, 2] as const) {
      data[at + part] = Math.round(color[part] * share + background[part] * (1 - share));
    }
  }
}

/**
 * Draws a logo as large as the square allows, centered in it. Each pixel is the mean of the logo's pixels beneath it.
 */
function drawLogo(image: PNG, square: Square, logo: PNG, background: Color): void {
  const shrink = Math.max(logo.width, logo.height) / square.side;
  const [width, height] = [logo.width, logo.height].map((length) =>
    Math.max(1, Math.round(length / shrink)),
  ) as [number, number];
  const left = square.x + Math.floor((square.side - width) / 2);
  const top = square.y + Math.floor((square.side - height) / 2);
  for (let y = 0; y < height; y++) {
    const rows = covered(y, height, logo.height);
    for (let x = 0; x < width; x++) {
      const mean = meanOf(logo, covered(x, width, logo.width), rows, background);
      const at = 4 * ((top + y) * image.width + left + x);
      for (const [part, value] of mean.entries()) image.data[at + part] = value;
    }
  }
}

/** Returns the source pixels that a target pixel covers, at least one: from, and up to. */
function covered(at: number, length: number, source: number): [number, number] {
  const from = Math.min(source - 1, Math.floor((at * source) / length));
  return [from, Math.max(from + 1, Math.floor(((at + 1) * source) / length))];
}

/** Returns the mean color of a part of a logo on the background. */
function meanOf(
  { data, width }: PNG,
  [left, right]: [number, number],
  [top, bottom]: [number, number],
  background: Color,
): [number, number, number] {
  const sums: [number, number, number] = [0, 0, 0];
  for (let y = top; y < bottom; y++) {
    for (let x = left; x < right; x++) {
      const at = 4 * (y * width + x);
      const alpha = (data[at + 3] ?? 0) / 255;
      for (const part of [0, 1, 2] as const) {
        sums[part] += (data[at + part] ?? 0) * alpha + background[part] * (1 - alpha);
      }
    }
  }
  const count = (right - left) * (bottom - top);
  return sums.map((sum) => Math.round(sum / count)) as [number, number, number];
}
