import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { linksOf, markdownFiles, readDocument, tableRows } from '../test/docs/markdown.ts';

/** Columns of measurements; others contain targets and words. */
const MEASURED = ['Hoplog', 'Beside it', 'Measured', 'Clicks a second'];

/** Returns the numbers of a text in the format of results: `67,911`, `0.91`, but not that of `p99`. */
const numbersIn = (text: string) =>
  [...text.matchAll(/(?<![\w.,])\d[\d,]*(?:\.\d+)?(?![\w.])/g)].map(([one]) => one);

/** Rows of all documents that link a file of `results/`. */
const rows = markdownFiles().flatMap((document) =>
  tableRows(readDocument(document)).flatMap((row) => {
    const result = linksOf(document, row.get('Result') ?? '').find(({ path }) =>
      path.startsWith('bench/results/'),
    );
    return result ? [{ document, row, result: result.path }] : [];
  }),
);

test('the tables of performance and of bench link their results', () => {
  const documents = Map.groupBy(rows, ({ document }) => document);
  expect(documents.get('docs/performance.md')?.length).toBeGreaterThan(10);
  expect(documents.get('bench/README.md')?.length).toBeGreaterThan(10);
  for (const document of ['docs/performance.md', 'bench/README.md']) {
    const measured = tableRows(readDocument(document)).filter((row) =>
      MEASURED.some((name) => row.has(name)),
    );
    expect(measured.every((row) => row.get('Result')?.includes('results/'))).toBe(true);
  }
});

test.each(rows)('$document: every figure of a row is in $result', ({ row, result }) => {
  const measured = new Set(numbersIn(readDocument(result)));
  const figures = MEASURED.flatMap((name) => numbersIn(withoutCode(row.get(name) ?? '')));
  expect(figures, basename(result)).not.toEqual([]);
  expect(figures.filter((figure) => !measured.has(figure))).toEqual([]);
});

function withoutCode(text: string): string {
  return text.replace(/`[^`]*`/g, '');
}
