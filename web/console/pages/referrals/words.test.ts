import { expect, test } from 'vitest';
import { totalsText } from './words.ts';

test('totals are amounts of money, and without any the zero of the workspace', () => {
  expect(totalsText({ usd: 40 }, 'usd')).toMatch(/40\.00/);
  expect(totalsText({}, 'usd')).toMatch(/\$0\.00$/);
  expect(totalsText({}, 'jpy')).not.toContain('.');
  expect(totalsText({ usd: 12, jpy: 500 }, 'usd')).toMatch(/12\.00 and .*500$/);
});
