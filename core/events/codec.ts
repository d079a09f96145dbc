import type { DecodedEvent, LogBatch } from '../event-log/port.ts';
import {
  ADDRESS_BYTES,
  type AddressSealer,
  openAddress,
  type SealedAddress,
  sealAddress,
} from './address-seal.ts';
import { asBuffer } from './as-buffer.ts';
import { CLICK_BODY_VERSION, writeClickBody } from './click-body.ts';
import { readClickBody } from './click-reader.ts';
import { otherSchema, type SchemaFingerprints } from './fingerprints.ts';
import { ENVELOPE_BYTES, KIND_CODES, releasedRegistry, type SchemaRegistry } from './schema-registry.ts';
import type { ClickEvent, IdentifyEvent, OrderEvent, TrackedEvent, Unstamped } from './types.ts';

/** Hazard: avsc silently writes larger integers wrong, since it computes with the bits of a double. */
const MAX_LONG = 2 ** 52 - 1;

/** The position of an event's pad; see {@link AddressSealer}. */
export type Pad = { bytes: Uint8Array; position: number };

/** Writes one event into `buffer` at `position`. Returns where it ends, or -1 when it does not fit. */
export type EventEncoder = (
  event: Unstamped,
  ts: number,
  pad: Pad,
  buffer: Buffer,
  position: number,
) => number;

/**
 * Creates an encoder that writes the newest versions. {@link writeClickBody} writes clicks, which every redirect pays
 * for; avsc writes the rest.
 *
 * The encoder throws when a value does not match its field's type; its output is then invalid.
 */
export function createEventEncoder(registry: SchemaRegistry = releasedRegistry()): EventEncoder {
  const types = {
    click: registry.current('click'),
    identify: registry.current('identify'),
    order: registry.current('order'),
    heartbeat: registry.current('heartbeat'),
    clock: registry.current('clock'),
  };
  const byHand = types.click.version === CLICK_BODY_VERSION;

  return (event, ts, pad, buffer, position) => {
    const start = position + ENVELOPE_BYTES;
    if (start > buffer.length) return -1;
    if (byHand && event.kind === 'click') {
      const end = writeClickBody(event, ts, pad.bytes, pad.position, buffer, start);
      return envelop(buffer, position, end, KIND_CODES.click, CLICK_BODY_VERSION);
    }
    const { type, version } = types[event.kind];
    const end = type.encode(bodyOf(event, ts, pad), buffer, start);
    return envelop(buffer, position, end, KIND_CODES[event.kind], version);
  };
}

/** Writes the envelope of a body that ends at `end`, and returns `end`; -1 is passed on. */
function envelop(buffer: Buffer, position: number, end: number, kind: number, version: number): number {
  if (end < 0) return -1;
  buffer.writeUInt32LE(end - position - 4, position);
  buffer[position + 4] = kind;
  buffer[position + 5] = version;
  return end;
}

function bodyOf(event: Unstamped, ts: number, pad: Pad): object {
  switch (event.kind) {
    case 'click': {
      const address = sealAddress(event.address, pad.bytes, pad.position);
      const { workspaceId, linkId, visitorId, userAgent } = event;
      const ids = {
        workspaceId: asBuffer(workspaceId),
        linkId: asBuffer(linkId),
        visitorId: asBuffer(visitorId),
      };
      return { ...event, ...ids, userAgent, ts, address };
    }
    case 'order':
      if (Math.abs(event.amountMinor) > MAX_LONG)
        throw new RangeError(`an amount must be within ±${MAX_LONG}, not ${event.amountMinor}`);
      return withBuffers(event, ts);
    case 'identify':
      return withBuffers(event, ts);
    case 'heartbeat':
      return { ts };
    case 'clock':
      return { ...event, ts };
  }
}

function withBuffers(event: Unstamped<IdentifyEvent | OrderEvent>, ts: number): object {
  return {
    ...event,
    ts,
    workspaceId: asBuffer(event.workspaceId),
    visitorId: event.visitorId && asBuffer(event.visitorId),
    otherVisitorIds: (event.otherVisitorIds ?? []).map(asBuffer),
    landedAt: event.landedAt ?? [],
  };
}

/** Returns whether a batch has only heartbeats. Damaged bytes do not count as heartbeats. */
export function hasOnlyHeartbeats({ payload, count }: Pick<LogBatch, 'payload' | 'count'>): boolean {
  const bytes = asBuffer(payload);
  let position = 0;
  for (let index = 0; index < count; index++) {
    const end = eventEnd(bytes, position);
    if (end < 0 || bytes[position + 4] !== KIND_CODES.heartbeat) return false;
    position = end;
  }
  return position === bytes.length;
}

