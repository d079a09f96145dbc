import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import opentype, { type PathCommand } from 'opentype.js';

/**
 * Makes the letters of frames of QR codes: `npm run letters`. Outlines of Inter Bold (SIL Open Font License 1.1), from
 * the package `@fontsource/inter`, as SVG paths of whole numbers: images look alike on machines without fonts.
 */

const FILE = fileURLToPath(new URL('../../core/qr/letters.ts', import.meta.url));
const require = createRequire(import.meta.url);

/** Units of the width of an em. */
const EM = 300;

/** Code points of Latin, Greek, and Cyrillic letters, digits, and punctuation, by the file that has them. */
const RANGES: readonly [subset: string, from: number, to: number][] = [
  ['latin', 0x20, 0x7e],
  ['latin', 0xa1, 0xff],
  ['latin-ext', 0x100, 0x17f],
  ['latin-ext', 0x218, 0x21b],
  ['latin-ext', 0x1e9e, 0x1e9e],
  ['vietnamese', 0x1a0, 0x1b0],
  ['vietnamese', 0x1ea0, 0x1ef9],
  ['greek', 0x386, 0x3ce],
  ['cyrillic', 0x400, 0x45f],
  ['cyrillic', 0x490, 0x491],
  ['latin', 0x2013, 0x2026],
  ['latin', 0x2122, 0x2122],
  ['latin-ext', 0x20ac, 0x20ac],
  ['latin', 0x20ac, 0x20ac],
  ['latin', 0x2191, 0x2193],
];

/** Returns an outline as the data of an SVG path, relative and without the lines of no length. */
function pathOf(commands: readonly PathCommand[]): string {
  let [x, y] = [0, 0];
  /** A point from the one before; a minus separates, too. */
  const step = (toX: number, toY: number) => `${toX - x}${toY - y < 0 ? '' : ' '}${toY - y}`;
  return commands
    .map((command) => {
      if (command.type === 'Z') return 'z';
      if (command.type === 'C') throw new Error('an outline of TrueType has no cubic curve');
      const [toX, toY] = [Math.round(command.x), Math.round(command.y)];
      const sign = { M: 'm', L: 'l', Q: 'q' }[command.type];
      const control = command.type === 'Q' ? `${step(Math.round(command.x1), Math.round(command.y1))} ` : '';
      const text = `${sign}${control}${step(toX, toY)}`;
      const isNothing = command.type !== 'M' && toX === x && toY === y;
      [x, y] = [toX, toY];
      return isNothing ? '' : text;
    })
    .join('');
}

const lines = new Map<number, string>();
for (const [subset, from, to] of RANGES) {
  const bytes = readFileSync(require.resolve(`@fontsource/inter/files/inter-${subset}-700-normal.woff`));
  const font = opentype.parse(new Uint8Array(bytes).buffer);
  const scale = EM / font.unitsPerEm;
  for (let code = from; code <= to; code++) {
    const character = String.fromCodePoint(code);
    if (font.charToGlyphIndex(character) === 0) continue;
    const glyph = font.charToGlyph(character);
    const width = Math.round((glyph.advanceWidth ?? 0) * scale);
    lines.set(
      code,
      `  ${JSON.stringify(character)}: [${width}, '${pathOf(glyph.getPath(0, 0, EM).commands)}'],`,
    );
  }
}
const sorted = [...lines].toSorted(([one], [other]) => one - other).map(([, line]) => line);

writeFileSync(
  FILE,
  `// Browsers run this file too.
// Made by web/bundling/letters.ts from Inter Bold (SIL Open Font License 1.1).

/** Units of an em. */
export const EM = ${EM};

/** The advance of each character, and its outline as SVG path with the baseline at 0. */
export const LETTERS: Readonly<Record<string, readonly [advance: number, path: string]>> = {
${sorted.join('\n')}
};
`,
);
