/** The API's limit for a page's title, in characters. */
export const TITLE_MOST = 60;

/** Characters as the API counts them: code points. `length` counts an emoji twice or more. */
export const charactersOf = (text: string): number => Array.from(text).length;

/** Truncates a text at a grapheme boundary: an emoji may consist of several code points. */
export function beginningOf(text: string, most: number): string {
  let kept = '';
  let room = most;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    room -= charactersOf(segment);
    if (room < 0) break;
    kept += segment;
  }
  return kept;
}

/** The text inserted into `before` to get `after`, with its surroundings. */
function insertionOf(before: string, after: string) {
  const [was, is] = [Array.from(before), Array.from(after)];
  const shorter = Math.min(was.length, is.length);
  let start = 0;
  while (start < shorter && was[start] === is[start]) start++;
  let end = 0;
  while (end < shorter - start && was[was.length - 1 - end] === is[is.length - 1 - end]) end++;
  const stop = is.length - end;
  return {
    ahead: is.slice(0, start).join(''),
    inserted: is.slice(start, stop).join(''),
    behind: is.slice(stop).join(''),
  };
}

/** The parts of `input` and `textarea` that are used. */
type TextField = { value: string; setSelectionRange: (start: number, end: number) => void };

/**
 * Like `maxLength`, which counts UTF-16 units: of a typed or pasted text, keeps as much as fits.
 *
 * @param before the field's previous text
 */
export function keptTo(most: number, before: string, change: (text: string) => void) {
  return ({ currentTarget: field }: { currentTarget: TextField }): void => {
    const { value } = field;
    if (charactersOf(value) <= most) {
      change(value);
      return;
    }
    const { ahead, inserted, behind } = insertionOf(before, value);
    const start = ahead + beginningOf(inserted, most - charactersOf(ahead + behind));
    const kept = beginningOf(start + behind, most);
    // Synchronously: the caret keeps its position only if the field already has the rendered text.
    field.value = kept;
    field.setSelectionRange(start.length, start.length);
    change(kept);
  };
}
