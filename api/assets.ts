import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, brotliCompressSync, constants, gzip, gzipSync } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from './dependencies.ts';

/** The output directory of `web/build.ts`. */
const DIST = new URL('../web/dist/', import.meta.url);

const BUILT_TYPES: readonly [end: string, type: string][] = [
  ['.css', 'text/css'],
  ['.json', 'application/json'],
  ['.svg', 'image/svg+xml'],
];

/** A static file in memory, compressed and ready to send. */
export type Asset = {
  type: string;
  /** Base64 of the SHA-384, for `integrity`. */
  sha384: string;
  /** The part of the SHA-256 that is in names and ETags. */
  hash: string;
  body: { identity: Buffer; gzip: Buffer; br: Buffer };
};

/** @param type with its charset */
export function assetOf(content: Buffer, type: string): Asset {
  return assetFrom(type, {
    identity: content,
    gzip: gzipSync(content, { level: 9 }),
    br: brotliCompressSync(content),
  });
}

/** {@link assetOf} with compression off the event loop, for a text of some hundred KB made at run time. */
export async function compressedAsset(content: Buffer, type: string): Promise<Asset> {
  const [zipped, br] = await Promise.all([
    promisify(gzip)(content),
    // The default, 11, takes ten times as long for 10 % less.
    promisify(brotliCompress)(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  ]);
  return assetFrom(type, { identity: content, gzip: zipped, br });
}

/**
 * Reads a file of the browser build.
 *
 * @param name such as `embed.js`
 * @throws Error when it has not been built
 */
export function builtAsset(name: string): Asset {
  const path = fileURLToPath(new URL(name, DIST));
  const [, type = 'text/javascript'] = BUILT_TYPES.find(([end]) => name.endsWith(end)) ?? [];
  try {
    return assetFrom(`${type}; charset=utf-8`, {
      identity: readFileSync(path),
      gzip: readFileSync(`${path}.gz`),
      br: readFileSync(`${path}.br`),
    });
  } catch (error) {
    throw new Error(`${path} is missing: build it with "node web/build.ts"`, { cause: error });
  }
}

function assetFrom(type: string, body: Asset['body']): Asset {
  return {
    type,
    sha384: createHash('sha384').update(body.identity).digest('base64'),
    hash: createHash('sha256').update(body.identity).digest('hex').slice(0, 16),
    body,
  };
}

/** Sends an asset in the best accepted encoding, or 304 if the client has it. */
export function sendAsset(request: FastifyRequest, reply: FastifyReply, asset: Asset): FastifyReply {
  const encoding = encodingFor(request.headers['accept-encoding']);
  const etag = `"${asset.hash}-${encoding}"`;
  reply
    .header('content-type', asset.type)
    .header('etag', etag)
    .header('cross-origin-resource-policy', 'cross-origin')
    .header('x-content-type-options', 'nosniff');
  addVary(reply, 'Accept-Encoding');
  if (tagsOf(request.headers['if-none-match']).includes(etag)) return reply.status(304).send();
  if (encoding !== 'identity') reply.header('content-encoding', encoding);
  return reply.send(asset.body[encoding]);
}

export function addVary(reply: FastifyReply, name: string): void {
  const present = reply.getHeader('vary');
  reply.header('vary', present ? `${String(present)}, ${name}` : name);
}

function encodingFor(header: string | string[] | undefined): keyof Asset['body'] {
  const names = acceptedEncodings(header);
  if (names.includes('br')) return 'br';
  return names.includes('gzip') ? 'gzip' : 'identity';
}

/**
 * Returns the accepted encodings in the header's order. Weight 0 excludes one; other weights are ignored.
 *
 * @param header `Accept-Encoding`
 */
export function acceptedEncodings(header: string | string[] | undefined): string[] {
  return String(header ?? '')
    .split(',')
    .filter((entry) => !/;\s*q=0(\.0*)?\s*$/.test(entry))
    .map((entry) => entry.split(';', 1)[0]?.trim().toLowerCase() ?? '');
}

function tagsOf(header: string | undefined): string[] {
  return (header ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
}
