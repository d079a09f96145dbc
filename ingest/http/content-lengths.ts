import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { headerName } from './header-names.ts';

const CONTENT_LENGTH = headerName('content-length');

type Handler = (res: HttpResponse, req: HttpRequest) => void;

/**
 * Refuses a request with two different `Content-Length` headers with 400, and closes the connection: a proxy may have
 * counted by the other one, and what follows would be a request that it never saw (RFC 9112, section 6.3).
 */
export function refusingTwoLengths(handler: Handler): Handler {
  return (res, req) => {
    const first = req.getHeader(CONTENT_LENGTH);
    // Nearly all requests have none: the others are worth a walk through all headers.
    if (first !== '' && hasAnother(req, first)) res.writeStatus('400 Bad Request').end('', true);
    else handler(res, req);
  };
}

function hasAnother(req: HttpRequest, first: string): boolean {
  let found = false;
  req.forEach((name, value) => {
    found ||= name === 'content-length' && value !== first;
  });
  return found;
}
