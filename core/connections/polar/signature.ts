import { type Delivery, SignatureProblem } from '../connector.ts';
import { headerOf, hmacOf, requireRecent, requireSignature } from '../signatures.ts';

/** Largest age of a signature. Seconds; of the Standard Webhooks libraries. */
const TOLERANCE = 300;

/**
 * Checks the headers of the Standard Webhooks specification 1.0. Polar's key is the secret's UTF-8 bytes, as its
 * package `@polar-sh/sdk` (webhooks.ts, `validateEvent`) uses it, not the bytes that a `whsec_` secret encodes.
 *
 * @throws {SignatureProblem}
 */
export async function verifyPolar({ body, headers }: Delivery, secret: string, now: Date): Promise<void> {
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature')
    .split(' ')
    .flatMap((part) => (part.startsWith('v1,') ? [part.slice(3)] : []));
  if (signatures.length === 0)
    throw new SignatureProblem('the header `webhook-signature` has no `v1` signature');
  requireRecent('webhook-timestamp', timestamp, TOLERANCE, now);
  requireSignature('webhook-signature', hmacOf(secret, [`${id}.${timestamp}.`, body]), signatures, 'base64');
}
