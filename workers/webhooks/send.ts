import type { ClientRequest, IncomingMessage } from 'node:http';
import {
  type BrotliOptions,
  brotliDecompressSync,
  gunzipSync,
  inflateSync,
  type ZlibOptions,
} from 'node:zlib';
import { storableText } from '../../core/text/storable.ts';
import { createGuardedClient } from '../../core/webhooks/guarded-client.ts';
import type { ResolveHost } from '../../core/webhooks/resolve-host.ts';

/** A response. `body` is cut at {@link SEND.bodyBytes}. */
export type Reply = { status: number; body: string; retryAfter: string | undefined };

/**
 * Posts a body, or gets the URL where there is none, and reads the response. Only the status line counts: the rest may be
 * malformed. Does not follow redirects.
 *
 * @throws RefusedAddress; the network's error; TimeoutError after 20 s without a status; the signal's reason
 */
export type Send = (
  url: string,
  headers: Record<string, string>,
  body: string | null,
  signal: AbortSignal,
) => Promise<Reply>;

export type Sender = { send: Send; close(): void };

const SEND = {
  /** Time to the status line: connecting, sending, waiting. */
  responseMs: 20_000,
  /** Time from the status line to the end of the body; the rest is dropped. */
  bodyMs: 5_000,
  bodyBytes: 65_536,
  idleMs: 4_000,
  idleSocketsPerHost: 64,
} as const;

class TimeoutError extends Error {
  constructor(responseMs: number) {
    super(`no response within ${responseMs / 1_000} s`);
    this.name = 'TimeoutError';
  }
}

/**
 * Creates a sender that connects to allowed addresses only, see {@link createGuardedClient}.
 *
 * @param dependencies.responseMs for tests: another limit than that of {@link SEND}
 */
export function createSender(dependencies: {
  resolve: ResolveHost;
  allowPrivate: boolean;
  responseMs?: number | undefined;
}): Sender {
  const { responseMs = SEND.responseMs } = dependencies;
  const client = createGuardedClient({
    ...dependencies,
    keepAlive: { idleMs: SEND.idleMs, socketsPerHost: SEND.idleSocketsPerHost },
  });

  async function send(
    url: string,
    headers: Record<string, string>,
    body: string | null,
    signal: AbortSignal,
    isSecondTry = false,
  ): Promise<Reply> {
    signal.throwIfAborted();
    const target = new URL(url);
    await client.check(target);
    const request = client.begin(target, {
      method: body === null ? 'GET' : 'POST',
      headers: {
        ...headers,
        'accept-encoding': 'identity',
        ...(body !== null && { 'content-length': String(Buffer.byteLength(body)) }),
      },
    });
    try {
      return await exchange(request, body, signal, responseMs);
    } catch (error) {
      // The receiver closed a kept-alive connection just as it was reused.
      const wasStale = request.reusedSocket && error instanceof Error && codeOf(error) === 'ECONNRESET';
      if (!wasStale || isSecondTry) throw error;
      return send(url, headers, body, signal, true);
    }
  }

  return {
    send: (url, headers, body, signal) => send(url, headers, body, signal),
    close: client.close,
  };
}

function exchange(
  request: ClientRequest,
  body: string | null,
  signal: AbortSignal,
  responseMs: number,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    // The first of these decides the outcome. Destroying the request alone would not do: one already destroyed emits
    // nothing.
    const settle = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    };
    /** A response counts by its status line, even if nothing else of it arrives. */
    const end = (error: unknown) => {
      settle();
      const status = statusLine.status();
      if (status === null) reject(error);
      else resolve({ status, body: '', retryAfter: undefined });
    };
    const cutOff = (reason: unknown) => {
      end(reason);
      request.destroy();
    };
    const abort = () => cutOff(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    const timer = setTimeout(() => cutOff(new TimeoutError(responseMs)), responseMs);
    const statusLine = watchStatusLine(request);
    request.on('error', end);
    request.once('close', () => end(new Error('the connection was closed')));
    // A 101: without this listener Node closes the connection silently.
    request.once('upgrade', (response, socket) => {
      settle();
      socket.destroy();
      resolve({ status: response.statusCode ?? 101, body: '', retryAfter: undefined });
    });
    request.once('response', (response) => {
      settle();
      const retryAfter = response.headers['retry-after'];
      const read = readBody(response, signal);
      resolve(read.then((text) => ({ status: response.statusCode ?? 0, body: text, retryAfter })));
    });
    request.end(body ?? undefined);
  });
}

/** Most bytes of interim responses (1xx) and the status line behind them that are read. */
const STATUS_BYTES = 65_536;
/** An interim response whole, with its headers. */
const INTERIM = /^HTTP\/1\.[01] 1\d\d.*?\r?\n\r?\n/s;

/** Stores the status line of a response, for a response whose rest is malformed or never arrives. */
function watchStatusLine(request: ClientRequest): { status(): number | null } {
  let start = '';
  let bytes = 0;
  request.once('socket', (socket) => {
    const take = (chunk: Buffer) => {
      if (bytes >= STATUS_BYTES || statusIn(start) !== null) return;
      bytes += chunk.length;
      start += chunk.toString('latin1', 0, STATUS_BYTES);
      // A 1xx is not the response yet.
      for (let interim = INTERIM.exec(start); interim; interim = INTERIM.exec(start))
        start = start.slice(interim[0].length);
    };
    // Before the parser's own listener: it may end the request with this chunk.
    socket.prependListener('data', take);
    request.once('close', () => socket.off('data', take));
  });
  return { status: () => statusIn(start) };
}

function statusIn(text: string): number | null {
  const [, digits] = /^HTTP\/1\.[01] ([2-9]\d\d)(?: |\r|\n|$)/.exec(text) ?? [];
  return digits === undefined ? null : Number(digits);
}

/**
 * Reads the part of the body that arrives in time and fits. The status decides the outcome: a truncated body is not an
 * error.
 */
function readBody(response: IncomingMessage, signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const encoding = response.headers['content-encoding']?.trim().toLowerCase() ?? '';
    const timer = setTimeout(finish, SEND.bodyMs);
    signal.addEventListener('abort', finish, { once: true });
    function finish(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', finish);
      // A new connection is cheaper than the rest of an endless body.
      if (!response.complete) response.destroy();
      const text = new TextDecoder().decode(decompressed(Buffer.concat(chunks), encoding));
      resolve(storableText(text));
    }
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > SEND.bodyBytes) finish();
    });
    response.once('end', finish);
    response.once('error', finish);
    response.once('close', finish);
  });
}

const DECOMPRESS: Record<string, (bytes: Buffer, options: ZlibOptions & BrotliOptions) => Buffer> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
};

/** Decompresses the start of a body that was compressed without being asked to. An unreadable body stays as it is. */
function decompressed(bytes: Buffer, encoding: string): Buffer {
  const body = bytes.subarray(0, SEND.bodyBytes);
  const decompress = DECOMPRESS[encoding];
  if (!decompress) return body;
  try {
    return decompress(body, { maxOutputLength: SEND.bodyBytes });
  } catch {
    return Buffer.from(`(a body of ${bytes.length} bytes with content-encoding ${encoding})`);
  }
}

/** Returns the code of a network error, or an empty string. */
export function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}