/** An event that can't be decoded: a dead letter. `bytes` are its envelope and body. */
export type UndecodableEvent = { sequence: bigint; reason: string; bytes: Uint8Array };

/**
 * Decodes every event of a batch, in order, and opens the clicks' addresses. Undecodable events are returned with
 * their reason and do not affect their neighbors. Never throws.
 */
export function decodeEvents(
  batch: Pick<LogBatch, 'streamId' | 'firstSequence' | 'count' | 'payload' | 'schemas'>,
  sealer: AddressSealer,
  registry: SchemaRegistry = releasedRegistry(),
): { events: DecodedEvent[]; undecodable: UndecodableEvent[] } {
  const events: DecodedEvent[] = [];
  const undecodable: UndecodableEvent[] = [];
  const payload = asBuffer(batch.payload);
  const byHand = readsByHand(registry, batch.schemas);
  let pads: Buffer | undefined;
  let position = 0;
  let sequence = batch.firstSequence;
  for (let index = 0; index < batch.count; index++, sequence++) {
    const end = eventEnd(payload, position);
    if (end < 0) {
      const reason = `event ${index + 1} of ${batch.count} runs past its batch`;
      undecodable.push({ sequence, reason, bytes: payload.subarray(position) });
      return { events, undecodable };
    }
    let click: ClickEvent | null = null;
    if (payload[position + 4] === KIND_CODES.click) {
      pads ??= sealer.pads(batch.streamId, batch.firstSequence, batch.count);
      if (byHand && payload[position + 5] === CLICK_BODY_VERSION) {
        click = readClickBody(payload, position + ENVELOPE_BYTES, end, pads, index * ADDRESS_BYTES);
      }
    }
    const outcome = click ?? decodeEvent(payload, position, end, registry, batch.schemas);
    if (typeof outcome === 'string') {
      undecodable.push({ sequence, reason: outcome, bytes: payload.subarray(position, end) });
    } else {
      if (click === null && outcome.kind === 'click' && pads) {
        // Here the address has the form in which avsc reads it.
        const sealed: unknown = outcome.address;
        outcome.address = openAddress(sealed as SealedAddress, pads, index * ADDRESS_BYTES);
      }
      events.push({ sequence, event: outcome });
    }
    position = end;
  }
  if (position < payload.length) {
    const sequence = batch.firstSequence + BigInt(Math.max(batch.count - 1, 0));
    undecodable.push({
      sequence,
      reason: `bytes after the last of ${batch.count} events`,
      bytes: payload.subarray(position),
    });
  }
  return { events, undecodable };
}

/**
 * Returns whether {@link readClickBody} can read the clicks of a batch: {@link CLICK_BODY_VERSION} is the newest
 * version, and the writer's schema of it equals this release's or is unknown.
 */
function readsByHand(registry: SchemaRegistry, schemas: SchemaFingerprints | undefined): boolean {
  if (registry.current('click').version !== CLICK_BODY_VERSION) return false;
  const known = registry.schema(KIND_CODES.click, CLICK_BODY_VERSION);
  const writtenWith = known && schemas?.get(known.name);
  return !writtenWith || writtenWith === known.fingerprint;
}

function eventEnd(payload: Buffer, position: number): number {
  if (position + ENVELOPE_BYTES > payload.length) return -1;
  const length = payload.readUInt32LE(position);
  const end = position + 4 + length;
  return length < 2 || end > payload.length ? -1 : end;
}

function decodeEvent(
  payload: Buffer,
  position: number,
  end: number,
  registry: SchemaRegistry,
  schemas: SchemaFingerprints | undefined,
): TrackedEvent | string {
  const reader = registry.reader(payload.readUInt8(position + 4), payload.readUInt8(position + 5));
  if (typeof reader === 'string') return reader;
  const writtenWith = schemas?.get(reader.name);
  // The known schema of this name might read the bytes, but with another meaning.
  if (writtenWith !== undefined && writtenWith !== reader.fingerprint)
    return otherSchema(reader.name, writtenWith);
  try {
    const body = reader.read(payload, position + ENVELOPE_BYTES);
    if (body.end !== end) return `${reader.kind}: its body does not end where its envelope says`;
    return { kind: reader.kind, ...(body.value as object) } as TrackedEvent;
  } catch (error) {
    return `${reader.kind}: ${error instanceof Error ? error.message : String(error)}`;
  }
}
