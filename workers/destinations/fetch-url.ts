import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { GuardedClient } from '../../core/webhooks/guarded-client.ts';

const MOST_REDIRECTS = 5;

export type Fetched = { url: string; status: number; type: string; body: Buffer };

/**
 * Requests a URL of a user, and follows redirects, each guarded.
 *
 * @param options.limit bytes of the body that are read; the rest is left
 * @param options.purpose names the request in the header `User-Agent`
 * @param signal ends the request
 * @throws RefusedAddress; the network's error; the signal's reason
 */
export async function fetchUrl(
  client: GuardedClient,
  url: string,
  { accept, limit, purpose }: { accept: string; limit: number; purpose: string },
  signal: AbortSignal,
): Promise<Fetched> {
  let address = new URL(url);
  for (let redirects = 0; ; redirects++) {
    if (address.protocol !== 'http:' && address.protocol !== 'https:') {
      throw new Error(`a destination leads to ${address.protocol}`);
    }
    const response = await begin(client, address, { accept, purpose }, signal);
    const status = response.statusCode ?? 0;
    const { location } = response.headers;
    if (status < 300 || status >= 400 || location === undefined) {
      const body = await beginningOf(response, limit);
      signal.throwIfAborted();
      return { url: address.href, status, type: response.headers['content-type'] ?? '', body };
    }
    response.destroy();
    if (redirects === MOST_REDIRECTS) throw new Error('a destination redirects too often');
    address = new URL(location, address);
  }
}

async function begin(
  client: GuardedClient,
  url: URL,
  { accept, purpose }: { accept: string; purpose: string },
  signal: AbortSignal,
): Promise<IncomingMessage> {
  signal.throwIfAborted();
  await client.check(url);
  return new Promise((resolve, reject) => {
    const request = client.begin(url, {
      method: 'GET',
      headers: {
        accept,
        // A browser's form, since sites refuse what they do not know.
        'user-agent': `Mozilla/5.0 (compatible; Hoplog; ${purpose})`,
        'accept-encoding': 'gzip, br',
        'accept-language': 'en',
      },
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
