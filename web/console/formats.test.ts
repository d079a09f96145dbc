import { expect, test } from 'vitest';
import { formatMoney } from './formats.ts';

test('formats money with the decimals of the ledger', () => {
  expect(formatMoney(1.5, 'usd')).toMatch(/1[.,]50/);
  expect(formatMoney(12.75, 'rsd')).toMatch(/12[.,]75/);
  expect(formatMoney(1.125, 'iqd')).toMatch(/1[.,]125/);
  expect(formatMoney(500, 'jpy')).toMatch(/500(?![.,]\d)/);
});
