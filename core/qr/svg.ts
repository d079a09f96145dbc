// Browsers run this file too.
import { type Color, cssColor } from './colors.ts';
import { type Frame, type FrameDrawing, frameDrawing } from './frames.ts';
import { logoSide, logoSpan, type QrModules, type QrShape } from './layout.ts';
import { formOf, modulePath } from './shapes.ts';

/** How a code is drawn. */
export type QrLook = {
  /** Width of the image in pixels. */
  size: number;
  /** Width of the quiet zone in modules. */
  margin: number;
  color: Color;
  background: Color;
  /** Left out: `square`. */
  shape?: QrShape;
  /** Around the code; the image is then higher than wide. Left out, or null: none. */
  frame?: Frame | null;
};

/**
 * Returns a code as SVG.
 *
 * @param title for screen readers
 * @param logo data URL of an image for the middle; null: none
 */
export function qrSvg(modules: QrModules, look: QrLook, title: string, logo: string | null): string {
  const { size, margin, shape = 'square', frame = null } = look;
  // Curves have no edges between pixels.
  const rendering = shape === 'square' ? 'crispEdges' : 'geometricPrecision';
  const side = modules.length + 2 * margin;
  const drawing = frame && frameDrawing(frame, side);
  const { width, height } = drawing ?? { width: side, height: side };
  const background = cssColor(look.background);
  const code =
    `<path fill="${cssColor(look.color)}" d="${shape === 'square' ? pathOf(modules, margin) : shapedPathOf(modules, shape, margin)}"/>` +
    (logo === null ? '' : middle(modules, margin, background, logo));
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="${size}" height="${Math.round((size * height) / width)}" viewBox="0 0 ${width} ${height}" ` +
    `shape-rendering="${rendering}" role="img"><title>${escaped(title)}</title>` +
    (drawing
      ? `${framing(drawing, look)}<g transform="translate(${drawing.x} ${drawing.y})">${code}</g></svg>`
      : `<path fill="${background}" d="M0 0h${width}v${width}H0z"/>${code}</svg>`)
  );
}

/** The frame behind a code. */
function framing({ shapes }: FrameDrawing, look: QrLook): string {
  const drawn = shapes.map(
    ({ fill, path, x, y, scale }) =>
      `<path fill="${cssColor(look[fill])}" d="${path}"${scale === 1 ? '' : ` transform="translate(${short(x)} ${short(y)}) scale(${scale})"`}/>`,
  );
  return `<g shape-rendering="geometricPrecision">${drawn.join('')}</g>`;
}

const short = (length: number) => String(Math.round(1_000 * length) / 1_000);

/** Draws each run of dark modules in a row as one rectangle. */
function pathOf(modules: QrModules, margin: number): string {
  let path = '';
  for (const [y, row] of modules.entries()) {
    for (let x = 0; x < row.length; x++) {
      if (!row[x]) continue;
      let run = 1;
      while (row[x + run]) run += 1;
      path += `M${x + margin} ${y + margin}h${run}v1h-${run}z`;
      x += run;
    }
  }
  return path;
}

/** Draws each dark module separately. */
function shapedPathOf(modules: QrModules, shape: QrShape, margin: number): string {
  return modules
    .flatMap((row, y) =>
      row.map((dark, x) => (dark ? modulePath(formOf(modules, shape, x, y), x + margin, y + margin) : '')),
    )
    .join('');
}

/** The logo on the background. */
function middle(modules: QrModules, margin: number, background: string, logo: string): string {
  const span = logoSpan(modules);
  const at = margin + (modules.length - span) / 2;
  const side = logoSide(modules);
  const source = escaped(logo);
  return (
    `<path fill="${background}" d="M${at} ${at}h${span}v${span}h-${span}z"/>` +
    // SVG 1.1 has only `xlink:href`, and tools of print shops need it: Inkscape, Illustrator, and TCPDF.
    `<image href="${source}" xlink:href="${source}" x="${at + (span - side) / 2}" y="${at + (span - side) / 2}" width="${side}" height="${side}"/>`
  );
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string) => text.replaceAll(/[&<>"]/g, (character) => ESCAPES[character] ?? character);
