// Browsers run this file too.
// Load it lazily: letters are large.
import { badRequest } from '../errors.ts';
import { FRAME_TEXT_MOST, type Words } from './frames.ts';
import { EM, LETTERS } from './letters.ts';

/**
 * Returns the outlines of a frame's text, which is shown in one line.
 *
 * @throws {AppError} `bad_request` that names `frame_text`
 */
export function frameWords(text: string): Words {
  const clean = text.normalize('NFC').replaceAll(/\s+/gu, ' ').trim();
  if (clean === '') throw badRequest('frame_text', 'must have a letter or digit');
  const characters = [...clean];
  if (characters.length > FRAME_TEXT_MOST) {
    throw badRequest('frame_text', `must be at most ${FRAME_TEXT_MOST} characters, not ${characters.length}`);
  }
  let [path, width] = ['', 0];
  for (const character of characters) {
    const [advance, outline] = Object.hasOwn(LETTERS, character) ? (LETTERS[character] ?? []) : [];
    if (advance === undefined || outline === undefined) {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
      throw badRequest(
        'frame_text',
        `must be of Latin, Greek, and Cyrillic letters, digits, and punctuation, not U+${code}`,
      );
    }
    if (outline !== '') path += moved(outline, width);
    width += advance;
  }
  return { path, width, em: EM };
}

/** An outline begins with `m`, which is relative to where the one before ended: an absolute point takes its place. */
function moved(outline: string, right: number): string {
  return outline.replace(/^m(-?\d+)/, (_, x: string) => `M${Number(x) + right}`);
}
