import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { uuidv7 } from '../ids.ts';
import { deliveryBody, deliveryId } from './delivery.ts';
import { newSecret, printSecret, signatureHeaders } from './signature.ts';

describe('the id of a delivery', () => {
  test('is always the same for a webhook and an event, and differs between them', () => {
    const [hook, other, event, later] = [uuidv7(), uuidv7(), uuidv7(), uuidv7()];
    expect(deliveryId(hook, event)).toBe(deliveryId(hook, event));
    const ids = [hook, other].flatMap((id) => [event, later].map((one) => deliveryId(id, one)));
    expect(new Set(ids).size).toBe(4);
  });

  test('is a UUIDv7 with the time of its event', () => {
    const event = uuidv7();
    const id = deliveryId(uuidv7(), event);
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(id.slice(0, 13)).toBe(event.slice(0, 13));
  });
});

describe('the signature', () => {
  const event = {
    id: uuidv7(),
    type: 'credit.earned',
    created_at: '2026-11-20T10:00:00Z',
    data: { a: 'ü€' },
  };
  const body = deliveryBody(event);

  test('is verified by the published library, with each of several secrets', () => {
    const secrets = [newSecret(), newSecret()];
    const headers = signatureHeaders(event.id, body, secrets, Date.now());
    expect(headers['webhook-signature'].split(' ')).toHaveLength(2);
    for (const secret of secrets) {
      expect(new Webhook(printSecret(secret)).verify(body, headers)).toEqual(event);
    }
    expect(() => new Webhook(printSecret(newSecret())).verify(body, headers)).toThrow();
    expect(() => new Webhook(printSecret(secrets[0] ?? newSecret())).verify(`${body} `, headers)).toThrow();
  });

  test('matches the example of the specification', () => {
    const secret = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64');
    const headers = signatureHeaders(
      'msg_p5jXN8AQM9LWM0D4loKWxJek',
      '{"test": 2432232314}',
      [secret],
      1_614_265_330_000,
    );
    expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  test('has a secret of 24 to 64 bytes', () => {
    expect(printSecret(newSecret())).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  });
});
