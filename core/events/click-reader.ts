import { ADDRESS_BYTES, applyPad } from './address-seal.ts';
import type { ClickEvent } from './types.ts';

const ID_BYTES = 16;
/** Bytes around the texts: three ids, the address, the flags, and at least one of the time. */
const LEAST_BYTES = 1 + 3 * ID_BYTES + 3 + ADDRESS_BYTES + 1;

/**
 * A click in the memory of its batch. Ids, user agent and address are read on demand, so a worker with fifty thousand
 * clicks holds one object for each instead of six (`bench/store-lane.ts`).
 */
export class ReadClick implements ClickEvent {
  readonly kind = 'click';
  readonly ts: number;
  readonly channel: string;
  readonly referer: string;
  readonly flags: number;
  /** Holds the ids of workspace, link and visitor back to back, 16 bytes each, from `idsAt` on. */
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

  get address(): Uint8Array {
    const address = new Uint8Array(ADDRESS_BYTES);
    applyPad(this.ids, this.#addressAt, this.#pads, this.#padAt, address, 0);
    return address;
  }
}

/** What ClickHouse needs of a click besides its enrichment. */
export type ClickKey = Pick<ReadClick, 'ts' | 'ids' | 'idsAt'>;

/** Returns the {@link ClickKey} of a click that was not read by {@link readClickBody}. */
export function clickKey(click: Pick<ClickEvent, 'ts' | 'workspaceId' | 'linkId' | 'visitorId'>): ClickKey {
  const { ts, workspaceId, linkId, visitorId } = click;
  return { ts, ids: Buffer.concat([workspaceId, linkId, visitorId]), idsAt: 0 };
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

/**
 * Texts that were read before, in slots chosen by their length and some of their bytes. Clicks repeat some thousands
 * of user agents, referers and channels; a cached text costs neither decoding nor hashing. A slot holds the last text
 * that fell there.
 */
const PLACES = 32_768;
const held: string[] = Array(PLACES).fill('');
/** Bytes that choose the slot, from the end on, where versions differ. */
const SAMPLES = 12;
/** Longer texts seldom repeat, and would fill the memory. */
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
  if (matches(known, bytes, from, length)) return known;
  const text = bytes.toString('utf8', from, to);
  held[place] = text;
  return text;
}

/** Compares ASCII only: other texts are decoded each time. */
function matches(text: string, bytes: Buffer, from: number, length: number): boolean {
  if (text.length !== length) return false;
  for (let index = 0; index < length; index++) {
    const byte = bytes[from + index] ?? 0;
    if (byte > 0x7f || text.charCodeAt(index) !== byte) return false;
  }
  return true;
}
