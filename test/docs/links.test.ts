import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { anchorsOf, linksOf, markdownFiles, ROOT, readDocument } from './markdown.ts';

test('every relative link and anchor of every document leads to an existing target', () => {
  const documents = markdownFiles();
  expect(documents).toEqual(expect.arrayContaining(['README.md', 'docs/quickstart.md']));
  const broken = documents.flatMap((document) =>
    linksOf(document)
      .filter(({ path, anchor }) => {
        if (!existsSync(join(ROOT, path))) return true;
        if (anchor === null) return false;
        return !path.endsWith('.md') || !anchorsOf(readDocument(path)).has(anchor);
      })
      .map(({ source }) => `${document}: ${source}`),
  );
  expect(broken).toEqual([]);
});

test('the README and the index of operations lead to every guide', () => {
  const reached = new Set<string>();
  const pending = ['README.md'];
  for (const document of pending) {
    if (reached.has(document)) continue;
    reached.add(document);
    for (const { path } of linksOf(document)) {
      if (path.endsWith('.md') && existsSync(join(ROOT, path))) pending.push(path);
    }
  }
  expect(markdownFiles().filter((path) => path.startsWith('docs/') && !reached.has(path))).toEqual([]);
});

test('a link to a missing anchor or file is found', () => {
  const links = linksOf(
    'docs/a.md',
    'See [one](b.md#two), [three](#four) and `[code](c.md)`.\n```\n[x](d.md)\n```\n',
  );
  expect(links.map(({ path, anchor }) => [path, anchor])).toEqual([
    ['docs/b.md', 'two'],
    ['docs/a.md', 'four'],
  ]);
  expect([...anchorsOf('# A `b` c-d, e\n## Same\n## Same\n```\n# no\n```\n')]).toEqual([
    'a-b-c-d-e',
    'same',
    'same-1',
  ]);
});

test('README and guides stay within their length', () => {
  const lines = (path: string) => readDocument(path).trimEnd().split('\n').length;
  // One screen, without a table wider than one.
  expect(lines('README.md')).toBeLessThanOrEqual(60);
  expect(readDocument('README.md')).not.toMatch(/^\|.{100,}/m);
  expect(lines('bench/README.md')).toBeLessThanOrEqual(120);
  const readmes = markdownFiles().filter((path) => /^[a-z]+(\/.*)?\/README\.md$/.test(path));
  expect(readmes.length).toBeGreaterThan(10);
  expect(readmes.filter((path) => lines(path) > 120)).toEqual([]);
});
