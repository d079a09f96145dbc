import type { Delivery } from '../connector.ts';
import { headerOf, hmacOf, requireSignature } from '../signatures.ts';

const HEADER = 'x-signature';

/**
 * Checks `x-signature`, the HMAC-SHA256 of the body in hex. The scheme has no timestamp. Source:
 * https://docs.lemonsqueezy.com/help/webhooks/signing-requests
 *
 * @throws {SignatureProblem}
 */
export async function verifyLemonSqueezy({ body, headers }: Delivery, secret: string): Promise<void> {
  requireSignature(HEADER, hmacOf(secret, [body]), [headerOf(headers, HEADER)], 'hex');
}
