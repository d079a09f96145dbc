import { cleanText } from '../../core/enrich/referer.ts';
import { type ClickLabels, SharedLabels } from '../../core/events/click-labels.ts';
import { VISITOR_COOKIE } from '../../core/tracking/visitors.ts';
import { withPath } from './forwarded-path.ts';

/** Parameters that a link adds to its destination. Null and missing ones are left out. */
export type LinkParameters = {
  utm_source?: string | null;
  utm_medium?: string | null;
  utm_campaign?: string | null;
  utm_term?: string | null;
  utm_content?: string | null;
  /** Slug of a referral link. */
  ref?: string | null;
};

/** Which parameters a link forwards to its destination, or appends. */
export type Switches = { forwardQuery: boolean; appendUtm: boolean; appendVisitor: boolean };

const ALL_ON: Switches = { forwardQuery: true, appendUtm: true, appendVisitor: true };

/** A query that a storage service has signed. Another parameter would make the signature wrong. */
const SIGNED = /[?&](?:X-Amz-Signature|X-Goog-Signature|Signature|sig)=/i;

/** A `tel:` or `geo:` address has no parameters: a phone would dial them. */
const HIERARCHICAL = /^[a-z][a-z0-9+.-]*:\/\//i;

/** Parameters that visitors must not set: they would claim another visitor or referrer. */
const NEVER_FROM_VISITOR: ReadonlySet<string> = new Set([VISITOR_COOKIE, 'ref']);

/** Marks the address in a link's QR code. It is not for the destination. */
const QR_MARK = 'qr=1';

/** Longest recorded value of a UTM parameter, in UTF-16 code units. */
const UTM_LIMIT = 255;

/** Order of a link's parameters after the destination's. */
const LINK_PARAMETERS = [
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'utm_term',
  'utm_content',
  'ref',
] as const;

/** Characters that the URL standard percent-encodes in a query, and those that some clients mishandle. */
const UNSAFE = /[^!$%&()*+,\-./0-9:;=?@A-Z[\]_a-z~]/gu;

/**
 * A destination, precomputed so that a redirect without a query only joins strings. The rules:
 *
 * 1. The destination's own parameters stay as they are, in order and spelling.
 * 2. The link's parameters follow, except those whose name the destination has.
 * 3. The visitor's query follows unchanged, except `_vid` and `ref` in any encoding, and names that are already
 *    there, and the mark of a QR code (`qr=1`). Repeated names stay repeated.
 * 4. `_vid` follows, unless the destination has a parameter of that name.
 * 5. The fragment stays at the end.
 *
 * Switches leave out steps 2 (UTM), 3 and 4. A signed destination whose link does not forward the query gets nothing. A
 * destination that gets nothing stays as it is, byte for byte.
 */
export class Destination {
  /** The URL up to the value of `_vid`; empty when the destination has such a parameter. */
  readonly #withVid: string;
  readonly #fragment: string;
  readonly #base: string;
  readonly #forwardsQuery: boolean;
  /** Labels of a visitor whose query has no UTM parameters. */
  readonly #labels: SharedLabels;
  /** Built for the first visitor with a query, so that an idle link holds two strings. */
  #taken: Set<string> | null = null;

  /**
   * @param destination a URL that `requireDestination` accepted
   * @param parameters the link's; of a Smart Link with the channel of this click
   * @param marks the address that leads here, and what decided it
   * @param switches of the link
   * @throws {TypeError} when `destination` is not a URL
   */
  constructor(destination: string, parameters: LinkParameters, marks = NO_MARKS, switches = ALL_ON) {
    const takesQuery = HIERARCHICAL.test(destination);
    const forwardQuery = switches.forwardQuery && takesQuery;
    this.#forwardsQuery = forwardQuery;
    const isSigned = !takesQuery || (!forwardQuery && SIGNED.test(destination));
    const appendUtm = switches.appendUtm && !isSigned;
    const appendVisitor = switches.appendVisitor && !isSigned;
    const href = withoutChange(forwardQuery || appendUtm || appendVisitor, destination);
    const hash = href.indexOf('#');
    this.#fragment = hash < 0 ? '' : href.slice(hash);
    let base = hash < 0 ? href : href.slice(0, hash);
    const own = namesIn(base);
    for (const name of LINK_PARAMETERS) {
      const value = parameters[name];
      if (value === undefined || value === null || own.has(name)) continue;
      if (name === 'ref' ? isSigned : !appendUtm) continue;
      base = joined(base, `${name}=${encode(value)}`);
    }
    this.#base = inOnePiece(base);
    this.#labels = new SharedLabels({ ...marks, ...utmOf(base) });
    this.#withVid =
      own.has(VISITOR_COOKIE) || !appendVisitor ? '' : inOnePiece(joined(base, `${VISITOR_COOKIE}=`));
  }

