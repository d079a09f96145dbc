/** What the letters of frames need of the package, which has no types. */
declare module 'opentype.js' {
  export type PathCommand =
    | { type: 'M' | 'L'; x: number; y: number }
    | { type: 'Q'; x1: number; y1: number; x: number; y: number }
    | { type: 'C'; x1: number; y1: number; x2: number; y2: number; x: number; y: number }
    | { type: 'Z' };
  type Glyph = {
    advanceWidth?: number;
    getPath(x: number, y: number, fontSize: number): { commands: PathCommand[] };
  };
  type Font = {
    unitsPerEm: number;
    charToGlyphIndex(character: string): number;
    charToGlyph(character: string): Glyph;
  };
  const opentype: { parse(file: ArrayBuffer): Font };
  export default opentype;
}
