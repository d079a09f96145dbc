import type { HttpResponse } from 'uWebSockets.js';
import type { Logger } from '../../core/tier/log.ts';

/**
 * One request and its response. uWebSockets.js invalidates the response object once it has ended or the client has
 * gone: every response goes through {@link Exchanges}, which never touch it then.
 */
export type Exchange = {
  readonly res: HttpResponse;
  /** A HEAD request: the response has no body. */
  readonly head: boolean;
  /** The connection closes after its response. */
  readonly isLast: boolean;
  /** The response was sent, or the client has gone. */
  over: boolean;
};

export type Headers = readonly (readonly [name: string, value: string])[];

export type Exchanges = {
  /** Opens an exchange. Call it within the request's handler, before any await. */
  open(res: HttpResponse, head: boolean): Exchange;
  /**
   * Responds, unless the client has gone.
   *
   * @param status such as `302 Found`
   */
  reply(exchange: Exchange, status: string, headers: Headers, body?: string | Uint8Array): void;
  /**
   * Redirects, unless the client has gone: never cached, with the referrer except on a downgrade.
   *
   * @param location visible ASCII, as `Destination` and `URL` return it
   * @param cookies trusted `Set-Cookie` values; null: none
   * @param status its line; 302 when left out
   */
  redirect(exchange: Exchange, location: string, cookies: readonly (string | null)[], status?: string): void;
  /** Runs a step; calls {@link fail} when it throws. */
  guard(exchange: Exchange, step: () => void): void;
  /** Logs the error and responds 500. */
  fail(exchange: Exchange, error: unknown): void;
  /** Runs `step` once `awaited` resolves. Responds 500 when either fails. */
  after<T>(exchange: Exchange, awaited: Promise<T>, step: (value: T) => void): void;
  /**
   * Runs a request's handler, whose response is the last one of its connection. It is sent once the server has read the
   * bytes that came with the request: if they contain another request, the connection closes without a response to
   * either.
   */
  last(handle: () => void): void;
  /** From now on closes the connection after each response, with `Connection: close`. */
  endConnections(): void;
};

/** Headers of every redirect besides `Location`. */
const REDIRECT_HEADERS = '\r\nCache-Control: no-store\r\nReferrer-Policy: no-referrer-when-downgrade';

/** Longest lines that are passed to the server as bytes; nearly all redirects are shorter. */
const LONGEST_LINES = 1_365;
/** Buffer for them in UTF-8, and its views by length. */
const LINES = Buffer.allocUnsafeSlow(3 * LONGEST_LINES);
const ofLength = Array<Uint8Array | undefined>(LINES.length + 1);

/**
 * Returns the lines in UTF-8, valid until the next call. The server encodes a string character by character.
 */
function lineBytes(lines: string): string | Uint8Array {
  if (lines.length > LONGEST_LINES) return lines;
  const bytes = LINES.write(lines);
  let taken = ofLength[bytes];
  if (taken === undefined) ofLength[bytes] = taken = LINES.subarray(0, bytes);
  return taken;
}

export function createExchanges(log: Logger): Exchanges {
  let ending = false;
  let opensLast = false;

  const reply: Exchanges['reply'] = (exchange, status, headers, body) => {
    if (exchange.isLast) setImmediate(() => send(exchange, status, headers, body));
    else send(exchange, status, headers, body);
  };

  function send(exchange: Exchange, status: string, headers: Headers, body: string | Uint8Array = ''): void {
    if (exchange.over) return;
    const { res, head } = exchange;
    const closes = ending || exchange.isLast;
    if (head && body.length > 0) {
      const describe = closes ? describeAndClose : describeBody;
      describe(exchange, status, headers, Buffer.byteLength(body));
      return;
    }
    exchange.over = true;
    res.cork(() => {
      writeHeaders(res, status, headers);
      if (head) res.endWithoutBody(0, closes);
      else res.end(body, closes);
    });
  }

  /**
   * Responds to a HEAD whose GET has a body of this many bytes. `Content-Length` is written as a header: when
   * `endWithoutBody` gets a length, the server waits for that body, never times out, and breaks the connection at its
   * next request (uWebSockets.js issue 1855).
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

  /**
   * Starts a response with a length and closes it: `endWithoutBody` without a length can't close the connection.
   */
  function describeAndClose(exchange: Exchange, status: string, headers: Headers, length: number): void {
    // Deferred: the server sends what a handler writes after the handler returns, which is after the close.
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

  const redirect: Exchanges['redirect'] = (exchange, location, cookies, status) => {
    if (exchange.isLast) setImmediate(() => sendTo(exchange, location, cookies, status));
    else sendTo(exchange, location, cookies, status);
  };

  function sendTo(
    exchange: Exchange,
    location: string,
    cookies: readonly (string | null)[],
    status = '302 Found',
  ): void {
    if (exchange.over) return;
    exchange.over = true;
    // All lines are passed as the status: each call into the server is expensive.
    let lines = `${status}\r\nLocation: ${location}${REDIRECT_HEADERS}`;
    for (const cookie of cookies) if (cookie !== null) lines += `\r\nSet-Cookie: ${cookie}`;
    redirected = exchange;
    redirectLines = lineBytes(lines);
    exchange.res.cork(sendRedirect);
  }

  /**
   * Called by `cork` before it returns. One shared function: a closure for each request would cost more than its
   * work.
   */
  let redirected: Exchange | null = null;
  let redirectLines: string | Uint8Array = '';
  function sendRedirect(): void {
    if (redirected === null) return;
    const { res, head, isLast } = redirected;
    redirected = null;
    res.writeStatus(redirectLines);
    if (head) res.endWithoutBody(0, ending || isLast);
    else res.end(undefined, ending || isLast);
  }

  function fail(exchange: Exchange, error: unknown): void {
    log.error({ err: error }, 'failed to handle a request; responded 500');
    reply(exchange, '500 Internal Server Error', []);
  }

  return {
    open(res, head) {
      const exchange: Exchange = { res, head, isLast: opensLast, over: false };
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
    last(handle) {
      opensLast = true;
      try {
        handle();
      } finally {
        opensLast = false;
      }
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
