import type { PNG } from 'pngjs';
import type { Color } from './colors.ts';

type Point = readonly [x: number, y: number];
/** A side of an outline, downward. `turn`: 1 where the outline goes down, else -1. */
type Edge = { top: number; bottom: number; x: number; slope: number; turn: 1 | -1 };

/** Lines of a row of pixels that decide how much of a pixel is covered. */
const LINES = 4;
/** Straight parts of a curve. */
const PARTS = 6;

/**
 * Fills an outline with smooth edges (rule `nonzero`).
 *
 * @param path of `M`, `m`, `l`, and `q`, each contour closed
 * @param place pixels of a unit of the path, and of its origin
 */
export function fillPath(
  image: PNG,
  path: string,
  place: { x: number; y: number; scale: number },
  color: Color,
): void {
  const edges = contoursOf(path).flatMap((contour) =>
    edgesOf(contour.map(([x, y]) => [place.x + x * place.scale, place.y + y * place.scale] as const)),
  );
  const top = Math.max(0, Math.floor(Math.min(...edges.map((edge) => edge.top))));
  const bottom = Math.min(image.height, Math.ceil(Math.max(...edges.map((edge) => edge.bottom))));
  const shares = new Float32Array(image.width);
  for (let row = top; row < bottom; row++) {
    shares.fill(0);
    const near = edges.filter((edge) => edge.top < row + 1 && edge.bottom > row);
    for (let line = 0; line < LINES; line++) addLine(shares, near, row + (line + 0.5) / LINES);
    for (let column = 0; column < shares.length; column++) {
      const share = shares[column] ?? 0;
      if (share > 0) mix(image, 4 * (row * image.width + column), color, Math.min(1, share));
    }
  }
}

/** Adds how much of each pixel a line through the outline covers. */
function addLine(shares: Float32Array, edges: readonly Edge[], y: number): void {
  const crossings = edges
    .filter((edge) => edge.top <= y && edge.bottom > y)
    .map(({ x, slope, top, turn }) => ({ x: x + slope * (y - top), turn }))
    .sort((one, other) => one.x - other.x);
  let winding = 0;
  for (const [nth, { x, turn }] of crossings.entries()) {
    winding += turn;
    const next = crossings[nth + 1];
    if (winding !== 0 && next) addSpan(shares, x, next.x);
  }
}

function addSpan(shares: Float32Array, from: number, to: number): void {
  const [left, right] = [Math.max(0, from), Math.min(shares.length, to)];
  for (let column = Math.floor(left); column < right; column++) {
    const covered = Math.min(right, column + 1) - Math.max(left, column);
    shares[column] = (shares[column] ?? 0) + covered / LINES;
  }
}

function mix({ data }: PNG, at: number, color: Color, share: number): void {
  for (let part = 0; part < 3; part++) {
    data[at + part] = Math.round((color[part] ?? 0) * share + (data[at + part] ?? 0) * (1 - share));
  }
}

/** Returns the contours of a path as points; curves become straight parts. */
function contoursOf(path: string): Point[][] {
  const contours: Point[][] = [];
  let [x, y] = [0, 0];
  for (const [, sign, numbers = ''] of path.matchAll(/([Mmlq])([^Mmlq]*)/g)) {
    const [a = 0, b = 0, c = 0, d = 0] = [...numbers.matchAll(/-?[\d.]+/g)].map(Number);
    const contour = contours.at(-1) ?? [];
    if (sign === 'q') {
      for (let part = 1; part <= PARTS; part++) {
        const t = part / PARTS;
        const [first, second] = [2 * t * (1 - t), t * t];
        contour.push([x + first * a + second * c, y + first * b + second * d]);
      }
    }
    const [right, down] = sign === 'q' ? [c, d] : [a, b];
    [x, y] = sign === 'M' ? [a, b] : [x + right, y + down];
    if (sign === 'l') contour.push([x, y]);
    if (sign === 'M' || sign === 'm') contours.push([[x, y]]);
  }
  return contours;
}

/** Returns the sides of a contour that are not level. */
function edgesOf(contour: readonly Point[]): Edge[] {
  return contour.flatMap<Edge>(([x, y], nth) => {
    const [nextX, nextY] = contour[(nth + 1) % contour.length] ?? [x, y];
    if (y === nextY) return [];
    const slope = (nextX - x) / (nextY - y);
    return y < nextY
      ? [{ top: y, bottom: nextY, x, slope, turn: 1 }]
      : [{ top: nextY, bottom: y, x: nextX, slope, turn: -1 }];
  });
}
