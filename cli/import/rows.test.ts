import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { csvRows } from '../../core/link-imports/csv-rows.ts';
import { jsonRows } from '../../core/link-imports/json-rows.ts';
import type { ReadRow } from '../../core/link-imports/source-row.ts';
import { openTextFile, readText } from './text-file.ts';

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-rows-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Returns each row with its line, or the error. */
async function read(content: string | Buffer): Promise<[number, Record<string, unknown> | string][]> {
  const path = join(directory, 'links');
  writeFileSync(path, content);
  const file = await openTextFile(path);
  const text = readText(file, () => undefined);
  return collect(file.content.kind === 'json' ? jsonRows(text) : csvRows(text, file.content));
}

async function collect(rows: AsyncIterable<ReadRow>): Promise<[number, Record<string, unknown> | string][]> {
  const all: [number, Record<string, unknown> | string][] = [];
  for await (const row of rows) all.push([row.line, 'problem' in row ? row.problem.message : row.values]);
  return all;
}

/** Yields a text in chunks of `size` characters. */
async function* inPieces(text: string, size: number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}

const TWO = [
  [2, { a: '1', b: 'x' }],
  [3, { a: '2', b: 'ü' }],
];

describe('CSV', () => {
  test.each([
    ['commas', 'a,b\n1,x\n2,ü\n'],
    ['semicolons', 'a;b\n1;x\n2;ü\n'],
    ['tabs', 'a\tb\n1\tx\n2\tü\n'],
    ['bars', 'a|b\n1|x\n2|ü\n'],
    ['no newline at the end', 'a,b\n1,x\n2,ü'],
    ['newlines of Windows', 'a,b\r\n1,x\r\n2,ü\r\n'],
    ['newlines of the first Macs', 'a,b\r1,x\r2,ü\r'],
    ['newlines of several kinds', 'a,b\r\n1,x\n2,ü\r'],
    ['a byte order mark', '\uFEFFa,b\n1,x\n2,ü\n'],
    ['quotes', '"a","b"\n"1","x"\n"2","ü"\n'],
    ['blanks around the names', ' a ,b \n1,x\n2,ü\n'],
    ['empty values behind the last column', 'a,b\n1,x,,\n2,ü\n'],
  ])('with %s is read', async (_, text) => {
    expect(await read(text)).toEqual(TWO);
  });

  test("in UTF-16, as Excel's Unicode text, is read", async () => {
    const little = Buffer.from('\uFEFFa\tb\r\n1\tx\r\n2\tü\r\n', 'utf16le');
    expect(await read(little)).toEqual(TWO);
    expect(await read(Buffer.from(little).swap16())).toEqual(TWO);
  });

  test("with Excel's delimiter line is read", async () => {
    expect(await read('sep=;\r\na;b\r\n1;x,y\r\n')).toEqual([[3, { a: '1', b: 'x,y' }]]);
  });

  test('a delimiter inside the quotes of the first line does not count', async () => {
    expect(await read('"a;;;;",b\n1,x\n')).toEqual([[2, { 'a;;;;': '1', b: 'x' }]]);
  });

  test.each([1, 2, 3, 7, 1_000])(
    'has quoted newlines, delimiters and quotes in its values, and lines by number, in pieces of %i',
    async (size) => {
      const text = 'a,b\r\n"x\r\ny","1,2"\r\n\r\n,\r\n"he said ""no""",z\r\n';
      const rows = csvRows(inPieces(text, size), { delimiter: ',', firstLine: 1 });
      expect(await collect(rows)).toEqual([
        [2, { a: 'x\ny', b: '1,2' }],
        [6, { a: 'he said "no"', b: 'z' }],
      ]);
    },
  );

  test('rows with too many or too few values are reported; the others are read', async () => {
    expect(await read('a,b\n1,2,3\n1\n4,5\n')).toEqual([
      [2, expect.stringMatching(/^has 3 values for 2 columns/)],
      [3, expect.stringMatching(/^has 1 values for 2 columns/)],
      [4, { a: '4', b: '5' }],
    ]);
  });

  test.each(['hello', 'a,b\n\n', '"text"'])('%j, which has no row, is no known export', async (text) => {
    await expect(read(text)).rejects.toThrow(/^no known export has these columns: /);
  });

  test('a header alone yields no rows', async () => {
    expect(await read('Destination URL;Short link\n')).toEqual([]);
  });

  test('a row that PostgreSQL cannot store is reported; the others are read', async () => {
    const rows = csvRows(inPieces('a,b\n1,x\0\n4,5\n', 100), { delimiter: ',', firstLine: 1 });
    expect(await collect(rows)).toEqual([
      [2, 'must not contain the NUL character'],
      [3, { a: '4', b: '5' }],
    ]);
  });

  test('a stray or unclosed quote is an error of its line, and takes no other row along', async () => {
    const unclosed = expect.stringMatching(/^a quote is not closed/);
    const stray = expect.stringMatching(/^has a quote inside a value/);
    expect(await read('a,b\n1,x\n2,"ü\n3,y\n')).toEqual([
      [2, { a: '1', b: 'x' }],
      [3, unclosed],
      [4, { a: '3', b: 'y' }],
    ]);
    expect(await read('a,b\n1,"x" y\n2,5" screen\n3,"z\n4,"w"\n5,v\n')).toEqual([
      [2, stray],
      [3, stray],
      [4, stray],
      [5, { a: '4', b: 'w' }],
      [6, { a: '5', b: 'v' }],
    ]);
  });

  test.each([1, 3, 4_096])(
    'a quote that is never closed loses no row around it, in pieces of %i',
    async (size) => {
      const good = Array.from({ length: 300 }, (_, n) => `${n},x\n`).join('');
      const text = `a,b\n${good}bad,"x\n${good}`;
      const rows = await collect(csvRows(inPieces(text, size), { delimiter: ',', firstLine: 1 }));
      expect(rows.map(([line]) => line)).toEqual(Array.from({ length: 601 }, (_, n) => n + 2));
      expect(rows.filter(([, row]) => typeof row === 'string')).toEqual([
        [302, expect.stringMatching(/^a quote is not closed/)],
      ]);
    },
  );

  test('a row longer than a million characters is an error of its line', async () => {
    const rows = await read(`a,b\n1,"${'x'.repeat(1_100_000)}"\n2,y\n`);
    expect(rows).toEqual([
      [2, expect.stringMatching(/more than 1048576 characters/)],
      [3, { a: '2', b: 'y' }],
    ]);
  });

  test('between tabs and bars nothing is quoted, and tabs have the escapes of mysql --batch', async () => {
    expect(await read('a\tb\n1\t"Hello" world\n2\t"open\n3\ta\\tb\\nc\\\\n\n')).toEqual([
      [2, { a: '1', b: '"Hello" world' }],
      [3, { a: '2', b: '"open' }],
      [4, { a: '3', b: 'a\tb\nc\\n' }],
    ]);
    expect(await read('a|b\n1|"x\n2|C:\\new\n')).toEqual([
      [2, { a: '1', b: '"x' }],
      [3, { a: '2', b: 'C:\\new' }],
    ]);
  });

  test('empty lines before the names of the columns count as lines', async () => {
    expect(await read('a,b\n\n1,x\n')).toEqual([[3, { a: '1', b: 'x' }]]);
    expect(await read('\n\na,b\n1,x\n')).toEqual([[4, { a: '1', b: 'x' }]]);
  });

  test('invalid UTF-8 becomes U+FFFD', async () => {
    expect(await read(Buffer.from('a,b\n1,caf\xe9\n', 'latin1'))).toEqual([[2, { a: '1', b: 'caf\uFFFD' }]]);
  });
});

