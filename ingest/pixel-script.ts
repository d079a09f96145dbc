import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Exchanges, Headers } from './http/exchange.ts';

/**
 * Serves the built pixel from memory.
 *
 * @param path the file that `web/build.ts` writes
 * @throws Error when it has not been built
 */
export function createPixelScript(
  path: string,
  exchanges: Exchanges,
): (res: HttpResponse, req: HttpRequest, head: boolean) => void {
  const script = readScript(path);
  const etag = `"${createHash('sha256').update(script).digest('base64url').slice(0, 22)}"`;
  const headers: Headers = [
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
    const exchange = exchanges.open(res, head);
    if (known.includes(etag)) exchanges.reply(exchange, '304 Not Modified', headers);
    else exchanges.reply(exchange, '200 OK', headers, script);
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
