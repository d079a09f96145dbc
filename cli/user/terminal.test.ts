import jsQr from 'jsqr';
import { expect, test } from 'vitest';
import type { AnalyticsResult } from '../../sdk/typescript/src/generated/types.ts';
import { cell, table } from '../output.ts';
import { bar } from './figures.ts';
import { queryFilter } from './query-request.ts';
import { queryCsv, queryTable } from './query-table.ts';
import { terminalQr } from './terminal-qr.ts';

const window = { from: '2026-11-01T00:00:00.000Z', to: '2026-11-30T00:00:00.000Z' };
const result: AnalyticsResult = {
  window,
  rows: [
    { dimensions: { country: 'DE' }, metrics: { clicks: 1_200, revenue: 10.5, conversion_rate: 0.02 } },
    { dimensions: { country: null }, metrics: { clicks: 300, revenue: 0, conversion_rate: 0.0145 } },
    { dimensions: { country: '=1' }, metrics: { clicks: 1, revenue: 21, conversion_rate: null } },
  ],
  totals: { clicks: 1_501, revenue: 31.5, conversion_rate: 0.017 },
  total_rows: 3,
  watermark: window.to,
};
const query = {
  metrics: ['clicks' as const, 'revenue' as const, 'conversion_rate' as const],
  dimensions: ['country' as const],
};

test('a table of figures has a bar beside each, as wide as the terminal allows', () => {
  const shown = queryTable({ query, result, currency: 'usd' }, 80);
  expect(shown.split('\n')).toEqual([
    'country    clicks            revenue (usd)            conversion_rate',
    'DE          1,200  ████████          10.50  ████                2.00%  ████████',
    '(unknown)     300  ██                 0.00                      1.45%  █████▊',
    '=1              1  ▏                 21.00  ████████                -',
    'total       1,501                    31.50                      1.70%',
  ]);
});

test('without a terminal, or on a narrow one, there are no bars', () => {
  const plain = queryTable({ query, result, currency: 'jpy' }, null);
  expect(plain).toContain('DE          1,200             11            2.00%');
  expect(queryTable({ query, result, currency: 'jpy' }, 50)).toBe(plain);
});

test('CSV has figures as numbers, and no cell that a spreadsheet runs', () => {
  expect(queryCsv({ query, result })).toBe(
    "country,clicks,revenue,conversion_rate\r\nDE,1200,10.5,0.02\r\n,300,0,0.0145\r\n'=1,1,21,\r\n",
  );
});

test('a bar is as long as its share, and never empty for a figure above zero', () => {
  expect([bar(1, 4), bar(0.5, 4), bar(0.001, 4), bar(0, 4), bar(2, 4)]).toEqual([
    '████',
    '██',
    '▏',
    '',
    '████',
  ]);
});

test('columns stay aligned beside letters that take two columns', () => {
  expect(
    table(
      ['name', 'n'],
      [
        ['日本', '1'],
        ['Tee', '22'],
      ],
      [1],
    ),
  ).toBe('name   n\n日本   1\nTee   22');
  expect([cell('東京タワー', 6), cell('🎉🎉🎉', 4), cell('\u001b[2J', 12)]).toEqual([
    '東京… ',
    '🎉… ',
    '\\u001b[2J   ',
  ]);
});

test('filters have an operator, and commas within values are escaped', () => {
  expect(queryFilter('country!=DE,AT')).toEqual([
    { dimension: 'country', operator: 'is_not', values: ['DE', 'AT'] },
  ]);
  expect(queryFilter('campaign~a\\,b')).toEqual([
    { dimension: 'campaign', operator: 'contains', values: ['a,b'] },
  ]);
  expect(queryFilter('city=', queryFilter('day=2026-11-01'))).toEqual([
    { dimension: 'time:day', operator: 'is', values: ['2026-11-01'] },
    { dimension: 'city', operator: 'is_empty' },
  ]);
  expect(() => queryFilter('country')).toThrow(/must be a dimension, one of/);
});

test('the QR code of a terminal leads to the link', () => {
  const lines = terminalQr('https://go.example.com/tea').split('\n');
  const rows = lines.flatMap((line) => {
    // The characters between the two sequences of colors.
    const characters = [...line.slice(line.indexOf('m') + 1, line.lastIndexOf('\u001b'))];
    return [characters.map((one) => '█▀'.includes(one)), characters.map((one) => '█▄'.includes(one))];
  });
  const scale = 4;
  const side = (rows[0]?.length ?? 0) * scale;
  const pixels = new Uint8ClampedArray(side * side * 4).fill(255);
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) {
      const isDark = rows[Math.floor(y / scale)]?.[Math.floor(x / scale)];
      if (isDark) pixels.fill(0, (y * side + x) * 4, (y * side + x) * 4 + 3);
    }
  }
  const decode = jsQr as unknown as (
    data: Uint8ClampedArray,
    width: number,
    height: number,
  ) => { data: string } | null;
  expect(decode(pixels, side, side)?.data).toBe('https://go.example.com/tea?qr=1');
});
