import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { headerName } from './header-names.ts';

const CONTENT_LENGTH = headerName('content-length');
const TRANSFER_ENCODING = headerName('transfer-encoding');

type Handler = (res: HttpResponse, req: HttpRequest) => void;

/**
 * The whole response, which the server takes as a status. It collects up to 16 KiB of responses until it has read all
 * requests that came at once, and would send none when the connection closes before: a longer one is sent at once.
 */
const REFUSAL = refusal(`The end of the request's body is not clear.\n${' '.repeat(16_384)}`);

function refusal(body: string): string {
  const headers = [
    'Connection: close',
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${body.length}`,
  ];
  return `400 Bad Request\r\n${headers.join('\r\n')}\r\n\r\n${body}`;
}

/**
 * Refuses a request whose body may end elsewhere for a proxy, with 400, and closes the connection: what follows would be
 * a request that the proxy never saw (RFC 9112, sections 6.1 and 6.3). That is one with two different `Content-Length`
 * headers, or with a `Transfer-Encoding` other than `chunked`.
 */
export function refusingUnclearLength(handler: Handler): Handler {
  return (res, req) => {
    // Nearly all requests have neither: the others are worth a walk through all headers.
    const hasBody = req.getHeader(CONTENT_LENGTH) !== '' || req.getHeader(TRANSFER_ENCODING) !== '';
    if (!hasBody || isClear(req)) handler(res, req);
    else refuse(res);
  };
}

function isClear(req: HttpRequest): boolean {
  const lengths = new Set<string>();
  const encodings: string[] = [];
  req.forEach((name, value) => {
    if (name === 'content-length') lengths.add(value);
    else if (name === 'transfer-encoding') encodings.push(value.toLowerCase());
  });
  return lengths.size <= 1 && (encodings.length === 0 || encodings.join() === 'chunked');
}

/** The response does not end for the server: it closes the connection itself when another request came with this one. */
function refuse(res: HttpResponse): void {
  let isOver = false;
  res.onAborted(() => {
    isOver = true;
  });
  res.writeStatus(REFUSAL);
  setImmediate(() => {
    if (!isOver) res.close();
  });
}
