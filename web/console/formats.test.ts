import { expect, test } from 'vitest';
import { formatMoney, formatPlanned, shortMoney } from './formats.ts';

test('formats money with the decimals of the ledger', () => {
  expect(formatMoney(1.5, 'usd')).toMatch(/1[.,]50/);
  expect(formatMoney(12.75, 'rsd')).toMatch(/12[.,]75/);
  expect(formatMoney(1.125, 'iqd')).toMatch(/1[.,]125/);
  expect(formatMoney(500, 'jpy')).toMatch(/500(?![.,]\d)/);
});

test('writes money on an axis with its currency, also parts of a cent', () => {
  const written = [0, 0.053, 12.5, 12_400, 3_000_000].map(shortMoney('usd'));
  for (const [nth, digits] of ['0', '0.053', '12.5', '12.4', '3'].entries()) {
    expect(written[nth]).toContain('$');
    expect(written[nth]?.replace(',', '.')).toContain(digits);
  }
});

test('says of something planned when it takes place, and nothing else once its time has come', () => {
  const now = Date.parse('2026-11-26T05:00:00Z');
  const at = (seconds: number) => new Date(now + seconds * 1_000).toISOString();
  expect(formatPlanned(at(300), now)).toMatch(/in 5/);
  for (const seconds of [0.7, 0.3, 0, -0.3, -5, -4_000]) {
    expect(formatPlanned(at(seconds), now)).toBe('under way');
  }
});
