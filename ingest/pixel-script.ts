import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { uuidToBytes } from '../core/ids.ts';
import { LINK_PARAMETERS } from '../core/referrals/link-parameters.ts';
import type { Exchange, Exchanges, Headers } from './http/exchange.ts';
import type { Resolver } from './link-table/resolver.ts';
import type { WorkspacePolicies } from './link-table/workspace-policies.ts';

const PUBLISHABLE_KEY = /(?:^|&)key=(pk_live_([0-9a-f]{8})_[0-9a-f]{48})(?:&|$)/;

/** Written in where no parameter names a referrer. */
const NONE = '-';

/**
 * Serves the built pixel from memory. The short links' origin, the key of the request, and the link parameters of its
 * workspace are written into it. Origin and key remain when an optimizer copies the script into another file, or a tag
 * manager changes its element.
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
  const script = readScript(path).toString('utf8').replaceAll('{{hoplog:origin}}', origin);
  const plain = script.replaceAll('{{hoplog:parameters}}', LINK_PARAMETERS.join());
  const etag = createHash('sha256').update(script).digest('base64url').slice(0, 22);
  const headersOf = (etag: string): Headers => [
    ['Content-Type', 'text/javascript; charset=utf-8'],
    // Cached for an hour, and for another day while a new one is fetched: sites never wait for it.
    ['Cache-Control', 'public, max-age=3600, stale-while-revalidate=86400'],
    ['ETag', etag],
    ['Access-Control-Allow-Origin', '*'],
    ['Cross-Origin-Resource-Policy', 'cross-origin'],
    ['X-Content-Type-Options', 'nosniff'],
  ];

  /** Returns the default ones for an unknown key, and while no one can tell. */
  async function parametersOf(lookup: string): Promise<string> {
    const known = await resolver.key(lookup).catch(() => null);
    return known === null
      ? LINK_PARAMETERS.join()
      : policies.linkParametersOf(uuidToBytes(known.workspaceId)).join() || NONE;
  }

  function respond(exchange: Exchange, own: string, known: string[], body: string): void {
    if (known.includes(own)) exchanges.reply(exchange, '304 Not Modified', headersOf(own));
    else exchanges.reply(exchange, '200 OK', headersOf(own), body);
  }

  return (res, req, head) => {
    const known = req
      .getHeader('if-none-match')
      .split(',')
      .map((tag) => tag.trim().replace(/^W\//, ''));
    const [, key, lookup] = PUBLISHABLE_KEY.exec(req.getQuery()) ?? [];
    const exchange = exchanges.open(res, head);
    if (key === undefined || lookup === undefined) return respond(exchange, `"${etag}"`, known, plain);
    exchanges.after(exchange, parametersOf(lookup), (parameters) => {
      const isUsual = parameters === LINK_PARAMETERS.join();
      const own = `"${etag}-${key.slice(-8)}${isUsual ? '' : `-${parameters}`}"`;
      const served = script.replaceAll('{{hoplog:parameters}}', parameters).replaceAll('{{hoplog:key}}', key);
      respond(exchange, own, known, served);
    });
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
