import { withoutTrailingDot } from '../links/web-urls.ts';

/**
 * Returns the URL of a receiver in the one spelling that all spellings of it share: the host as it is connected to,
 * without the scheme's own port, a trailing dot, or a fragment, which is not sent. Null for text that is not a URL.
 */
export function receiverOfUrl(text: string): URL | null {
  const url = URL.parse(text);
  if (!url) return null;
  url.hostname = withoutTrailingDot(url.hostname);
  url.hash = '';
  return url;
}
