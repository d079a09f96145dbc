import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Exchanges, Headers } from './http/exchange.ts';

const PUBLISHABLE_KEY = /(?:^|&)key=(pk_live_[0-9a-f]{8}_[0-9a-f]{48})(?:&|$)/;

/**
 * Serves the built pixel from memory. The short links' origin, and the key of the request, are written into it: they
 * remain when an optimizer copies the script into another file, or a tag manager changes its element.
 *
 * @param path the file that `web/build.ts` writes
 * @param origin of the short links
 * @throws Error when it has not been built
 */
export function createPixelScript(
  path: string,
  exchanges: Exchanges,
  origin: string,
): (res: HttpResponse, req: HttpRequest, head: boolean) => void {
  const script = Buffer.from(readScript(path).toString('utf8').replaceAll('{{hoplog:origin}}', origin));
  const etag = `"${createHash('sha256').update(script).digest('base64url').slice(0, 22)}"`;
  const headersOf = (etag: string): Headers => [
    ['Content-Type', 'text/javascript; charset=utf-8'],
    // Cached for an hour, and for another day while a new one is fetched: sites never wait for it.
    ['Cache-Control', 'public, max-age=3600, stale-while-revalidate=86400'],
    ['ETag', etag],
    ['Access-Control-Allow-Origin', '*'],
    ['Cross-Origin-Resource-Policy', 'cross-origin'],
    ['X-Content-Type-Options', 'nosniff'],
  ];

  return (res, req, head) => {
    const known = req
      .getHeader('if-none-match')
      .split(',')
      .map((tag) => tag.trim().replace(/^W\//, ''));
    const [, key] = PUBLISHABLE_KEY.exec(req.getQuery()) ?? [];
    const own = key === undefined ? etag : `${etag.slice(0, -1)}-${key.slice(-8)}"`;
    const exchange = exchanges.open(res, head);
    if (known.includes(own)) return exchanges.reply(exchange, '304 Not Modified', headersOf(own));
    const body = key === undefined ? script : script.toString('utf8').replaceAll('{{hoplog:key}}', key);
    exchanges.reply(exchange, '200 OK', headersOf(own), body);
  };
}

function readScript(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new Error(`the pixel script ${path} is missing: build it with "node web/build.ts"`, {
      cause: error,
    });
  }
}
