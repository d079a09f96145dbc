import { createHmac, randomBytes } from 'node:crypto';

/** Signatures of the Standard Webhooks specification 1.0: https://www.standardwebhooks.com */

/** The specification requires 24 to 64 bytes. */
const SECRET_BYTES = 32;
const SECRET_PREFIX = 'whsec_';

/** Returns a new signing secret. */
export function newSecret(): Buffer {
  return randomBytes(SECRET_BYTES);
}

/** Returns a secret in the form that its owner stores. */
export function printSecret(secret: Uint8Array): string {
  return SECRET_PREFIX + Buffer.from(secret).toString('base64');
}

/**
 * Returns the headers that authenticate a delivery. While a rotation overlaps there are several secrets, with a
 * signature each; the receiver accepts any.
 *
 * @param secrets newest first
 * @param at milliseconds since the epoch: the time of this attempt
 */
export function signatureHeaders(
  eventId: string,
  body: string,
  secrets: readonly Uint8Array[],
  at: number,
): Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> {
  const timestamp = String(Math.floor(at / 1_000));
  const signed = `${eventId}.${timestamp}.${body}`;
  const signatures = secrets.map(
    (secret) => `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`,
  );
  return {
    'webhook-id': eventId,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}
