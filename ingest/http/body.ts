import type { HttpResponse } from 'uWebSockets.js';

/**
 * Reads a request's body. Call it within the request's handler.
 *
 * @param done receives the body, or null once when it exceeds `limit` bytes; not called when the client goes first
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
    // The server reuses the chunk's memory after this returns.
    parts.push(Buffer.from(chunk.slice(0)));
    if (isLast) done(Buffer.concat(parts));
  });
}
