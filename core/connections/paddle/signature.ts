import { type Delivery, SignatureProblem } from '../connector.ts';
import { headerOf, hmacOf, requireRecent, requireSignature } from '../signatures.ts';

const HEADER = 'paddle-signature';

/**
 * Largest age of a signature. Seconds. Paddle's packages take 5, which a busy network exceeds; a repeated event changes
 * nothing here.
 */
const TOLERANCE = 300;

/**
 * Checks `paddle-signature`: `ts=<seconds>;h1=<hex>`, the HMAC-SHA256 of `<ts>:<body>`. While a secret is rotated there
 * are several `h1`. Source: https://developer.paddle.com/webhooks/about/signature-verification ("Verify manually").
 *
 * @throws {SignatureProblem}
 */
export async function verifyPaddle({ body, headers }: Delivery, secret: string, now: Date): Promise<void> {
  const parts = headerOf(headers, HEADER)
    .split(';')
    .map((part) => part.split('='));
  const valuesOf = (name: string) =>
    parts.flatMap(([key, value]) => (key?.trim() === name && value ? [value] : []));
  const [timestamp, ...more] = valuesOf('ts');
  if (timestamp === undefined || more.length > 0) {
    throw new SignatureProblem(`the header \`${HEADER}\` must have one \`ts\``);
  }
  requireRecent(HEADER, timestamp, TOLERANCE, now);
  requireSignature(HEADER, hmacOf(secret, [`${timestamp}:`, body]), valuesOf('h1'), 'hex');
}