describe('JSON', () => {
  const rows = [{ a: 1, b: { c: ['[', { d: '}' }] } }, { a: 'x"{\\' }, {}];

  test.each([
    ['an array', JSON.stringify(rows)],
    ['an array over many lines', JSON.stringify(rows, null, 2)],
    ['an object around it', JSON.stringify({ total: 3, shortUrls: { data: rows, pagination: { page: 1 } } })],
    ['several documents', rows.map((row) => JSON.stringify({ links: [row], page: {} })).join('\n')],
    ['a byte order mark', `\uFEFF${JSON.stringify(rows)}`],
  ])('with %s is read', async (_, text) => {
    expect((await read(text)).map(([, row]) => row)).toEqual(rows);
    for (const size of [1, 2, 5]) {
      expect((await collect(jsonRows(inPieces(text, size)))).map(([, row]) => row)).toEqual(rows);
    }
  });

  const tagged = { url: 'https://a.example', tags: [{ name: 'x' }], more: { list: [{}] } };
  const plain = { target: '[{', geo: null };

  test.each([
    ['a single object', JSON.stringify(tagged), [tagged]],
    ['a single object over many lines', JSON.stringify(tagged, null, 2), [tagged]],
    [
      'objects a line',
      [tagged, plain, tagged].map((row) => JSON.stringify(row)).join('\n'),
      [tagged, plain, tagged],
    ],
    ['objects parted by commas', `${JSON.stringify(plain)},${JSON.stringify(tagged)}`, [plain, tagged]],
    ['objects beside arrays', `${JSON.stringify(plain)}\n[${JSON.stringify(tagged)}]`, [plain, tagged]],
    [
      'a last page that is empty',
      `${JSON.stringify({ links: [tagged] })}\n{"data":{"links":[ ]},"total":0}`,
      [tagged],
    ],
    ['an object that is no link', '{"a":{"b":1}}', [{ a: { b: 1 } }]],
  ])('%s is read', async (_, text, expected) => {
    for (const size of [1, 2, 5, 1_000]) {
      expect((await collect(jsonRows(inPieces(text, size)))).map(([, row]) => row)).toEqual(expected);
    }
  });

  test('a value that is not an object is told apart from the rows', async () => {
    const stray = expect.stringMatching(/^must be an object: /);
    expect(await read('[1, "a b",\n{"a": 2}, null]\n{"url": 3}\ntrue')).toEqual([
      [1, stray],
      [1, stray],
      [2, { a: 2 }],
      [2, stray],
      [3, { url: 3 }],
      [4, stray],
    ]);
  });

  test('rows have the line on which they begin', async () => {
    expect((await read(JSON.stringify(rows, null, 1))).map(([line]) => line)).toEqual([2, 13, 16]);
  });

  test('a row that is not JSON is reported; the others are read', async () => {
    expect(await read('[{"a": 1},\n{"a": nothing},\n{"a": 2}]')).toEqual([
      [1, { a: 1 }],
      [2, expect.stringMatching(/^must be JSON: /)],
      [3, { a: 2 }],
    ]);
  });

  test('a truncated document ends the read after the rows before it', async () => {
    expect(await read('[{"a": 1},\n{"a": {"b"')).toEqual([
      [1, { a: 1 }],
      [2, expect.stringMatching(/the JSON is cut off/)],
    ]);
    expect((await read('[{"a": 1},')).length).toBe(2);
  });
});

describe('a file', () => {
  test.each([
    ['that does not exist', () => join(directory, 'nowhere'), /cannot read .*nowhere: ENOENT/],
    ['that is a directory', () => directory, /is not a file/],
    ['that is empty', () => written(''), /is empty/],
    ['of blanks', () => written(' \n\n'), /is empty/],
    ['that is not text', () => written(Buffer.from('PK\x03\x04\x00\x00', 'latin1')), /is not a text file/],
  ])('%s is refused', async (_, path, why) => {
    await expect(openTextFile(path())).rejects.toThrow(why);
  });

  test('is read to its last byte with progress', async () => {
    const content = `a,b\n${'1,ü\n'.repeat(50_000)}`;
    const file = await openTextFile(written(content));
    let bytes = 0;
    let text = '';
    const count = (more: number) => {
      bytes += more;
    };
    for await (const piece of readText(file, count)) text += piece;
    expect([text === content, bytes, file.size]).toEqual([true, Buffer.byteLength(content), bytes]);
  });

  function written(content: string | Buffer): string {
    const path = join(directory, 'refused');
    writeFileSync(path, content);
    return path;
  }
});
