import { ADDRESS_BYTES, applyPad } from './address-seal.ts';
import type { ClickEvent } from './types.ts';

const ID_BYTES = 16;
/** Bytes of what stands around the texts: three ids, the address, the flags, and one of the time at least. */
const LEAST_BYTES = 1 + 3 * ID_BYTES + 3 + ADDRESS_BYTES + 1;

/**
 * A click as it stands in its batch. Ids, user agent and address are read when they are asked for: a worker that holds
 * fifty thousand clicks holds one object for each and not six, which a quarter of its time went into collecting
 * (`bench/store-lane.ts`).
 */
export class ReadClick implements ClickEvent {
  readonly kind = 'click';
  readonly ts: number;
  readonly channel: string;
  readonly referer: string;
  readonly flags: number;
  /** The ids of workspace, link and visitor stand here back to back, 16 bytes each, from `idsAt` on. */
  readonly ids: Buffer;
  readonly idsAt: number;
  readonly #userAgentAt: number;
  readonly #addressAt: number;
  readonly #pads: Uint8Array;
  readonly #padAt: number;

  constructor(
    bytes: Buffer,
    idsAt: number,
    ts: number,
    channel: string,
    referer: string,
    flags: number,
    userAgentAt: number,
    addressAt: number,
    pads: Uint8Array,
    padAt: number,
  ) {
    this.ts = ts;
    this.channel = channel;
    this.referer = referer;
    this.flags = flags;
    this.ids = bytes;
    this.idsAt = idsAt;
    this.#userAgentAt = userAgentAt;
    this.#addressAt = addressAt;
    this.#pads = pads;
    this.#padAt = padAt;
  }

  get workspaceId(): Uint8Array {
    return this.ids.subarray(this.idsAt, this.idsAt + ID_BYTES);
  }

  get linkId(): Uint8Array {
    return this.ids.subarray(this.idsAt + ID_BYTES, this.idsAt + 2 * ID_BYTES);
  }

  get visitorId(): Uint8Array {
    return this.ids.subarray(this.idsAt + 2 * ID_BYTES, this.idsAt + 3 * ID_BYTES);
  }

  get userAgent(): string {
    return textOf(this.ids, this.#userAgentAt, this.#addressAt);
  }

  /** Opened. */
  get address(): Uint8Array {
    const address = new Uint8Array(ADDRESS_BYTES);
    applyPad(this.ids, this.#addressAt, this.#pads, this.#padAt, address, 0);
    return address;
  }
}

/** What the store needs of a click beside what enriching it says. */
export type ClickKey = Pick<ReadClick, 'ts' | 'ids' | 'idsAt'>;

/** The {@link ClickKey} of a click that did not come through {@link readClickBody}. */
export function clickKey(click: Pick<ClickEvent, 'ts' | 'workspaceId' | 'linkId' | 'visitorId'>): ClickKey {
  const { ts, workspaceId, linkId, visitorId } = click;
  return { ts, ids: Buffer.concat([workspaceId, linkId, visitorId]), idsAt: 0 };
}

/** Where the last number ended; -1: it was none. */
let at = 0;

/**
 * Reads the Avro body of a click (`schemas/click.v1.avsc`). It stands beside avsc because a worker reads every click;
 * `click-reader.test.ts` holds it against avsc.
 *
 * @param end where the body has to end
 * @param pads with 16 bytes at `padAt` that open the address; kept as long as the click, as the bytes are
 * @returns null when the bytes are no such body: avsc then says why
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
  const channelEnd = textEnd(bytes, at + 3 * ID_BYTES, end);
  if (channelEnd < 0) return null;
  const channelAt = at;
  const refererEnd = textEnd(bytes, channelEnd, end);
  if (refererEnd < 0) return null;
  const refererAt = at;
  const addressAt = textEnd(bytes, refererEnd, end);
  if (addressAt < 0 || addressAt + ADDRESS_BYTES >= end) return null;
  const userAgentAt = at;
  const flags = readNumber(bytes, addressAt + ADDRESS_BYTES);
  if (at !== end) return null;
  const channel = textOf(bytes, channelAt, channelEnd);
  const referer = textOf(bytes, refererAt, refererEnd);
  return new ReadClick(bytes, idsAt, ts, channel, referer, flags, userAgentAt, addressAt, pads, padAt);
}

/** Where the text whose length stands at `from` ends, -1 when it is none; `at` is where it begins. */
function textEnd(bytes: Buffer, from: number, end: number): number {
  const length = readNumber(bytes, from);
  return at < 0 || at + length > end ? -1 : at + length;
}

/** A number of up to four bytes, not negative. */
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

/** Microseconds since the epoch: up to eight bytes. */
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

/**
 * Texts that were read, each in the place that its length and some of its bytes give: clicks repeat some thousands of
 * user agents, referers and channels, and a text that is held costs neither decoding nor hashing again. A place holds
 * one text and gives it up to the next that falls there.
 */
const PLACES = 32_768;
const held: string[] = Array(PLACES).fill('');
/** Bytes that decide the place, from the end on, where versions stand. */
const SAMPLES = 12;
/** Longer ones are seldom seen twice, and would fill the memory. */
const LONGEST_HELD = 512;

function textOf(bytes: Buffer, from: number, to: number): string {
  const length = to - from;
  if (length === 0) return '';
  if (length > LONGEST_HELD) return bytes.toString('utf8', from, to);
  const step = length > SAMPLES ? (length / SAMPLES) | 0 : 1;
  let place = length;
  for (let next = to - 1; next >= from; next -= step) place = (Math.imul(place, 31) + (bytes[next] ?? 0)) | 0;
  place = (place ^ (place >>> 15)) & (PLACES - 1);
  const known = held[place] ?? '';
  if (stands(known, bytes, from, length)) return known;
  const text = bytes.toString('utf8', from, to);
  held[place] = text;
  return text;
}

/** ASCII alone: other texts are decoded each time. */
function stands(text: string, bytes: Buffer, from: number, length: number): boolean {
  if (text.length !== length) return false;
  for (let index = 0; index < length; index++) {
    const byte = bytes[from + index] ?? 0;
    if (byte > 0x7f || text.charCodeAt(index) !== byte) return false;
  }
  return true;
}
