import { expect, test } from 'vitest';
import { ApiFailure } from '../../api/failures.ts';
import { bodyOf, type Draft, effectsOf, originsError, originsIn } from './publishable-draft.ts';

const BEFORE: Draft = { identity_verification: 'off', payout_hold_days: '3', allowed_origins: '' };

test.each([
  ['shop.example', ['https://shop.example']],
  ['https://shop.example/cart?item=1#top', ['https://shop.example']],
  [' HTTPS://Shop.Example:443/ \n"https://shop.example"\n', ['https://shop.example']],
  ['http://localhost:3000, capacitor://localhost', ['http://localhost:3000', 'capacitor://localhost']],
  // Text that is not an origin is sent as it is, so that the API names it.
  ['https://*.shop.example', ['https://*.shop.example']],
  ['null', ['null']],
  [' \n', []],
])('%j names the origins %j', (text, origins) => {
  expect(originsIn(text)).toEqual(origins);
});

test('the body has what changed, as the API takes it', () => {
  expect(bodyOf(BEFORE, { ...BEFORE, payout_hold_days: ' 7 ' })).toEqual({ payout_hold_days: 7 });
  expect(bodyOf(BEFORE, { ...BEFORE, payout_hold_days: 'soon' })).toEqual({ payout_hold_days: 'soon' });
  const named = { ...BEFORE, allowed_origins: 'https://shop.example' };
  expect(bodyOf(named, { ...named, allowed_origins: 'shop.example' })).toEqual({});
  expect(bodyOf(named, { ...named, allowed_origins: '' })).toEqual({ allowed_origins: [] });
});

test('a change of the origins says whom it refuses, and whether the own site is among them', () => {
  const effects = (text: string) => effectsOf(BEFORE, { ...BEFORE, allowed_origins: text }, 'shop.example');
  expect(effects('https://other.example')[0]).toMatch(
    /other than https:\/\/other\.example are refused.* None of these origins is on your own site, shop\.example\.$/,
  );
  expect(effects('https://www.shop.example')[0]).not.toContain('own site');
});

test('a wrong origin is named as it was sent', () => {
  const failure = (path: string) =>
    new ApiFailure(400, {
      code: 'bad_request',
      message: 'wrong',
      details: [{ path, message: 'must be an origin' }],
    });
  const sent = { allowed_origins: ['https://shop.example', 'https://*.shop.example'] };
  expect(originsError(failure('allowed_origins.1'), sent)).toBe(
    '“https://*.shop.example” must be an origin.',
  );
  expect(originsError(failure('allowed_origins'), sent)).toBe('Allowed origins must be an origin.');
  expect(originsError(failure('payout_hold_days'), sent)).toBe(null);
});
