import { expect } from 'vitest';
import { charactersThatFoldInto, foldCase } from '../../core/text/fold-case.ts';
import { storesTest as test } from '../../test/support/fixtures.ts';
import { conditionsSql } from './click-conditions.ts';
import { runQuery } from './run-query.ts';

/** The code point as UTF-8, which `char` takes byte by byte. */
const CHARACTER = `multiIf(
  point < 0x80, char(point),
  point < 0x800, char(0xC0 + intDiv(point, 64), 0x80 + point % 64),
  point < 0x10000, char(0xE0 + intDiv(point, 4096), 0x80 + intDiv(point, 64) % 64, 0x80 + point % 64),
  char(0xF0 + intDiv(point, 262144), 0x80 + intDiv(point, 4096) % 64, 0x80 + intDiv(point, 64) % 64, 0x80 + point % 64)
)`;

test('ClickHouse folds the case of every code point as `foldCase` does', async ({ stores }) => {
  const rows = await runQuery<{ point: string; folded: string }>(stores.clickhouse, {
    sql: `SELECT toString(number) AS point, caseFoldUTF8(one) AS folded
          FROM (SELECT number, number AS point, ${CHARACTER} AS one FROM numbers(0x110000)
                WHERE number NOT BETWEEN 0xD800 AND 0xDFFF)
          WHERE folded != one ORDER BY number`,
    params: {},
    seconds: 60,
  });
  const theirs = new Map(rows.map(({ point, folded }) => [Number(point), folded]));
  const differing: [point: string, ours: string, theirs: string][] = [];
  for (let point = 0; point < 0x110000; point++) {
    if (point >= 0xd800 && point <= 0xdfff) continue;
    const one = String.fromCodePoint(point);
    const folded = theirs.get(point) ?? one;
    if (foldCase(one) !== folded) differing.push([point.toString(16), foldCase(one), folded]);
  }
  expect(differing).toEqual([]);
  expect(theirs.size).toBeGreaterThan(1_400);
});

test('lower case decides, unless a text has one of the characters that fold into a part', () => {
  const unlike = new Set(charactersThatFoldInto([...'abcdefghijklmnopqrstuvwxyz'].map(foldCase)));
  const missing: string[] = [];
  for (let point = 0; point < 0x110000; point++) {
    const one = String.fromCodePoint(point);
    const lower = one.toLowerCase();
    // Most characters have no case.
    if (lower === one && one.toUpperCase() === one) continue;
    const folded = foldCase(one);
    if (lower === folded) continue;
    if (!charactersThatFoldInto([folded]).includes(lower)) missing.push(point.toString(16));
    if (/[a-z]/.test(folded) && !unlike.has(lower)) missing.push(point.toString(16));
  }
  expect(missing).toEqual([]);
  expect(charactersThatFoldInto(['red'])).toEqual([]);
  expect(charactersThatFoldInto(['sale']).sort()).toEqual(['ß', 'ſ'].sort());
  // `ß` folds to `ss`, which may cross the end of a part; `ﬃ` may contain the part.
  expect(charactersThatFoldInto(['as'])).toEqual(expect.arrayContaining(['ß', 'ﬆ', 'ſ']));
  expect(charactersThatFoldInto(['f'])).toEqual(expect.arrayContaining(['ﬃ']));
});

const WORDS = [
  'Straße',
  'STRASSE',
  'ﬁsch',
  'Οδός',
  'ΟΔΌΣ',
  'Ꭰꭰ',
  'İz',
  'eﬃcient',
  'ſtrasse',
  'Maß',
  'ΐ',
  'plain',
];
const PARTS = ['strasse', 'ss', 'as', 's', 'fi', 'f', 'ici', 'οδόσ', 'σ', 'Ꭰ', 'z', 'mass', 'ΐ', 'lai', 'x'];

test.for(PARTS)('a filter on texts that contain %s finds what `foldCase` finds', async (part, { stores }) => {
  const { sql, params } = conditionsSql([
    { kind: 'text', dimension: 'city', operator: 'contains', values: [part] },
  ]);
  const rows = await runQuery<{ city: string }>(stores.clickhouse, {
    sql: `SELECT city FROM (SELECT toLowCardinality(arrayJoin({words:Array(String)})) AS city) WHERE true ${sql}`,
    params: { ...params, words: WORDS },
    seconds: 20,
  });
  expect(rows.map(({ city }) => city).sort()).toEqual(
    WORDS.filter((word) => foldCase(word).includes(foldCase(part))).sort(),
  );
});

test('texts fold as their characters do', () => {
  expect(foldCase('Große STRASSE ẞ')).toBe('grosse strasse ss');
  expect(foldCase('ΣΑΣ σας')).toBe('σασ σασ');
  expect(foldCase('İI ıi')).toBe('i̇i ıi');
});
