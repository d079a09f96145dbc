import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { filesOf, linksOf, markdownFiles, ROOT, readDocument, tableRows, withoutBlocks } from './markdown.ts';

/** Returns every code span and block of a document, with its file. */
function codeOf(path: string): string[] {
  const text = readDocument(path);
  const blocks = [...text.matchAll(/^```[^\n]*\n(.*?)^```/gms)].map(([, code = '']) => code);
  return [...blocks, ...[...withoutBlocks(text).matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code)];
}

test('every source file and folder that a document names exists', () => {
  const missing = markdownFiles().flatMap((document) => {
    const spans = [...withoutBlocks(readDocument(document)).matchAll(/`([^`\n]+)`/g)].map(
      ([, code = '']) => code,
    );
    const paths = spans.filter((code) => /^[\w./@-]+(\.(ts|tsx|sql|sh|avsc|css|md|mjs)|[a-z]\/)$/.test(code));
    return paths
      .filter((path) => !path.startsWith('/') && !path.includes('NNNN') && !isGenerated(path))
      .filter((path) => !candidates(document, path).some((file) => existsSync(join(ROOT, file))))
      .map((path) => `${document}: ${path}`);
  });
  expect(missing).toEqual([]);
});

/** Paths that a name may refer to: from the document's folder or from the root. */
function candidates(document: string, path: string): string[] {
  return [join(dirname(document), path), path];
}

/** Output of a build or a run, which is not in the checkout. */
function isGenerated(path: string): boolean {
  return (
    /^(\.\.\/)*(web\/)?dist\/|^(DATA_DIR|data|damage|node_modules)\b/.test(path) || path.includes('DATA_DIR')
  );
}

test('every metric that a document or an alert names is one that a process exposes', () => {
  const sources = filesOf(isProductSource).map(readDocument).join('\n');
  const unknown = [...markdownFiles(), 'deploy/prometheus/alerts.yml'].flatMap((path) =>
    [...readDocument(path).matchAll(/\bhoplog_[a-z_]+[a-z]\b/g)]
      .map(([name]) => name)
      .filter((name) => !sources.includes(name.replace(/_(count|sum|bucket)$/, '')))
      .map((name) => `${path}: ${name}`),
  );
  expect(unknown).toEqual([]);
});

test('every setting that a guide names is one that the sources or the deployment name', () => {
  const known = filesOf((path) => /\.(ts|sh|yml|example)$/.test(path) && !/^(bench|web)\//.test(path))
    .map(readDocument)
    .join('\n');
  const unknown = markdownFiles()
    .filter((path) => !/^(bench|clickhouse)\//.test(path))
    .flatMap((path) =>
      codeOf(path)
        .flatMap((code) => [...code.matchAll(/^([A-Z][A-Z0-9]*_[A-Z0-9_]+)(?==|$)/gm)])
        .map(([, name = '']) => name)
        .filter(
          (name) =>
            !new RegExp(`\\b${name}\\b`).test(known) &&
            !isShellVariable(path, name) &&
            !FOREIGN_SETTING.test(name),
        )
        .map((name) => `${path}: ${name}`),
    );
  expect(unknown).toEqual([]);
});

/** Settings of other programs: a library, and n8n. */
const FOREIGN_SETTING = /^(TESTCONTAINERS_|NODE_FUNCTION_ALLOW_BUILTIN$)/;

/** A variable that a document's own commands set and use. */
function isShellVariable(path: string, name: string): boolean {
  return readDocument(path).includes(`$${name}`);
}

function isProductSource(path: string): boolean {
  return path.endsWith('.ts') && !path.endsWith('.test.ts') && !/^(test|bench|web)\//.test(path);
}

test('every command of npm and of bench that a document names exists', () => {
  const { scripts } = JSON.parse(readDocument('package.json')) as { scripts: Record<string, string> };
  const missing = markdownFiles().flatMap((path) =>
    codeOf(path).flatMap((code) => [
      ...[...code.matchAll(/npm run (?:--silent )?([a-z:]+)/g)]
        .filter(([, name = '']) => !scripts[name])
        .map(([command]) => `${path}: ${command}`),
      ...[...code.matchAll(/\bnode ((?:bench|test|examples|\.ci)\/[\w./-]+\.ts)/g)]
        .filter(([, file = '']) => !existsSync(join(ROOT, file)))
        .map(([command]) => `${path}: ${command}`),
    ]),
  );
  expect(missing).toEqual([]);
});

test.each(['docs/guarantees.md', 'docs/operations/failures.md'])(
  'every row of %s links tests that run',
  (path) => {
    const rows = tableRows(readDocument(path));
    expect(rows.length).toBeGreaterThan(10);
    for (const row of rows.filter((one) => one.has('Test') || one.has('Tests'))) {
      const cells = [...row.values()];
      const tests = linksOf(path, cells.at(-1) ?? '').filter((link) => link.path.endsWith('.test.ts'));
      expect(tests, cells[0]).not.toEqual([]);
      for (const { path: file } of tests) {
        expect(existsSync(join(ROOT, file)), file).toBe(true);
        expect(runningTests(file), file).toBeGreaterThan(0);
      }
    }
  },
);

/** Counts the tests of a file that are neither commented out nor permanently skipped. */
function runningTests(path: string): number {
  const code = readDocument(path).replace(/^\s*(\/\/|\/?\*).*$/gm, '');
  return [
    ...code.matchAll(
      /^\s*(?:test|it|[a-z]\w*Test)(?:\.(?:each|for|concurrent|sequential|skipIf|runIf))*[(`<]/gm,
    ),
  ].length;
}
