import type { HttpResponse } from 'uWebSockets.js';
import type { Logger } from '../../core/tier/log.ts';

/**
 * One request and its answer. uWebSockets.js gives the response object away for good once it has ended or its client
 * has gone: nothing may touch it then, so everything that answers goes through {@link Exchanges}.
 */
export type Exchange = {
  readonly res: HttpResponse;
  /** A HEAD: the answer has no body. */
  readonly head: boolean;
  /** Answered, or the client has gone. */
  over: boolean;
};

export type Headers = readonly (readonly [name: string, value: string])[];

export type Exchanges = {
  /** Begins one. To be called while the request is being handled, before anything is awaited. */
  open(res: HttpResponse, head: boolean): Exchange;
  /**
   * Answers, unless the client has gone.
   *
   * @param status such as `302 Found`
   */
  reply(exchange: Exchange, status: string, headers: Headers, body?: string | Uint8Array): void;
  /**
   * Sends the visitor on, unless they have gone: 302, never cached, the referrer handed over but for a downgrade.
   *
   * @param location visible ASCII only, as `Destination` and `URL` make it
   * @param cookies values of `Set-Cookie`, of our own making; null: none
   */
  redirect(exchange: Exchange, location: string, cookies: readonly (string | null)[]): void;
  /** Runs a step; when it throws, {@link fail}. */
  guard(exchange: Exchange, step: () => void): void;
  /** A step has thrown: that is logged and answered with a 500. */
  fail(exchange: Exchange, error: unknown): void;
  /** Goes on with `step` when `awaited` resolves, guarded; a rejection is answered with a 500 as well. */
  after<T>(exchange: Exchange, awaited: Promise<T>, step: (value: T) => void): void;
  /** From now on each answer ends its connection, and says so (`Connection: close`). */
  endConnections(): void;
};

/** What every redirect has besides its `Location`. */
const REDIRECT_HEADERS = '\r\nCache-Control: no-store\r\nReferrer-Policy: no-referrer-when-downgrade';

/** Longest lines that are given to the server as bytes; those of nearly every redirect are. */
const LONGEST_LINES = 1_365;
/** Room for them in UTF-8, and what of it so many bytes take. */
const LINES = Buffer.allocUnsafeSlow(3 * LONGEST_LINES);
const ofLength = Array<Uint8Array | undefined>(LINES.length + 1);

/** Lines in UTF-8, valid until the next call: a string the server measures and encodes character by character. */
function lineBytes(lines: string): string | Uint8Array {
  if (lines.length > LONGEST_LINES) return lines;
  const bytes = LINES.write(lines);
  let taken = ofLength[bytes];
  if (taken === undefined) ofLength[bytes] = taken = LINES.subarray(0, bytes);
  return taken;
}

export function createExchanges(log: Logger): Exchanges {
  let ending = false;

  function reply(exchange: Exchange, status: string, headers: Headers, body: string | Uint8Array = ''): void {
    if (exchange.over) return;
    const { res, head } = exchange;
    if (head && body.length > 0) {
      const describe = ending ? describeAndClose : describeBody;
      describe(exchange, status, headers, Buffer.byteLength(body));
      return;
    }
    exchange.over = true;
    res.cork(() => {
      writeHeaders(res, status, headers);
      if (head) res.endWithoutBody(0, ending);
      else res.end(body, ending);
    });
  }

  /**
   * Answers a HEAD whose GET has a body of this length, in bytes. The length is a header like the others: given to
   * `endWithoutBody`, the server waits for that body, never times the connection out, and breaks it at its next request
   * (uWebSockets.js issue 1855).
   */
  function describeBody(exchange: Exchange, status: string, headers: Headers, length: number): void {
    exchange.over = true;
    const { res } = exchange;
    res.cork(() => {
      writeHeaders(res, status, headers);
      res.writeHeader('Content-Length', String(length));
      res.endWithoutBody();
    });
  }

  /** Without a length `endWithoutBody` does not close, and leaves nothing to close with: this is begun and cut off. */
  function describeAndClose(exchange: Exchange, status: string, headers: Headers, length: number): void {
    // In a turn of its own: what is written while a request is being read leaves after its handler, too late here.
    setImmediate(() => {
      if (exchange.over) return;
      exchange.over = true;
      const { res } = exchange;
      res.cork(() => {
        writeHeaders(res, status, headers);
        res.writeHeader('Connection', 'close');
        res.tryEnd('', length);
      });
      res.close();
    });
  }

  function redirect(exchange: Exchange, location: string, cookies: readonly (string | null)[]): void {
    if (exchange.over) return;
    exchange.over = true;
    // All lines in the place of the status: each call into the server costs as much as all that is decided here.
    let lines = `302 Found\r\nLocation: ${location}${REDIRECT_HEADERS}`;
    for (const cookie of cookies) if (cookie !== null) lines += `\r\nSet-Cookie: ${cookie}`;
    redirected = exchange;
    redirectLines = lineBytes(lines);
    exchange.res.cork(sendRedirect);
  }

  /** What `cork` calls, before it returns: one function for all, as a new one each time costs more than what it does. */
  let redirected: Exchange | null = null;
  let redirectLines: string | Uint8Array = '';
  function sendRedirect(): void {
    if (redirected === null) return;
    const { res, head } = redirected;
    redirected = null;
    res.writeStatus(redirectLines);
    if (head) res.endWithoutBody(0, ending);
    else res.end(undefined, ending);
  }

  function fail(exchange: Exchange, error: unknown): void {
    log.error({ err: error }, 'a request failed');
    reply(exchange, '500 Internal Server Error', []);
  }

  return {
    open(res, head) {
      const exchange: Exchange = { res, head, over: false };
      res.onAborted(() => {
        exchange.over = true;
      });
      return exchange;
    },
    reply,
    redirect,
    guard(exchange, step) {
      try {
        step();
      } catch (error) {
        fail(exchange, error);
      }
    },
    fail,
    after(exchange, awaited, step) {
      awaited.then(step).catch((error: unknown) => fail(exchange, error));
    },
    endConnections() {
      ending = true;
    },
  };
}

function writeHeaders(res: HttpResponse, status: string, headers: Headers): void {
  res.writeStatus(status);
  for (const [name, value] of headers) res.writeHeader(name, value);
}
