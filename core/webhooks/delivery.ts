import { createHash } from 'node:crypto';
import { bytesToUuid, uuidToBytes } from '../ids.ts';

/** An event as its receivers get it. */
export type WebhookEvent = {
  /** UUIDv7, also the `webhook-id`. */
  id: string;
  type: string;
  /** ISO 8601. */
  created_at: string;
  /** `POST /webhooks/trigger` sent it. */
  test?: true;
  data: unknown;
};

/** Returns the body of a delivery. Store it as text: every attempt must send, and sign, the same bytes. */
export function deliveryBody({ id, type, created_at, test, data }: WebhookEvent): string {
  return JSON.stringify({ id, type, created_at, test, data });
}

const TIME_BYTES = 6;

/**
 * Returns the id of the delivery of an event to a webhook: a UUIDv7 with the event's milliseconds and a hash of both
 * ids in place of random bits, so that it is the same after a crash.
 *
 * @param eventId a UUIDv7
 */
export function deliveryId(webhookId: string, eventId: string): string {
  const event = uuidToBytes(eventId);
  const bytes = createHash('sha256').update(uuidToBytes(webhookId)).update(event).digest().subarray(0, 16);
  event.copy(bytes, 0, 0, TIME_BYTES);
  bytes.writeUInt8(0x70 | (bytes.readUInt8(6) & 0x0f), 6);
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8);
  return bytesToUuid(bytes);
}
