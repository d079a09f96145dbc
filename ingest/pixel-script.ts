import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { createBoundedCache } from '../core/caching/bounded-cache.ts';
import { uuidToBytes } from '../core/ids.ts';
import { LINK_PARAMETERS } from '../core/referrals/link-parameters.ts';
import type { Exchange, Exchanges, Headers } from './http/exchange.ts';
import type { Resolver } from './link-table/resolver.ts';
import type { WorkspacePolicies } from './link-table/workspace-policies.ts';

const PUBLISHABLE_KEY = /(?:^|&)key=(pk_live_([0-9a-f]{8})_[0-9a-f]{48})(?:&|$)/;

/** Stands for the script's list of parameters when no parameter names a referrer. */
const NONE = '-';
/** Compressed scripts in memory, one for each key and its parameters; 3 KB each. */
const MOST_COMPRESSED = 128;
const compress = promisify(gzip);

/**
 * Serves the built pixel from memory. The short links' origin, the key of the request, and the link parameters of its
 * workspace are written into it. Origin and key remain when an optimizer copies the script into another file, or a tag
 * manager changes its element. Compressed with gzip in another thread, for clients that accept it.
 *
 * @param path the file that `web/build.ts` writes
 * @param given.origin of the short links
 * @throws Error when it has not been built
 */
export function createPixelScript(
  path: string,
  given: {
    exchanges: Exchanges;
    resolver: Pick<Resolver, 'key'>;
    policies: Pick<WorkspacePolicies, 'linkParametersOf'>;
    origin: string;
  },
): (res: HttpResponse, req: HttpRequest, head: boolean) => void {
  const { exchanges, resolver, policies, origin } = given;
  const script = readScript(path).toString('utf8');
  const servedFor = (key: string, parameters: string) =>
    script.replace('{{hoplog}}', () => [origin, key, parameters].join('|'));
  const plain = servedFor('', LINK_PARAMETERS.join());
  const etag = createHash('sha256').update(plain).digest('base64url').slice(0, 22);
  const headersOf = (etag: string): Headers => [
    ['Content-Type', 'text/javascript; charset=utf-8'],
    // Cached for an hour, and for another day while a new one is fetched: sites never wait for it.
    ['Cache-Control', 'public, max-age=3600, stale-while-revalidate=86400'],
    ['ETag', etag],
    ['Vary', 'Accept-Encoding'],
    ['Access-Control-Allow-Origin', '*'],
    ['Cross-Origin-Resource-Policy', 'cross-origin'],
    ['X-Content-Type-Options', 'nosniff'],
  ];

  /** Returns the key's link parameters; the default ones for an unknown key, and while the lookup fails. */
  async function parametersOf(lookup: string): Promise<string> {
    const known = await resolver.key(lookup).catch(() => null);
    return known === null
      ? LINK_PARAMETERS.join()
      : policies.linkParametersOf(uuidToBytes(known.workspaceId)).join() || NONE;
  }

  const compressed = createBoundedCache<string, Promise<Buffer>>(MOST_COMPRESSED);

  function respond(exchange: Exchange, tag: string, request: Conditions, body: string): void {
    // The compressed response has other bytes, so it needs another tag.
    const own = request.acceptsGzip ? `"gz-${tag}"` : `"${tag}"`;
    const headers = headersOf(own);
    if (request.known.includes(own)) {
      exchanges.reply(exchange, '304 Not Modified', headers);
      return;
    }
    if (!request.acceptsGzip) {
      exchanges.reply(exchange, '200 OK', headers, body);
      return;
    }
    // The whole text is the cache's key: a tag has only a part of the key, which another key may share.
    const bytes = compressed.get(body) ?? compress(body, { level: 9 });
    compressed.set(body, bytes);
    exchanges.after(exchange, bytes, (ready) =>
      exchanges.reply(exchange, '200 OK', [...headers, ['Content-Encoding', 'gzip']], ready),
    );
  }

  return (res, req, head) => {
    const request: Conditions = {
      known: req
        .getHeader('if-none-match')
        .split(',')
        .map((tag) => tag.trim().replace(/^W\//, '')),
      acceptsGzip: /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(req.getHeader('accept-encoding')),
    };
    const [, key, lookup] = PUBLISHABLE_KEY.exec(req.getQuery()) ?? [];
    const exchange = exchanges.open(res, head);
    if (key === undefined || lookup === undefined) return respond(exchange, etag, request, plain);
    exchanges.after(exchange, parametersOf(lookup), (parameters) => {
      const isUsual = parameters === LINK_PARAMETERS.join();
      const tag = `${etag}-${key.slice(-8)}${isUsual ? '' : `-${parameters}`}`;
      respond(exchange, tag, request, servedFor(key, parameters));
    });
  };
}

/** The request's headers that decide the form of the response. */
type Conditions = { known: readonly string[]; acceptsGzip: boolean };

function readScript(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new Error(`the pixel script ${path} is missing: build it with "node web/build.ts"`, {
      cause: error,
    });
  }
}
