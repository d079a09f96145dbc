import { expect, test } from 'vitest';
import { keyMatches, mintKey, parseKey } from './keys.ts';

test('a new key has the public form, names its kind and matches only its own hash', () => {
  for (const [kind, prefix] of [
    ['secret', 'lk'],
    ['publishable', 'pk'],
    ['partner', 'pt'],
  ] as const) {
    const key = mintKey(kind);
    expect(key.token).toMatch(new RegExp(`^${prefix}_live_[0-9a-f]{8}_[0-9a-f]{48}$`));
    expect(parseKey(key.token)).toEqual({ kind, lookup: key.lookup });
    expect(keyMatches(key.token, key.hash)).toBe(true);
    expect(keyMatches(mintKey(kind).token, key.hash)).toBe(false);
  }
});

test('text without the form of a key is rejected', () => {
  for (const text of ['', 'lk_live_', 'lk_test_00000000_', `sk_live_00000000_${'0'.repeat(48)}`]) {
    expect(parseKey(text)).toBeNull();
  }
});
