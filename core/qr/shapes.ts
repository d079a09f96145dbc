// Browsers run this file too.
import type { QrModules, QrShape } from './layout.ts';

/** How a dark module is drawn: a square with these corners rounded, in the order of {@link CORNERS}, or a dot. */
export type ModuleForm = 'dot' | readonly [boolean, boolean, boolean, boolean];

/** Radius of a dot in modules. Dots that touched would be scanned less well. */
const DOT_RADIUS = 0.45;
/** Width of the patterns in three corners, by which scanners find a code: they need them whole. */
const FINDER = 7;

/** The corners of a module clockwise from the top left: the steps to the two neighbors that share it. */
const CORNERS = [
  [-1, -1],
  [1, -1],
  [1, 1],
  [-1, 1],
] as const;

/** Returns how the dark module at a place is drawn. A corner between dark neighbors is never rounded. */
export function formOf(modules: QrModules, shape: QrShape, x: number, y: number): ModuleForm {
  if (shape === 'square') return [false, false, false, false];
  if (shape === 'dots' && !isOfPattern(modules, x, y)) return 'dot';
  const [first, second, third, fourth] = CORNERS.map(
    ([right, down]) => !modules[y]?.[x + right] && !modules[y + down]?.[x],
  );
  return [first === true, second === true, third === true, fourth === true];
}

/** Whether a module belongs to a finder pattern or an alignment pattern. */
function isOfPattern(modules: QrModules, x: number, y: number): boolean {
  const last = modules.length - FINDER;
  if ((x < FINDER && (y < FINDER || y >= last)) || (x >= last && y < FINDER)) return true;
  const centers = alignmentCenters(modules.length);
  const isNear = (at: number) => centers.some((center) => Math.abs(center - at) <= 2);
  // Lines through the first center are those of the timing patterns, where the patterns in corners are.
  const isInCorner =
    (x < FINDER + 2 && (y < FINDER + 2 || y >= last - 2)) || (x >= last - 2 && y < FINDER + 2);
  return !isInCorner && isNear(x) && isNear(y);
}

/** Returns the rows, and columns, of the centers of alignment patterns (ISO/IEC 18004, annex E). */
function alignmentCenters(width: number): number[] {
  const version = (width - 17) / 4;
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  const step = version === 32 ? 26 : 2 * Math.ceil((4 * version + 4) / (2 * count - 2));
  const later = [...Array(count - 1).keys()].map((nth) => width - 7 - nth * step);
  return [6, ...later];
}

/** Returns a module as the data of an SVG path, its top left corner at a point. */
export function modulePath(form: ModuleForm, x: number, y: number): string {
  if (form === 'dot') {
    const width = 2 * DOT_RADIUS;
    const arc = `a${DOT_RADIUS} ${DOT_RADIUS} 0 1 1`;
    return `M${x + 0.5 - DOT_RADIUS} ${y + 0.5}${arc} ${width} 0${arc} -${width} 0z`;
  }
  const [a, b, c, d] = form;
  return (
    `M${x} ${y + 0.5}${a ? 'q0 -.5 .5 -.5' : 'v-.5h.5'}${b ? 'q.5 0 .5 .5' : 'h.5v.5'}` +
    `${c ? 'q0 .5 -.5 .5' : 'v.5h-.5'}${d ? 'q-.5 0 -.5 -.5' : 'h-.5v-.5'}z`
  );
}

/** Whether a point of a module is dark. @param x from its left edge, @param y from its top, 0 to 1 */
export function covers(form: ModuleForm, x: number, y: number): boolean {
  const right = x - 0.5;
  const down = y - 0.5;
  if (form === 'dot') return Math.hypot(right, down) <= DOT_RADIUS;
  const corner = form[down < 0 ? (right < 0 ? 0 : 1) : right < 0 ? 3 : 2];
  if (!corner) return true;
  // The quadratic curve of the path: √(1 - 2|x|) + √(1 - 2|y|) = 1 on it.
  return Math.sqrt(1 - 2 * Math.abs(right)) + Math.sqrt(1 - 2 * Math.abs(down)) >= 1;
}
