import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { createBoundedCache } from '../../core/caching/bounded-cache.ts';
import { allowedAddresses, type HostAddress, type ResolveHost } from '../../core/webhooks/resolve-host.ts';

/** What came back. `body` is cut at {@link SEND.bodyBytes}. */
export type Reply = { status: number; body: string; retryAfter: string | undefined };

/**
 * Posts a body and reads the answer. Redirects are answers like any other.
 *
 * @throws RefusedAddress; the network's error; TimeoutError after 20 s without a status; the signal's reason
 */
export type Send = (
  url: string,
  headers: Record<string, string>,
  body: string,
  signal: AbortSignal,
) => Promise<Reply>;

export type Sender = { send: Send; close(): void };

export const SEND = {
  /** To the status line: connecting, sending, waiting. */
  answerMs: 20_000,
  /** From the status line to the end of the body. What has come by then is kept. */
  bodyMs: 5_000,
  bodyBytes: 65_536,
  idleMs: 4_000,
  idleSocketsPerHost: 64,
  addressesForMs: 5_000,
  addressesKept: 4_096,
} as const;

export class TimeoutError extends Error {
  constructor() {
    super(`no answer within ${SEND.answerMs / 1_000} s`);
    this.name = 'TimeoutError';
  }
}

/**
 * A sender that connects to checked addresses only. The check is in the look-up of the connection itself, so what is
 * connected to is what was checked, whatever the name server answers before and after. A connection that is kept
 * open was checked when it was made.
 */
export function createSender(dependencies: { resolve: ResolveHost; allowPrivate: boolean }): Sender {
  const options = { keepAlive: true, maxFreeSockets: SEND.idleSocketsPerHost, timeout: SEND.idleMs };
  const agents = { 'http:': new HttpAgent(options), 'https:': new HttpsAgent(options) };
  const cache = createBoundedCache<string, { addresses: HostAddress[]; until: number }>(SEND.addressesKept);

  async function addressesOf(hostname: string): Promise<HostAddress[]> {
    const known = cache.get(hostname);
    if (known && known.until > performance.now()) return known.addresses;
    const addresses = await allowedAddresses(hostname, dependencies);
    cache.set(hostname, { addresses, until: performance.now() + SEND.addressesForMs });
    return addresses;
  }

  const lookup: LookupFunction = (hostname, { all }, callback) => {
    addressesOf(hostname).then(
      (addresses) => {
        const [first] = addresses;
        if (all) callback(null, addresses);
        else callback(null, first?.address ?? '', first?.family);
      },
      (error: Error) => callback(error, '', 0),
    );
  };

  async function send(
    url: string,
    headers: Record<string, string>,
    body: string,
    signal: AbortSignal,
    isSecondTry = false,
  ): Promise<Reply> {
    signal.throwIfAborted();
    const target = new URL(url);
    // Node looks no address up where the host is one.
    if (isIP(target.hostname.replace(/^\[|\]$/g, '')) !== 0)
      await allowedAddresses(target.hostname, dependencies);
    const isPlain = target.protocol === 'http:';
    const request = (isPlain ? httpRequest : httpsRequest)(target, {
      method: 'POST',
      agent: isPlain ? agents['http:'] : agents['https:'],
      lookup,
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    });
    try {
      return await exchange(request, body, signal);
    } catch (error) {
      // The receiver closed a connection that was kept open just as it was taken.
      const wasStale = request.reusedSocket && error instanceof Error && codeOf(error) === 'ECONNRESET';
      if (!wasStale || isSecondTry) throw error;
      return send(url, headers, body, signal, true);
    }
  }

  return {
    send: (url, headers, body, signal) => send(url, headers, body, signal),
    close() {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

function exchange(request: ClientRequest, body: string, signal: AbortSignal): Promise<Reply> {
  return new Promise((resolve, reject) => {
    // Nothing that happens after the first of these changes the outcome. Destroying a request alone would not do: it
    // may have been destroyed already, and then says nothing any more.
    const settle = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    };
    const fail = (error: unknown) => {
      settle();
      reject(error);
    };
    const cutOff = (reason: unknown) => {
      fail(reason);
      request.destroy();
    };
    const abort = () => cutOff(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    const timer = setTimeout(() => cutOff(new TimeoutError()), SEND.answerMs);
    request.on('error', fail);
    request.once('close', () => fail(new Error('the connection was closed')));
    // A 101: without this listener Node would close the connection and tell nobody.
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
    request.end(body);
  });
}

/**
 * The body, or what of it came in time, before the signal and fits. The status has come: a body that breaks off
 * changes nothing.
 */
function readBody(response: IncomingMessage, signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const timer = setTimeout(finish, SEND.bodyMs);
    signal.addEventListener('abort', finish, { once: true });
    function finish(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', finish);
      // Rather a new connection than the rest of an endless body.
      if (!response.complete) response.destroy();
      const text = new TextDecoder().decode(Buffer.concat(chunks).subarray(0, SEND.bodyBytes));
      resolve(text.replaceAll('\0', '')); // PostgreSQL keeps no NUL
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

/** The code of a network error, of the first one where several addresses were tried; else empty. */
export function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}
