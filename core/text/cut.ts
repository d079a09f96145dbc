/**
 * Returns the beginning of a text, of at most `limit` UTF-16 code units. Nothing that reads as one character is split; a
 * character longer than the limit is.
 */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  let end = 0;
  for (const { index, segment } of new Intl.Segmenter().segment(text)) {
    if (index + segment.length > limit) break;
    end = index + segment.length;
  }
  return end === 0
    ? text
        .slice(0, limit)
        .toWellFormed()
        .replace(/\ufffd$/, '')
    : text.slice(0, end).trimEnd();
}
