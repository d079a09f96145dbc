/** Markup that is safe to send: made by {@link html}, or by a renderer that escapes. */
export type Html = { readonly markup: string };

type Part = Html | string | number | null | undefined | false | readonly Part[];

/** Builds markup of a template. Text in it is escaped; markup and lists of it are not. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  return {
    markup: strings.map((text, nth) => text + (nth < parts.length ? markupOf(parts[nth]) : '')).join(''),
  };
}

/** Marks text as markup. @param markup of a renderer that escapes what it is given */
export const trusted = (markup: string): Html => ({ markup });

function markupOf(part: Part): string {
  if (part === null || part === undefined || part === false) return '';
  if (typeof part === 'string') return escaped(part);
  if (typeof part === 'number') return String(part);
  if (Array.isArray(part)) return part.map(markupOf).join('');
  return (part as Html).markup;
}

/** Escapes text for an element or an attribute in double quotes. */
export const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
