import type { WebhookEvent } from './generated/types.ts';

/** A webhook that is not genuine, or too old. Respond with 400. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

/** Headers as `fetch`, Node.js, and frameworks have them. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Verifies a webhook as Standard Webhooks 1.0 defines it. It resolves with the event. WebCrypto, which all runtimes
 * have, computes signatures asynchronously only.
 *
 * @param rawBody the body as it was received, before a parser changed it
 * @param secret `whsec_...`, or several while a secret is rotated
 * @throws WebhookVerificationError when the signature is wrong, or the time differs by more than `toleranceSeconds`
 */
export async function verifyWebhook(
  rawBody: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  { toleranceSeconds = 300 }: { toleranceSeconds?: number } = {},
): Promise<WebhookEvent> {
  const body =
    typeof rawBody === 'string' ? rawBody : new TextDecoder('utf-8', { ignoreBOM: true }).decode(rawBody);
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature').split(' ');
  if (!/^\d+$/.test(timestamp)) throw new WebhookVerificationError('`webhook-timestamp` must be in seconds');
  const age = Date.now() / 1_000 - Number(timestamp);
  if (Math.abs(age) > toleranceSeconds) {
    const message = `\`webhook-timestamp\` differs from now by more than ${toleranceSeconds} seconds`;
    throw new WebhookVerificationError(message);
  }
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  for (const one of typeof secret === 'string' ? [secret] : secret) {
    const key = await keyOf(one);
    for (const signature of signatures) {
      const bytes = signature.startsWith('v1,') ? bytesOf(signature.slice('v1,'.length)) : null;
      // Compares in constant time.
      if (bytes !== null && (await crypto.subtle.verify('HMAC', key, bytes, signed))) return eventOf(body);
    }
  }
  throw new WebhookVerificationError(
    'no signature of `webhook-signature` is valid for the body and the secret',
  );
}

function headerOf(headers: WebhookHeaders, name: string): string {
  const value = isHeaders(headers)
    ? headers.get(name)
    : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  const text = Array.isArray(value) ? value[0] : value;
  if (typeof text !== 'string' || text === '')
    throw new WebhookVerificationError(`the header \`${name}\` is missing`);
  return text;
}

/** Frameworks have `Headers` of their own. */
const isHeaders = (headers: WebhookHeaders): headers is Headers =>
  typeof (headers as { get?: unknown }).get === 'function';

function keyOf(secret: string) {
  const bytes = bytesOf(secret.replace(/^whsec_/, ''));
  if (bytes === null || bytes.length === 0) {
    throw new TypeError('the secret must be the `whsec_...` that the API returned');
  }
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  } catch {
    return null;
  }
}

function eventOf(body: string): WebhookEvent {
  try {
    return JSON.parse(body) as WebhookEvent;
  } catch {
    throw new WebhookVerificationError('the body must be JSON');
  }
}
