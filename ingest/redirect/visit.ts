import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { isUtf8 } from 'node:buffer';
import { cleanReferer, REFERER_LIMIT } from '../../core/enrich/referer.ts';
import { CLICK_FLAGS } from '../../core/events/types.ts';
import type { ClientAddress } from '../http/client-address.ts';
import { headerName } from '../http/header-names.ts';

/** What a request says of its visitor, copied: the request itself is gone when its handler returns. */
export type Visit = {
  /** Without the slash that may stand behind it; nothing says yet that it can be one. */
  slug: string;
  /** As sent, without `?`. */
  query: string;
  userAgent: string;
  referer: string;
  cookie: string;
  /** `Sec-GPC: 1` (Global Privacy Control). */
  gpc: boolean;
  /** Bits of `CLICK_FLAGS` that the request itself shows: head and prefetch. */
  flags: number;
  address: Uint8Array;
  /** `performance.now()` of a visit that is timed, of others null. */
  startedAt: number | null;
};

const USER_AGENT_LIMIT = 1_024;
const USER_AGENT = headerName('user-agent');
const REFERER = headerName('referer');
const COOKIE = headerName('cookie');
const SEC_GPC = headerName('sec-gpc');
/** The standard header, and those that browsers sent before it. */
const PURPOSES = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'].map(headerName);

/** Reads a request to `/<slug>`. To be called while it is being handled. */
export function readVisit(
  req: HttpRequest,
  res: HttpResponse,
  head: boolean,
  clientAddress: ClientAddress,
  startedAt: number | null,
): Visit {
  const userAgent = req.getHeader(USER_AGENT);
  return {
    slug: slugOf(req.getUrl()),
    query: req.getQuery() ?? '',
    userAgent: userAgent.length > USER_AGENT_LIMIT ? userAgent.slice(0, USER_AGENT_LIMIT) : userAgent,
    referer: refererOf(req.getHeader(REFERER)),
    cookie: req.getHeader(COOKIE),
    gpc: req.getHeader(SEC_GPC) === '1',
    flags: (head ? CLICK_FLAGS.head : 0) | (isPrefetch(req) ? CLICK_FLAGS.prefetch : 0),
    address: clientAddress(req, res),
    startedAt,
  };
}

/**
 * The slug that a path names. Editors put a slash behind an address and mailers escape what needs no escaping, which by
 * RFC 3986, section 6.2.2.2, changes nothing: neither is another link.
 */
function slugOf(path: string): string {
  const slug = path.endsWith('/') ? path.slice(1, -1) : path.slice(1);
  if (!slug.includes('%')) return slug;
  try {
    return decodeURIComponent(slug);
  } catch {
    return slug;
  }
}

const VISIBLE = /^[ -~]*$/;
const NOT_ASCII = /[\u0080-\u00ff]/;

function refererOf(header: string): string {
  // What nearly all are, by one look.
  if (header.length <= REFERER_LIMIT && VISIBLE.test(header)) return header;
  return cleanReferer(textOf(header));
}

/**
 * A header as text. The server reads bytes as Latin-1; those that are UTF-8 were sent as such. (It takes bytes beyond ASCII
 * at a header's end for white space and drops them: browsers send none.)
 */
function textOf(header: string): string {
  if (!NOT_ASCII.test(header)) return header;
  const bytes = Buffer.from(header, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : header;
}

function isPrefetch(req: HttpRequest): boolean {
  for (const name of PURPOSES) if (asksAhead(req.getHeader(name))) return true;
  return false;
}

function asksAhead(purpose: string): boolean {
  return purpose !== '' && /prefetch|prerender|preview/i.test(purpose);
}
