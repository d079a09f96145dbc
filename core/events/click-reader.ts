import { type ByteCache, createByteCache } from '../caching/byte-cache.ts';
import type { AdClick } from './ad-clicks.ts';
import { ADDRESS_BYTES, applyPad, IPV4_BYTES, openIpv4 } from './address-seal.ts';
import { AD_TYPES, ADDRESS_TYPES } from './click-body.ts';
import { type ClickLabels, ID_BYTES, LABEL_NAMES, NO_LABELS } from './click-labels.ts';
import type { ClickEvent } from './types.ts';

/** Where each id begins after `idsAt`. */
export const VISITOR_AT = 0;
export const WORKSPACE_AT = ID_BYTES;
export const LINK_AT = 2 * ID_BYTES;
/**
 * Smallest size of a body: three ids, an IPv4 address and its type, the flags, the type of `ad`, and one byte for the
 * time and for each length.
 */
const LEAST_BYTES = 1 + 3 * ID_BYTES + LABEL_NAMES.length + 4 + 1 + IPV4_BYTES + 1 + 1;

/**
 * A click in the memory of its batch. Ids, user agent and address are read on demand, so a worker with fifty thousand
 * clicks holds one object for each instead of six (`bench/store-lane.ts`).
 */
export class ReadClick implements ClickEvent {
  readonly kind = 'click';
  readonly ts: number;
  readonly labels: ClickLabels;
  readonly channel: string;
  readonly language: string;
  readonly flags: number;
  readonly ad: AdClick | null;
  /** Holds the ids of visitor, workspace and link back to back, 16 bytes each, from `idsAt` on. */
  readonly ids: Buffer;
  readonly idsAt: number;
  readonly #refererAt: number;
  readonly #refererEnd: number;
  readonly #userAgentAt: number;
  readonly #userAgentEnd: number;
  readonly #addressAt: number;
  readonly #pads: Uint8Array;
  readonly #padAt: number;

  constructor(
    bytes: Buffer,
    idsAt: number,
    ts: number,
    labels: ClickLabels,
    channel: string,
    language: string,
    flags: number,
    ad: AdClick | null,
    refererAt: number,
    refererEnd: number,
    userAgentAt: number,
    userAgentEnd: number,
    addressAt: number,
    pads: Uint8Array,
    padAt: number,
  ) {
    this.ts = ts;
    this.labels = labels;
    this.channel = channel;
    this.language = language;
    this.flags = flags;
    this.ad = ad;
    this.ids = bytes;
    this.idsAt = idsAt;
    this.#refererAt = refererAt;
    this.#refererEnd = refererEnd;
    this.#userAgentAt = userAgentAt;
    this.#userAgentEnd = userAgentEnd;
    this.#addressAt = addressAt;
    this.#pads = pads;
    this.#padAt = padAt;
  }

  /**
   * The stored fields of the click itself. It leaves out those that only the enricher reads, because a row stays in
   * memory until it is stored.
   */
  get key(): ClickKey {
    return { ts: this.ts, ids: this.ids, idsAt: this.idsAt };
  }

  get visitorId(): Uint8Array {
    return this.ids.subarray(this.idsAt + VISITOR_AT, this.idsAt + VISITOR_AT + ID_BYTES);
  }

  get workspaceId(): Uint8Array {
    return this.ids.subarray(this.idsAt + WORKSPACE_AT, this.idsAt + WORKSPACE_AT + ID_BYTES);
  }

  get linkId(): Uint8Array {
    return this.ids.subarray(this.idsAt + LINK_AT, this.idsAt + LINK_AT + ID_BYTES);
  }

