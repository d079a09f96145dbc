import type { AdClick } from './ad-clicks.ts';
import type { ClickLabels } from './click-labels.ts';

/**
 * The events of the event log. Times are microseconds since the Unix epoch, assigned by the stream's writer, and
 * strictly increase within a stream. Ids are the 16 bytes of a UUID.
 */
export type ClickEvent = {
  kind: 'click';
  ts: number;
  workspaceId: Uint8Array;
  linkId: Uint8Array;
  visitorId: Uint8Array;
  labels: ClickLabels;
  /** Channel key; a Smart Link's is inferred before the event is written. */
  channel: string;
  /** As sent, at most 2,048 characters, without control characters; empty when unknown. */
  referer: string;
  userAgent: string;
  /** Primary subtag of the most preferred language, in lower case; empty when unknown. */
  language: string;
  /** The visitor's address as 16 bytes (IPv4 mapped into IPv6). Sealed while in the log. */
  address: Uint8Array;
  flags: number;
  /** Null: no advertising network gave it an id. */
  ad: AdClick | null;
};

/**
 * `head`: HEAD request. `prefetch`: `Sec-Purpose: prefetch`. `counted`: used one of the link's `max_clicks`. `qr`: the
 * trigger was the link's QR code.
 */
export const CLICK_FLAGS = { head: 1, prefetch: 2, counted: 4, qr: 8 } as const;

/** Source of an identify or an order: the pixel (publishable key) or a server (secret key). */
export type EventSource = 'pixel' | 'server';

/**
 * When the browser got `visitorId` and each of `otherVisitorIds` from the address of a page, in microseconds; 0:
 * unknown. Empty or left out: all unknown.
 */
export type LandedAt = readonly number[];

export type IdentifyEvent = {
  kind: 'identify';
  ts: number;
  workspaceId: Uint8Array;
  visitorId: Uint8Array | null;
  /** Earlier ids of the same browser, newest first; left out: none. They are one person with `visitorId`. */
  otherVisitorIds?: readonly Uint8Array[];
  landedAt?: LandedAt;
  email: string | null;
  externalUserId: string | null;
  source: EventSource;
};

export type OrderEvent = {
  kind: 'order';
  ts: number;
  workspaceId: Uint8Array;
  visitorId: Uint8Array | null;
  /** Earlier ids of the same browser, newest first; left out: none. They are one person with `visitorId`. */
  otherVisitorIds?: readonly Uint8Array[];
  landedAt?: LandedAt;
  orderId: string;
  /** Minor units of `currency`. */
  amountMinor: number;
  /** The part of the amount that earns commission; null: all of it. Minor units. */
  commissionableMinor: number | null;
  /** Lower-case ISO 4217 code. */
  currency: string;
  isRenewal: boolean;
  email: string | null;
  externalUserId: string | null;
  source: EventSource;
};

/** Tells that the stream has no later event up to `ts`. It only advances the watermark. */
export type HeartbeatEvent = { kind: 'heartbeat'; ts: number };

/**
 * A correction of the stream's clock, which was ahead. Earlier events with a sequence from `first` to below `before`,
 * and a time from `fromTs` to `toTs`, happened `shift` microseconds earlier than they say. Sequences are decimal.
 */
export type ClockEvent = {
  kind: 'clock';
  ts: number;
  first: string;
  before: string;
  fromTs: number;
  toTs: number;
  shift: number;
};

export type TrackedEvent = ClickEvent | IdentifyEvent | OrderEvent | HeartbeatEvent | ClockEvent;

/** An event without the time that its stream assigns. */
export type Unstamped<E extends TrackedEvent = TrackedEvent> = E extends TrackedEvent ? Omit<E, 'ts'> : never;
