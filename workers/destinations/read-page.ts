import { Parser } from 'htmlparser2';
import { cutText } from '../../core/text/cut.ts';
import { storableText } from '../../core/text/storable.ts';
import { isVisible } from '../../core/text/visible.ts';
import { TITLE_LIMIT } from '../../sql/links/destination-pages.ts';

/** What the head of an HTML page says. */
export type PageHead = {
  title: string | null;
  /** Addresses of its icons, absolute, the most suitable first, without SVG. */
  icons: string[];
};

/** Width at which the console shows icons on dense screens, in pixels. */
const SHOWN = 32;
/** Icons for home screens are large, so others come first. */
const TOUCH_ICON = 10_000;

/**
 * Reads title and icons of an HTML page.
 *
 * @param html the page, or its beginning
 * @param address of the page, after redirects
 */
export function readPageHead(html: string, address: string): PageHead {
  let title: string | null = null;
  let shared: string | null = null;
  let base = address;
  let isTitle = false;
  let isDrawing = 0;
  const icons: { url: string; rank: number }[] = [];
  const parser = new Parser({
    onopentag(name, attributes) {
      if (name === 'svg') isDrawing += 1;
      // A drawing has a title of its own.
      if (name === 'title' && isDrawing === 0 && title === null) {
        isTitle = true;
        title = '';
      }
      if (name === 'base') base = absolute(attributes.href ?? '', address) ?? base;
      if (name === 'meta' && attributes.property === 'og:title') shared ??= attributes.content ?? null;
      if (name === 'link') {
        const rank = rankOf(attributes);
        if (rank !== null) icons.push({ url: attributes.href ?? '', rank });
      }
    },
    ontext(text) {
      if (isTitle) title += text;
    },
    onclosetag(name) {
      if (name === 'svg') isDrawing = Math.max(0, isDrawing - 1);
      if (name === 'title') isTitle = false;
    },
  });
  parser.end(html);
  return {
    title: titleOf(title) ?? titleOf(shared),
    icons: icons
      .toSorted((one, other) => one.rank - other.rank)
      .flatMap(({ url }) => absolute(url, base) ?? []),
  };
}

function titleOf(text: string | null): string | null {
  const line = storableText(text ?? '')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return isVisible(line) ? cutText(line, TITLE_LIMIT) : null;
}

/** Returns how far an icon is from the shown size; null: it is no icon, or an SVG. */
function rankOf({ rel = '', href = '', type = '', sizes = '' }: Record<string, string>): number | null {
  const kinds = rel.toLowerCase().split(/\s+/);
  const isTouch = kinds.includes('apple-touch-icon');
  if (href === '' || !(isTouch || kinds.includes('icon'))) return null;
  if (type.includes('svg') || /\.svg([?#]|$)/i.test(href) || href.startsWith('data:')) return null;
  const [width = 0] = [...sizes.matchAll(/(\d{1,4})x\d/gi)].map(([, digits]) => Number(digits));
  // Without a size it is the usual one. A smaller icon is blurred.
  const distance = width === 0 ? 1 : width < SHOWN ? 1_000 - width : width - SHOWN;
  return distance + (isTouch ? TOUCH_ICON : 0);
}

function absolute(href: string, base: string): string | null {
  return URL.parse(href, base)?.href ?? null;
}
