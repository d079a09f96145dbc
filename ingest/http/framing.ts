import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { isHostHeader } from '../../core/addresses/host-header.ts';
import type { Exchanges } from './exchange.ts';
import { headerName } from './header-names.ts';

const HOST = headerName('host');
const CONTENT_LENGTH = headerName('content-length');
const TRANSFER_ENCODING = headerName('transfer-encoding');

type Handler = (res: HttpResponse, req: HttpRequest) => void;

/** Why a request is refused. */
type Fault = 'length' | 'host' | 'proxy';

const REASONS: Record<Fault, string> = {
  length: "The end of the request's body is not clear.",
  host: 'The request must have one valid Host header.',
  proxy:
    'The PROXY protocol is not read here. The proxy must send X-Forwarded-For, and TRUST_PROXY must name it.',
};

/**
 * The whole response, which the server takes as a status. The server collects up to 16 KiB of responses until it has
 * read all requests that came at once. It drops them when the connection closes before; a longer response is sent at
 * once.
 */
function refusal(reason: string): string {
  const body = `${reason}\n${' '.repeat(16_384)}`;
  const headers = [
    'Connection: close',
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${body.length}`,
  ];
  return `400 Bad Request\r\n${headers.join('\r\n')}\r\n\r\n${body}`;
}

/**
 * Refuses a request that a proxy may have read differently: responds 400 and closes the connection. Otherwise the bytes
 * behind it would become a request that the proxy never saw (RFC 9112, sections 3.2, 6.1 and 6.3).
 *
 * - It has two `Content-Length` headers or an empty one.
 * - It has a `Transfer-Encoding` other than `chunked`.
 * - It has two `Host` lines, or one that names no host.
 * - It follows a header of the PROXY protocol. The server reads that header from any client, and a click would not get
 *   its address.
 *
 * The server accepts chunks that do not end as the standard says. So the response to a request with chunks is the last
 * one of its connection.
 */
export function createFraming(exchanges: Pick<Exchanges, 'last'>, behindProxies: () => boolean) {
  /**
   * @param isRead a handler of `GET` or `HEAD`. When all connections are from trusted proxies, their requests without a
   * body are not searched for second headers: proxies refuse those, and speak no PROXY protocol. A walk through all
   * headers costs a fifth of a redirect
   */
  return (handler: Handler, isRead: boolean): Handler =>
    (res, req) => {
      const hasChunks = req.getHeader(TRANSFER_ENCODING) !== '';
      const fault = faultOf(res, req, behindProxies(), isRead && !hasChunks);
      if (fault !== null) refuse(res, fault);
      else if (hasChunks) exchanges.last(() => handler(res, req));
      else handler(res, req);
    };
}

function faultOf(
  res: HttpResponse,
  req: HttpRequest,
  behindProxies: boolean,
  mayLackBody: boolean,
): Fault | null {
  if (!isHostHeader(req.getHeader(HOST))) return 'host';
  if (behindProxies && mayLackBody && req.getHeader(CONTENT_LENGTH) === '') return null;
  if (!behindProxies && res.getProxiedRemoteAddress().byteLength > 0) return 'proxy';
  return faultOfHeaders(req);
}

function faultOfHeaders(req: HttpRequest): Fault | null {
  const lengths: string[] = [];
  const encodings: string[] = [];
  let hosts = 0;
  req.forEach((name, value) => {
    if (name === 'host') hosts += 1;
    else if (name === 'content-length') lengths.push(value);
    else if (name === 'transfer-encoding') encodings.push(value.toLowerCase());
  });
  if (hosts > 1) return 'host';
  const hasClearLength = lengths.length === 0 || (lengths.length === 1 && lengths[0] !== '');
  const hasClearChunks = encodings.length === 0 || encodings.join() === 'chunked';
  return hasClearLength && hasClearChunks ? null : 'length';
}

/** Closes before the handler returns, so that the server parses neither the body nor what follows it. */
function refuse(res: HttpResponse, fault: Fault): void {
  res.writeStatus(refusal(REASONS[fault]));
  res.close();
}
