/** The API's bound for the title of a page, in characters. */
export const TITLE_MOST = 60;

/** Characters as the API counts them: code points. `length` counts an emoji twice or more. */
export const charactersOf = (text: string): number => Array.from(text).length;

/** As much of the beginning as fits, without half of what is read as one character: an emoji may be of several. */
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

/** What was put into `before` to get `after`, with what stands around it. */
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

/** What is needed of an `input` or a `textarea`. */
type TextField = { value: string; setSelectionRange: (start: number, end: number) => void };

/**
 * Takes changes of a text field as `maxLength` does, which counts UTF-16 units: of what was typed or pasted anywhere in
 * the text, as much as fits.
 *
 * @param before what the field held
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
    // At once: the caret stays where one types only if the field is as it will be drawn.
    field.value = kept;
    field.setSelectionRange(start.length, start.length);
    change(kept);
  };
}
