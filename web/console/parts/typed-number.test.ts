import { expect, test } from 'vitest';
import { typedNumber } from './typed-number.ts';

test.each([
  ['12.5', 12.5],
  [' 7. ', 7],
  ['.5', 0.5],
  ['-3', -3],
  ['1,250', '1,250'],
  ['12x', '12x'],
  ['', ''],
  ['1e3', '1e3'],
])('the field "%s" is sent as %j', (text, sent) => {
  expect(typedNumber(text)).toBe(sent);
});