  /**
   * Returns the URL to redirect a visitor to, in visible ASCII: safe in a `Location` header.
   *
   * @param visitorQuery the visitor's raw query without `?`; empty when there is none
   * @param vid the visitor's id for this workspace; null to pass none
   * @param path appended to the destination's; see {@link withPath}
   */
  urlFor(visitorQuery: string, vid: string | null, path = ''): string {
    const query = this.#forwardsQuery ? visitorQuery : '';
    if (vid !== null && query === '' && path === '' && this.#withVid !== '') {
      return this.#withVid + vid + this.#fragment;
    }
    const base = path === '' ? this.#base : withPath(this.#base, path);
    if (query === '') {
      const visitor = vid !== null && this.#withVid !== '' ? joined(base, `${VISITOR_COOKIE}=${vid}`) : base;
      return visitor + this.#fragment;
    }
    this.#taken ??= namesIn(base);
    let url = base;
    for (const piece of query.split('&')) {
      if (piece === '' || piece === QR_MARK) continue;
      const name = nameOf(piece);
      if (NEVER_FROM_VISITOR.has(name) || this.#taken.has(name)) continue;
      url = joined(url, piece.replaceAll(UNSAFE, encodeCharacter));
    }
    if (vid !== null && this.#withVid !== '') url = joined(url, `${VISITOR_COOKIE}=${vid}`);
    return url + this.#fragment;
  }

  /**
   * Returns the labels of a visit: its UTM values are what {@link urlFor} passes on.
   *
   * @param visitorQuery as for {@link urlFor}
   */
  labelsFor(visitorQuery: string): ClickLabels {
    if (visitorQuery === '' || !MAY_NAME_UTM.test(visitorQuery)) return this.#labels;
    return { ...this.#labels, ...utmOf(this.urlFor(visitorQuery, null)) };
  }
}

/** Returns a destination in normal form. An unchanged destination of visible ASCII stays as it is. */
function withoutChange(isChanged: boolean, destination: string): string {
  const { href } = new URL(destination);
  return !isChanged && SENDABLE.test(destination) ? destination : href;
}

const SENDABLE = /^[!-~]+$/;

/** Matches every query that has a UTM parameter, whose name may be escaped. */
const MAY_NAME_UTM = /utm_|%/;

/** Labels of a click that are not in its destination's query. */
type ClickMarks = Pick<ClickLabels, 'domain' | 'slug' | 'ruleId' | 'variantId'>;

const NO_MARKS: ClickMarks = { domain: '', slug: '', ruleId: '', variantId: '' };

/** Returns whether a visitor's query has the mark of a QR code. */
export function isFromQrCode(visitorQuery: string): boolean {
  return visitorQuery !== '' && visitorQuery.split('&').includes(QR_MARK);
}

type UtmLabels = Pick<ClickLabels, 'utmSource' | 'utmMedium' | 'utmCampaign' | 'utmTerm' | 'utmContent'>;

/** Returns the UTM parameters of a URL, decoded. Of a repeated one the first counts. */
function utmOf(url: string): UtmLabels {
  const mark = url.indexOf('?');
  const parameters = new URLSearchParams(mark < 0 ? '' : url.slice(mark).split('#', 1)[0]);
  const value = (name: string) => cleanText(parameters.get(name) ?? '', UTM_LIMIT);
  return {
    utmSource: value('utm_source'),
    utmMedium: value('utm_medium'),
    utmCampaign: value('utm_campaign'),
    utmTerm: value('utm_term'),
    utmContent: value('utm_content'),
  };
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
