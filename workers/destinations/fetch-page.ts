import type { GuardedClient } from '../../core/webhooks/guarded-client.ts';
import { ICON_BYTES, type Icon } from '../../sql/links/destination-pages.ts';
import { type Fetched, fetchUrl } from './fetch-url.ts';
import { iconType } from './icon-type.ts';
import { readPageHead } from './read-page.ts';

export type FoundPage = { title: string | null; icon: Icon | null };

const FETCH = {
  /** Bytes of a page that are read: the head is at its beginning. */
  pageBytes: 512 * 1_024,
  /** Icons that are tried before a page counts as one without. */
  icons: 3,
} as const;

const PURPOSE = 'titles and icons of links';

/**
 * Fetches title and icon of a page: the page itself, then its icon. Follows redirects, each guarded.
 *
 * @param signal ends the whole fetch
 * @throws RefusedAddress; the network's error; the signal's reason
 */
export async function fetchPage(client: GuardedClient, url: string, signal: AbortSignal): Promise<FoundPage> {
  const page = await fetchUrl(
    client,
    url,
    { accept: 'text/html,*/*;q=0.1', limit: FETCH.pageBytes, purpose: PURPOSE },
    signal,
  );
  const isPage = page.status < 300 && /^(text\/html|application\/xhtml\+xml)\b/i.test(page.type);
  const head = isPage ? readPageHead(textOf(page), page.url) : { title: null, icons: [] };
  const icons = [...head.icons, new URL('/favicon.ico', page.url).href];
  for (const icon of [...new Set(icons)].slice(0, FETCH.icons)) {
    const found = await fetchIcon(client, icon, signal);
    if (found) return { title: head.title, icon: found };
  }
  return { title: head.title, icon: null };
}

/** Returns null when there is no usable icon. @throws the signal's reason */
async function fetchIcon(client: GuardedClient, url: string, signal: AbortSignal): Promise<Icon | null> {
  try {
    const { status, body } = await fetchUrl(
      client,
      url,
      { accept: 'image/*', limit: ICON_BYTES + 1, purpose: PURPOSE },
      signal,
    );
    if (status >= 300 || body.length > ICON_BYTES) return null;
    const type = iconType(body);
    return type && { type, image: body };
  } catch {
    signal.throwIfAborted();
    return null;
  }
}

/** Decodes a page by its header's character set, else by what its beginning declares, else as UTF-8. */
function textOf({ type, body }: Fetched): string {
  const declared = /<meta[^>]{1,200}charset\s*=\s*["']?([\w-]+)/i.exec(body.toString('latin1', 0, 2_048));
  const [, label = declared?.[1] ?? 'utf-8'] = /charset\s*=\s*"?([\w-]+)/i.exec(type) ?? [];
  try {
    return new TextDecoder(label).decode(body);
  } catch {
    return new TextDecoder().decode(body);
  }
}