  get referer(): string {
    return this.ids.toString('utf8', this.#refererAt, this.#refererEnd);
  }

  /** Returns the cached result for the bytes of the referer. */
  refererIn<T>(cache: ByteCache<T>): T {
    return cache(this.ids, this.#refererAt, this.#refererEnd);
  }

  get userAgent(): string {
    return this.ids.toString('utf8', this.#userAgentAt, this.#userAgentEnd);
  }

  /** Returns the cached result for the bytes of the user agent. */
  userAgentIn<T>(cache: ByteCache<T>): T {
    return cache(this.ids, this.#userAgentAt, this.#userAgentEnd);
  }

  get address(): Uint8Array {
    return this.addressInto(new Uint8Array(ADDRESS_BYTES));
  }

  /** Writes the address into 16 bytes, and returns them. */
  addressInto(into: Uint8Array): Uint8Array {
    const at = this.#addressAt;
    if (this.ids[at - 1] === ADDRESS_TYPES.ipv4) openIpv4(this.ids, at, this.#pads, this.#padAt, into);
    else applyPad(this.ids, at, this.#pads, this.#padAt, into, 0, ADDRESS_BYTES);
    return into;
  }
}

/** The fields of a click that ClickHouse stores besides its enrichment. */
export type ClickKey = Pick<ReadClick, 'ts' | 'ids' | 'idsAt'>;

/** Returns the {@link ClickKey} of a click that was not read by {@link readClickBody}. */
export function clickKey(click: Pick<ClickEvent, 'ts' | 'workspaceId' | 'linkId' | 'visitorId'>): ClickKey {
  const { ts, workspaceId, linkId, visitorId } = click;
  return { ts, ids: Buffer.concat([visitorId, workspaceId, linkId]), idsAt: 0 };
}

let at = 0;

/**
 * Reads the Avro body of a click (`schemas/click.v1.avsc`). Written by hand because a worker reads every click. A
 * test compares it with avsc.
 *
 * @param end where the body must end
 * @param pads with 16 bytes at `padAt` that open the address; kept as long as the click, like the bytes
 * @returns null when the bytes are not such a body; avsc then tells why
 */
export function readClickBody(
  bytes: Buffer,
  position: number,
  end: number,
  pads: Uint8Array,
  padAt: number,
): ReadClick | null {
  if (end > bytes.length || end - position < LEAST_BYTES) return null;
  const ts = readTime(bytes, position);
  const idsAt = at;
  if (at < 0 || at + LEAST_BYTES - 1 > end) return null;
  const labelsAt = at + 3 * ID_BYTES;
  const labelsEnd = textsEnd(bytes, labelsAt, end, LABEL_NAMES.length);
  if (labelsEnd < 0) return null;
  const channelEnd = textEnd(bytes, labelsEnd, end);
  if (channelEnd < 0) return null;
  const channelAt = at;
  const refererEnd = textEnd(bytes, channelEnd, end);
  if (refererEnd < 0) return null;
  const refererAt = at;
  const userAgentEnd = textEnd(bytes, refererEnd, end);
  if (userAgentEnd < 0) return null;
  const userAgentAt = at;
  const languageEnd = textEnd(bytes, userAgentEnd, end);
  if (languageEnd < 0) return null;
  const languageAt = at;
  const addressType = bytes[languageEnd];
  if (addressType !== ADDRESS_TYPES.ipv4 && addressType !== ADDRESS_TYPES.any) return null;
  const addressAt = languageEnd + 1;
  const addressEnd = addressAt + (addressType === ADDRESS_TYPES.ipv4 ? IPV4_BYTES : ADDRESS_BYTES);
  if (addressEnd >= end) return null;
  const flags = readNumber(bytes, addressEnd);
  if (at < 0 || at >= end) return null;
  let ad: AdClick | null = null;
  if (bytes[at] === AD_TYPES.none) at += 1;
  else {
    ad = bytes[at] === AD_TYPES.ad ? readAd(bytes, at + 1, end) : null;
    if (ad === null) return null;
  }
  if (at !== end) return null;
  return new ReadClick(
    bytes,
    idsAt,
    ts,
    labelsOf(bytes, labelsAt, labelsEnd),
    textOf(bytes, channelAt, channelEnd),
    textOf(bytes, languageAt, languageEnd),
    flags,
    ad,
    refererAt,
    refererEnd,
    userAgentAt,
    userAgentEnd,
    addressAt,
    pads,
    padAt,
  );
}

/** Returns the record at `from`, or null; `at` is where it ends. */
function readAd(bytes: Buffer, from: number, end: number): AdClick | null {
  const paramEnd = textEnd(bytes, from, end);
  if (paramEnd < 0) return null;
  const param = textOf(bytes, at, paramEnd);
  const idEnd = textEnd(bytes, paramEnd, end);
  if (idEnd < 0) return null;
  const id = bytes.toString('utf8', at, idEnd);
  at = idEnd;
  return { param, id };
}

/** Returns the end of `count` texts, the first of whose lengths is at `from`, or -1. */
function textsEnd(bytes: Buffer, from: number, end: number, count: number): number {
  let next = from;
  for (let text = 0; text < count && next >= 0; text++) next = textEnd(bytes, next, end);
  return next;
}

/** Returns the end of the text whose length is at `from`, or -1; `at` is where it begins. */
function textEnd(bytes: Buffer, from: number, end: number): number {
  const length = readNumber(bytes, from);
  return at < 0 || at + length > end ? -1 : at + length;
}

function readNumber(bytes: Buffer, from: number): number {
  let value = 0;
  let next = from;
  for (let shift = 0; shift < 28; shift += 7) {
    const byte = bytes[next++] ?? 0;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      at = (value & 1) === 0 ? next : -1;
      return value >>> 1;
    }
  }
  at = -1;
  return 0;
}

function readTime(bytes: Buffer, from: number): number {
  let value = 0;
  let scale = 1;
  let next = from;
  for (let digit = 0; digit < 8; digit++) {
    const byte = bytes[next++] ?? 0;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) {
      at = value % 2 === 0 && value <= Number.MAX_SAFE_INTEGER ? next : -1;
      return value / 2;
    }
    scale *= 128;
  }
  at = -1;
  return 0;
}

/** Channels and languages: some dozens. */
const textOf = createByteCache({
  slots: 1_024,
  longest: 64,
  read: (bytes, from, to) => bytes.toString('utf8', from, to),
});

/**
 * One object for all clicks with the same labels, mostly those of a link. With five UTM parameters they take 100 bytes.
 */
const labelsOf = createByteCache<ClickLabels>({ slots: 32_768, longest: 160, read: readLabels });

function readLabels(bytes: Buffer, from: number, to: number): ClickLabels {
  const labels: Record<keyof ClickLabels, string> = { ...NO_LABELS };
  let next = from;
  for (const name of LABEL_NAMES) {
    const textTo = textEnd(bytes, next, to);
    labels[name] = bytes.toString('utf8', at, textTo);
    next = textTo;
  }
  return labels;
}
