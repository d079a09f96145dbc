import type { HttpResponse } from 'uWebSockets.js';

/**
 * Reads a request's body. To be called while the request is being handled.
 *
 * @param done gets the body, or null once when it is longer than `limit`; never called when the client goes before
 */
export function readBody(res: HttpResponse, limit: number, done: (body: Buffer | null) => void): void {
  let parts: Buffer[] = [];
  let length = 0;
  let refused = false;
  res.onData((chunk, isLast) => {
    if (refused) return;
    length += chunk.byteLength;
    if (length > limit) {
      refused = true;
      parts = [];
      return done(null);
    }
    // The server takes the chunk's memory back when this returns.
    parts.push(Buffer.from(chunk.slice(0)));
    if (isLast) done(Buffer.concat(parts));
  });
}
