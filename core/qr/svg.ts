// Browsers run this file too.
import { type Color, cssColor } from './colors.ts';
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
};

/**
 * Returns a code as SVG.
 *
 * @param title for screen readers
 * @param logo data URL of an image for the middle; null: none
 */
export function qrSvg(modules: QrModules, look: QrLook, title: string, logo: string | null): string {
  const { size, margin, shape = 'square' } = look;
  // Curves have no edges between pixels.
  const rendering = shape === 'square' ? 'crispEdges' : 'geometricPrecision';
  const width = modules.length + 2 * margin;
  const background = cssColor(look.background);
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="${size}" height="${size}" viewBox="0 0 ${width} ${width}" ` +
    `shape-rendering="${rendering}" role="img"><title>${escaped(title)}</title>` +
    `<path fill="${background}" d="M0 0h${width}v${width}H0z"/>` +
    `<path fill="${cssColor(look.color)}" d="${shape === 'square' ? pathOf(modules, margin) : shapedPathOf(modules, shape, margin)}"/>` +
    `${logo === null ? '' : middle(modules, margin, background, logo)}</svg>`
  );
}

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

/** Draws each dark module by itself. */
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
