import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { isUtf8 } from 'node:buffer';
import { cleanReferer, REFERER_LIMIT } from '../../core/enrich/referer.ts';
import { CLICK_FLAGS } from '../../core/events/types.ts';
import { OWN_DOMAIN } from '../../sql/links/slugs.ts';
import type { ClientAddress } from '../http/client-address.ts';
import { headerName } from '../http/header-names.ts';
import type { Host, Hosts } from '../link-table/hosts.ts';
import { nameOf } from '../link-table/names.ts';

/** Facts that a request has about its visitor, copied: uWebSockets.js frees the request when its handler returns. */
export type Visit = {
  /** Not validated yet. */
  slug: string;
  /** The rest of the path behind the slug, as sent, from its slash on; empty when there is none. */
  path: string;
  /** The name that the address has in the link table. */
  name: string;
  /** Domain that the visitor requested; null for the deployment's own, or an unknown one. */
  host: Host | null;
  /** The raw query, without `?`. */
  query: string;
  userAgent: string;
  referer: string;
  acceptLanguage: string;
  cookie: string;
  /** `Sec-GPC: 1` (Global Privacy Control). */
  gpc: boolean;
  /**
   * Whether the visitor's browser used https, as the proxy reports it; null: as short links do. Read on workspaces'
   * domains.
   */
  isHttps: boolean | null;
  /** Whether the request is for a frame of a page. Browsers report this on https. */
  isFramed: boolean;
  /** `CLICK_FLAGS` that the request shows: head and prefetch. */
  flags: number;
  address: Uint8Array;
  /** `performance.now()` of a timed visit, else null. */
  startedAt: number | null;
};

const USER_AGENT_LIMIT = 1_024;
const HOST = headerName('host');
const USER_AGENT = headerName('user-agent');
const REFERER = headerName('referer');
const ACCEPT_LANGUAGE = headerName('accept-language');
const COOKIE = headerName('cookie');
const SEC_GPC = headerName('sec-gpc');
const FETCH_DESTINATION = headerName('sec-fetch-dest');
const FORWARDED_PROTO = headerName('x-forwarded-proto');
/** Destinations of documents within a page (https://fetch.spec.whatwg.org/#concept-request-destination). */
const FRAMES = /^(iframe|frame|embed|object|fencedframe)$/;
/** The standard header and its predecessors in browsers. */
const PURPOSES = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'].map(headerName);

/** Reads a request to `/<slug>`. Call it within the request's handler. */
export function readVisit(
  req: HttpRequest,
  res: HttpResponse,
  head: boolean,
  clientAddress: ClientAddress,
  hosts: Hosts,
  startedAt: number | null,
): Visit {
  const userAgent = req.getHeader(USER_AGENT);
  const host = hosts.isEmpty() ? null : hosts.find(req.getHeader(HOST));
  const address = req.getUrl();
  const end = endOfSlug(address);
  const sent = address.slice(1, end);
  const slug = slugOf(sent);
  return {
    slug,
    path: end === address.length || address === '//' ? '' : address.slice(end),
    name: slug === sent ? nameAsSent(host, slug) : nameAt(host, slug),
    host,
    query: req.getQuery() ?? '',
    userAgent: userAgent.length > USER_AGENT_LIMIT ? userAgent.slice(0, USER_AGENT_LIMIT) : userAgent,
    referer: refererOf(req.getHeader(REFERER)),
    acceptLanguage: req.getHeader(ACCEPT_LANGUAGE),
    cookie: req.getHeader(COOKIE),
    gpc: req.getHeader(SEC_GPC) === '1',
    isHttps: host === null ? null : schemeOf(req),
    isFramed: FRAMES.test(req.getHeader(FETCH_DESTINATION)),
    flags: (head ? CLICK_FLAGS.head : 0) | (isPrefetch(req) ? CLICK_FLAGS.prefetch : 0),
    address: clientAddress(req, res),
    startedAt,
  };
}

/** Returns the name of a slug without a slash. A lookup corrects names with letters beyond ASCII, which are rare. */
function nameAsSent(host: Host | null, slug: string): string {
  return host === null ? slug : `${host.number}/${slug}`;
}

/** Returns the name that a slug has in the link table. */
export function nameAt(host: Host | null, slug: string): string {
  return nameOf(host?.number ?? OWN_DOMAIN, slug);
}

/** Returns the visit with another slug of the same host, and the path after it. */
export function atSlug(visit: Visit, slug: string, path = visit.path): Visit {
  return { ...visit, slug, path, name: nameAt(visit.host, slug) };
}

/** Reads the facts about the browser from a request. Call it within the request's handler. */
export function readBrowser(
  req: HttpRequest,
  res: HttpResponse,
  clientAddress: ClientAddress,
): Pick<Visit, 'userAgent' | 'acceptLanguage' | 'gpc' | 'address'> {
  return {
    userAgent: req.getHeader(USER_AGENT).slice(0, USER_AGENT_LIMIT),
    acceptLanguage: req.getHeader(ACCEPT_LANGUAGE),
    gpc: req.getHeader(SEC_GPC) === '1',
    address: clientAddress(req, res),
  };
}

/** A client that names a scheme itself can only spoil its own cookie. */
function schemeOf(req: HttpRequest): boolean | null {
  const scheme = req.getHeader(FORWARDED_PROTO);
  return scheme === '' ? null : /^https\b/i.test(scheme);
}

/** Returns where the slug ends in a path: before the second slash. */
function endOfSlug(path: string): number {
  const slash = path.indexOf('/', 1);
  return slash < 0 ? path.length : slash;
}

/**
 * Returns the slug that the first part of a path names. Mailers escape characters that need no escape (RFC 3986,
 * section 6.2.2.2): both name the same link.
 */
export function slugOf(part: string): string {
  if (!part.includes('%')) return part;
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const VISIBLE = /^[ -~]*$/;
const NOT_ASCII = /[\u0080-\u00ff]/;

function refererOf(header: string): string {
  // The fast path for nearly all referers.
  if (header.length <= REFERER_LIMIT && VISIBLE.test(header)) return header;
  return cleanReferer(textOf(header));
}

/**
 * Returns a header as text. The server reads bytes as Latin-1; valid UTF-8 was sent as UTF-8. (The server drops bytes
 * beyond ASCII at a header's end; browsers send none.)
 */
function textOf(header: string): string {
  if (!NOT_ASCII.test(header)) return header;
  const bytes = Buffer.from(header, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : header;
}

function isPrefetch(req: HttpRequest): boolean {
  for (const name of PURPOSES) if (isPrefetchPurpose(req.getHeader(name))) return true;
  return false;
}

function isPrefetchPurpose(purpose: string): boolean {
  return purpose !== '' && /prefetch|prerender|preview/i.test(purpose);
}
