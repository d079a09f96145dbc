import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { GuardedClient } from '../../core/webhooks/guarded-client.ts';
import { ICON_BYTES, type Icon } from '../../sql/links/destination-pages.ts';
import { iconType } from './icon-type.ts';
import { readPageHead } from './read-page.ts';

export type FoundPage = { title: string | null; icon: Icon | null };

const FETCH = {
  redirects: 5,
  /** Of a page: the head is at its beginning. */
  pageBytes: 512 * 1_024,
  /** Icons that are tried before a page counts as one without. */
  icons: 3,
} as const;

/** A browser's form, since sites refuse what they do not know; it says what asks. */
const AGENT = 'Mozilla/5.0 (compatible; Hoplog; titles and icons of links)';

/**
 * Fetches title and icon of a page: the page itself, then its icon. Follows redirects, each guarded.
 *
 * @param signal ends the whole fetch
 * @throws RefusedAddress; the network's error; the signal's reason
 */
export async function fetchPage(client: GuardedClient, url: string, signal: AbortSignal): Promise<FoundPage> {
  const page = await get(client, url, { accept: 'text/html,*/*;q=0.1', limit: FETCH.pageBytes }, signal);
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
    const { status, body } = await get(client, url, { accept: 'image/*', limit: ICON_BYTES + 1 }, signal);
    if (status >= 300 || body.length > ICON_BYTES) return null;
    const type = iconType(body);
    return type && { type, image: body };
  } catch {
    signal.throwIfAborted();
    return null;
  }
}

type Fetched = { url: string; status: number; type: string; body: Buffer };

async function get(
  client: GuardedClient,
  url: string,
  { accept, limit }: { accept: string; limit: number },
  signal: AbortSignal,
): Promise<Fetched> {
  let address = new URL(url);
  for (let redirects = 0; ; redirects++) {
    if (address.protocol !== 'http:' && address.protocol !== 'https:') {
      throw new Error(`a destination leads to ${address.protocol}`);
    }
    const response = await begin(client, address, accept, signal);
    const status = response.statusCode ?? 0;
    const { location } = response.headers;
    if (status < 300 || status >= 400 || location === undefined) {
      const body = await beginningOf(response, limit);
      signal.throwIfAborted();
      return { url: address.href, status, type: response.headers['content-type'] ?? '', body };
    }
    response.destroy();
    if (redirects === FETCH.redirects) throw new Error('a destination redirects too often');
    address = new URL(location, address);
  }
}

async function begin(
  client: GuardedClient,
  url: URL,
  accept: string,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  signal.throwIfAborted();
  await client.check(url);
  return new Promise((resolve, reject) => {
    const request = client.begin(url, {
      method: 'GET',
      headers: { accept, 'user-agent': AGENT, 'accept-encoding': 'gzip, br', 'accept-language': 'en' },
    });
    const abort = () => request.destroy(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    request.once('close', () => signal.removeEventListener('abort', abort));
    request.on('error', reject);
    // An upgrade, which nothing asked for.
    request.once('upgrade', (_, socket) => {
      socket.destroy();
      reject(new Error('a destination switches protocols'));
    });
    request.once('response', resolve);
    request.end();
  });
}

const DECOMPRESS: Record<string, () => NodeJS.ReadWriteStream & Readable> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Reads a body up to a limit; of one that breaks off, what came. */
function beginningOf(response: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve) => {
    const decompress = DECOMPRESS[response.headers['content-encoding']?.trim().toLowerCase() ?? ''];
    const body: Readable = decompress ? response.pipe(decompress()) : response;
    const chunks: Buffer[] = [];
    let bytes = 0;
    const finish = () => {
      response.destroy();
      body.destroy();
      resolve(Buffer.concat(chunks).subarray(0, limit));
    };
    body.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= limit) finish();
    });
    for (const event of ['end', 'error', 'close']) body.once(event, finish);
    response.once('error', finish);
    response.once('aborted', finish);
  });
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
