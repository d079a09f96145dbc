import { describe, expect, test } from 'vitest';
import { newSecret, printSecret, signatureHeaders } from '../../../core/webhooks/signature.ts';
import { verifyWebhook, WebhookVerificationError } from './webhooks.ts';

const secret = newSecret();
const printed = printSecret(secret);
const body = JSON.stringify({
  id: 'e-1',
  type: 'click.created',
  created_at: 'now',
  data: { city: 'Zürich' },
});
const signed = (text = body, secrets = [secret], at = Date.now()) =>
  signatureHeaders('e-1', text, secrets, at);

describe('a genuine webhook', () => {
  test.each([
    ['a text', body],
    ['bytes', new TextEncoder().encode(body)],
    ['a Buffer', Buffer.from(body)],
    ['an ArrayBuffer', new TextEncoder().encode(body).buffer],
  ])('is the event, given as %s', async (_, raw) => {
    const event = await verifyWebhook(raw, signed(), printed);
    expect(event.id).toBe('e-1');
    // The type of the event tells its data.
    if (event.type === 'click.created') expect(event.data.city).toBe('Zürich');
    else throw new Error('another type');
  });

  test('may have headers of fetch, of Node.js, or in capitals', async () => {
    const headers = signed();
    const capitals = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]),
    );
    for (const given of [new Headers(headers), headers, capitals])
      expect((await verifyWebhook(body, given, printed)).id).toBe('e-1');
  });

  test('may have the signature of either secret while it is rotated', async () => {
    const former = newSecret();
    for (const secrets of [
      [former, secret],
      [secret, former],
    ])
      expect((await verifyWebhook(body, signed(body, secrets), printed)).id).toBe('e-1');
    expect((await verifyWebhook(body, signed(body, [former]), [printed, printSecret(former)])).id).toBe(
      'e-1',
    );
  });

  test('may be as old as the tolerance says', async () => {
    const at = Date.now() - 400_000;
    await verifyWebhook(body, signed(body, [secret], at), printed, { toleranceSeconds: 500 });
  });
});

describe('a webhook is refused', () => {
  const headers = signed();
  test.each([
    ['with an altered body', body.replace('e-1', 'e-2'), headers],
    ['with another form of the same JSON', JSON.stringify(JSON.parse(body), null, 2), headers],
    ['with a byte order mark before it', `\uFEFF${body}`, headers],
    ['with another id', body, { ...headers, 'webhook-id': 'e-2' }],
    [
      'with another time',
      body,
      { ...headers, 'webhook-timestamp': String(Math.floor(Date.now() / 1_000) - 1) },
    ],
    ['of another secret', body, signed(body, [newSecret()])],
    ['with another version of the signature', body, { ...headers, 'webhook-signature': 'v2,AAAA' }],
    ['with a signature that is not base64', body, { ...headers, 'webhook-signature': 'v1,§' }],
    ['without a signature', body, { ...headers, 'webhook-signature': undefined }],
    ['with a time that is not a number', body, { ...headers, 'webhook-timestamp': 'NaN' }],
    ['when it is old', body, signed(body, [secret], Date.now() - 301_000)],
    ['when it is of the future', body, signed(body, [secret], Date.now() + 302_000)],
    ['when it is genuine but not JSON', 'no', signed('no')],
  ])('%s', async (_, raw, given) => {
    await expect(verifyWebhook(raw, given, printed)).rejects.toBeInstanceOf(WebhookVerificationError);
    await expect(verifyWebhook(Buffer.from(raw), given, printed)).rejects.toBeInstanceOf(
      WebhookVerificationError,
    );
  });

  test('never because of a missing secret, which is a fault of the receiver', async () => {
    await expect(verifyWebhook(body, signed(), '')).rejects.toBeInstanceOf(TypeError);
  });
});
