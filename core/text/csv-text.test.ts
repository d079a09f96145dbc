import { expect, test } from 'vitest';
import { refusedCsv } from '../../web/console/pages/links/import/refused-csv.ts';
import { csvRows } from '../link-imports/csv-rows.ts';
import { hoplog } from '../link-imports/formats/hoplog.ts';
import { jsonRows } from '../link-imports/json-rows.ts';
import { passwordOf } from '../link-imports/meaning/password.ts';
import type { ReadRow } from '../link-imports/source-row.ts';
import { csvText, textCell } from './csv-text.ts';

const COLUMNS = ['destination_url', 'name', 'external_id', 'utm_campaign', 'password'];

async function* piecesOf(text: string): AsyncGenerator<string> {
  yield text;
}

/** What an import makes of the rows: their create bodies. */
async function bodiesIn(rows: AsyncIterable<ReadRow>): Promise<Record<string, unknown>[]> {
  const bodies: Record<string, unknown>[] = [];
  for await (const row of rows) {
    if ('problem' in row) throw row.problem;
    const password = passwordOf(row);
    const more = password && 'clear' in password ? { password: password.clear } : {};
    bodies.push(...hoplog.read(row).map(({ body }) => ({ ...body, ...more })));
  }
  return bodies;
}

const imported = (csv: string, delimiter = ',') =>
  bodiesIn(csvRows(piecesOf(csv.replace('\uFEFF', '')), { delimiter, firstLine: 1 }));

test.each([
  ['+1 offer', '-7', '=x'],
  ['@home', "'-7", "''=x"],
  ["'quoted'", "'", '1+1'],
])(
  'texts are the same after an export and an import: %s, %s, %s',
  async (name, external_id, utm_campaign) => {
    const destination_url = 'https://shop.example/';
    const texts = [name, external_id, utm_campaign].map(textCell);
    const [body] = await imported(csvText(COLUMNS, [[destination_url, ...texts, '']]));
    expect(body).toEqual({ destination_url, name, external_id, utm_campaign });
  },
);

test('no cell starts like a formula', () => {
  for (const text of ['=x', '+1', '-7', '@a', '\tx', '\rx']) expect(textCell(text)).toBe(`'${text}`);
});

test('refused rows of an export can be imported again', async () => {
  const header = { text: 'destination_url;name;external_id', delimiter: ';' };
  const refused = {
    line: 2,
    link: null,
    field: 'slug',
    message: 'is taken',
    row: "https://shop.example/;'+1 offer;'-7",
  };
  expect(await imported(refusedCsv({ header }, [refused]), ';')).toEqual([
    { destination_url: 'https://shop.example/', name: '+1 offer', external_id: '-7' },
  ]);
});

test('keeps apostrophes of passwords and JSON', async () => {
  const csv = csvText(COLUMNS, [['https://shop.example/', 'A', '', '', "'=secret"]]);
  expect(await imported(csv)).toMatchObject([{ password: "'=secret" }]);
  const json = JSON.stringify([{ destination_url: 'https://shop.example/', name: "'+1" }]);
  expect(await bodiesIn(jsonRows(piecesOf(json)))).toMatchObject([{ name: "'+1" }]);
});
