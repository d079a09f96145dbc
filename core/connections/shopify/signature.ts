import type { Delivery } from '../connector.ts';
import { headerOf, hmacOf, requireSignature } from '../signatures.ts';

const HEADER = 'x-shopify-hmac-sha256';

/**
 * Checks `x-shopify-hmac-sha256`, the HMAC-SHA256 of the body in Base64. The scheme has no timestamp. Source:
 * https://shopify.dev/docs/apps/build/webhooks/subscribe/https ("Verify the origin"). Their package
 * `@shopify/shopify-api` needs an app's whole configuration for it.
 *
 * @throws {SignatureProblem}
 */
export async function verifyShopify({ body, headers }: Delivery, secret: string): Promise<void> {
  requireSignature(HEADER, hmacOf(secret, [body]), [headerOf(headers, HEADER)], 'base64');
}
