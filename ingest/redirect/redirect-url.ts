import { VISITOR_COOKIE } from '../../core/tracking/visitors.ts';

/** Parameters that a link adds to its destination. Null and missing ones are left out. */
export type LinkParameters = {
  utm_source?: string | null;
  utm_medium?: string | null;
  utm_campaign?: string | null;
  /** Slug of a referral link. */
  ref?: string | null;
};

/** Parameters that visitors must not set: they would claim another visitor or referrer. */
const NEVER_FROM_VISITOR: ReadonlySet<string> = new Set([VISITOR_COOKIE, 'ref']);

/** Order of a link's parameters after the destination's. */
const LINK_PARAMETERS = ['utm_source', 'utm_medium', 'utm_campaign', 'ref'] as const;

/** Characters that the URL standard percent-encodes in a query, and those that some clients mishandle. */
const UNSAFE = /[^!$%&()*+,\-./0-9:;=?@A-Z[\]_a-z~]/gu;

/**
 * A destination, precomputed so that a redirect without a query only joins strings. The rules:
 *
 * 1. The destination's own parameters stay as they are, in order and spelling.
 * 2. The link's parameters follow, except those whose name the destination has.
 * 3. The visitor's query follows unchanged, except `_vid` and `ref` in any encoding, and names that are already
 *    there. Repeated names stay repeated.
 * 4. `_vid` follows, unless the destination has a parameter of that name.
 * 5. The fragment stays at the end.
 */
export class Destination {
  /** The URL up to the value of `_vid`; empty when the destination has such a parameter. */
  readonly #withVid: string;
  readonly #fragment: string;
  readonly #base: string;
  /** Built for the first visitor with a query, so that an idle link holds two strings. */
  #taken: Set<string> | null = null;

  /**
   * @param destination a URL that `requireDestination` accepted
   * @param parameters the link's; of a Smart Link with the channel of this click
   * @throws {TypeError} when `destination` is not a URL
   */
  constructor(destination: string, parameters: LinkParameters) {
    const href = new URL(destination).href;
    const hash = href.indexOf('#');
    this.#fragment = hash < 0 ? '' : href.slice(hash);
    let base = hash < 0 ? href : href.slice(0, hash);
    const own = namesIn(base);
    for (const name of LINK_PARAMETERS) {
      const value = parameters[name];
      if (value === undefined || value === null || own.has(name)) continue;
      base = joined(base, `${name}=${encode(value)}`);
    }
    this.#base = inOnePiece(base);
    this.#withVid = own.has(VISITOR_COOKIE) ? '' : inOnePiece(joined(base, `${VISITOR_COOKIE}=`));
  }

  /**
   * Returns the URL to redirect a visitor to, in visible ASCII: safe in a `Location` header.
   *
   * @param visitorQuery the visitor's raw query without `?`; empty when there is none
   * @param vid the visitor's id for this workspace; null to pass none
   */
  urlFor(visitorQuery: string, vid: string | null): string {
    if (vid !== null && visitorQuery === '' && this.#withVid !== '') {
      return this.#withVid + vid + this.#fragment;
    }
    const base = this.#base;
    if (visitorQuery === '') return base + this.#fragment;
    this.#taken ??= namesIn(base);
    let url = base;
    for (const piece of visitorQuery.split('&')) {
      if (piece === '') continue;
      const name = nameOf(piece);
      if (NEVER_FROM_VISITOR.has(name) || this.#taken.has(name)) continue;
      url = joined(url, piece.replaceAll(UNSAFE, encodeCharacter));
    }
    if (vid !== null && this.#withVid !== '') url = joined(url, `${VISITOR_COOKIE}=${vid}`);
    return url + this.#fragment;
  }
}

/** Builds the URL of a {@link Destination} that is used once. */
export function buildRedirectUrl(
  destination: string,
  parameters: LinkParameters,
  visitorQuery: string,
  vid: string | null,
): string {
  return new Destination(destination, parameters).urlFor(visitorQuery, vid);
}

/** Flattens a concatenated string, which would keep its parts in memory. @param text ASCII */
function inOnePiece(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

function joined(base: string, piece: string): string {
  const mark = base.indexOf('?');
  if (mark < 0) return `${base}?${piece}`;
  const last = base.charCodeAt(base.length - 1);
  return last === 0x26 || mark === base.length - 1 ? base + piece : `${base}&${piece}`;
}

function namesIn(url: string): Set<string> {
  const names = new Set<string>();
  const mark = url.indexOf('?');
  if (mark < 0) return names;
  for (const piece of url.slice(mark + 1).split('&')) if (piece !== '') names.add(nameOf(piece));
  return names;
}

/** Returns the decoded name of `name=value` as servers read it: `+` is a space, broken escapes stay. */
function nameOf(piece: string): string {
  const equals = piece.indexOf('=');
  const raw = equals < 0 ? piece : piece.slice(0, equals);
  if (!raw.includes('%') && !raw.includes('+')) return raw;
  return new URLSearchParams(`name=${raw}`).get('name') ?? raw;
}

function encode(value: string): string {
  return encodeURIComponent(value.toWellFormed());
}

/** Encodes one code point; a lone surrogate becomes U+FFFD. `encodeURIComponent` leaves `'` as it is. */
function encodeCharacter(character: string): string {
  return character === "'" ? '%27' : encode(character);
}
