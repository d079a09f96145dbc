/**
 * Returns the beginning of a text, at most `limit` UTF-16 code units. It splits no visible character, unless one is
 * longer than the limit.
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
