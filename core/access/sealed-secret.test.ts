import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createSecretSealer } from './sealed-secret.ts';

const key = randomBytes(32);

test('a sealed secret opens with its key, purpose and owner only', () => {
  const sealer = createSecretSealer(key, 'connections');
  const sealed = sealer.seal('whsec_é', 'row-1');
  expect(sealer.open(sealed, 'row-1')).toBe('whsec_é');
  expect(createSecretSealer(key, 'connections').open(sealed, 'row-1')).toBe('whsec_é');
  expect(sealed.includes('whsec')).toBe(false);
  expect(() => sealer.open(sealed, 'row-2')).toThrow();
  expect(() => createSecretSealer(key, 'fulfilments').open(sealed, 'row-1')).toThrow();
  expect(() => createSecretSealer(randomBytes(32), 'connections').open(sealed, 'row-1')).toThrow();
});

test('a changed byte does not open', () => {
  const sealer = createSecretSealer(key, 'connections');
  for (let at = 0; at < 30; at++) {
    const sealed = sealer.seal('secret', 'row');
    sealed[at] = (sealed[at] ?? 0) ^ 1;
    expect(() => sealer.open(sealed, 'row')).toThrow();
  }
});

test('one secret is sealed to other bytes each time', () => {
  const sealer = createSecretSealer(key, 'connections');
  expect(sealer.seal('secret', 'row').equals(sealer.seal('secret', 'row'))).toBe(false);
});
