import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
/** The numbers of a text as results print them: `67,911`, `0.91`. Not those of `p99`. */
const numbersIn = (text: string) =>
  [...text.matchAll(/(?<![\w.,])\d[\d,]*(?:\.\d+)?(?![\w.])/g)].map(([one]) => one);

test('every figure of the README stands in the results of its command', () => {
  const section = read('../README.md').split('\n## Measured\n')[1]?.split('\n## ')[0] ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('|'));
  expect(rows.length).toBeGreaterThan(5);
  for (const row of rows.slice(2)) {
    const [, what = '', own = '', beside = '', command = ''] = row.split('|');
    const name = /`node bench\/([a-z-]+)\.ts`/.exec(command)?.[1];
    const measured = new Set(numbersIn(read(`results/${name}.txt`)));
    const figures = numbersIn(`${own} ${beside}`);
    expect(numbersIn(own), what).not.toEqual([]);
    expect(
      figures.filter((figure) => !measured.has(figure)),
      what,
    ).toEqual([]);
  }
});
