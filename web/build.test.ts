import { readdir, readFile, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { parse } from 'acorn';
import { expect, test } from 'vitest';
import { buildWeb, CONSOLE_DIR, CONSOLE_MANIFEST, type ConsoleManifest, DIST_DIR } from './build.ts';
import { readInputs } from './bundling/inputs.ts';
import { buildScripts } from './bundling/scripts.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

test('the pixel is one small script without imports', async () => {
  await buildWeb();
  const script = await readFile(join(DIST_DIR, 'pixel.js'));
  expect(gzipSync(script).length).toBeLessThanOrEqual(3_072);
  expect(script.toString().split('\n')[0]).toBe('//# allFunctionsCalledOnLoad');
  expect(script.toString()).not.toMatch(/\bimport\b|\bexport\b|sourceMappingURL/);
});

test('the pixel runs in browsers of 2018', async () => {
  await buildWeb();
  const script = await readFile(join(DIST_DIR, 'pixel.js'), 'utf8');
  expect(parse(script, { ecmaVersion: 2018 }).body.length).toBeGreaterThan(0);
});

test('a build within a test is that of a release', async () => {
  expect(process.env.NODE_ENV).toBe('test');
  const { files } = await buildScripts(join(ROOT, 'web/'));
  const page = files.find(({ path }) => path === 'embed-page.js');
  expect(String(page?.content).length).toBeGreaterThan(10_000);
  // JSX for development names the line of each element.
  expect(String(page?.content)).not.toContain('lineNumber:');
});

test('a build of the same inputs writes nothing, also when a source has a new date', async () => {
  await buildWeb();
  const before = await stat(join(DIST_DIR, 'pixel.js'));
  const now = new Date();
  await utimes(join(ROOT, 'web/pixel/pixel.ts'), now, now);
  expect(await buildWeb()).toBe(false);
  expect((await stat(join(DIST_DIR, 'pixel.js'))).mtimeMs).toBe(before.mtimeMs);
});

test('the inputs are the sources of web and of core that were read, and the packages', async () => {
  await buildWeb();
  const { outside } = JSON.parse(await readFile(join(DIST_DIR, 'inputs.json'), 'utf8'));
  expect(outside.filter((path: string) => !/^core\/.*\.ts$/.test(path))).toEqual([]);
  expect(outside.length).toBeGreaterThan(3);
  const { hash } = await readInputs(ROOT, outside);
  expect((await readInputs(ROOT, outside.slice(1))).hash).not.toBe(hash);
  expect((await readInputs(ROOT, [...outside, 'core/README.md'])).hash).not.toBe(hash);
});

test('the console loads at first what its first page needs, and other components with their pages', async () => {
  await buildWeb();
  const read = (name: string) => readFile(join(CONSOLE_DIR, name), 'utf8');
  const manifest = JSON.parse(await read(CONSOLE_MANIFEST)) as ConsoleManifest;
  const written = await readdir(CONSOLE_DIR);
  expect(written.filter((name) => /\.(js|css|svg)$/.test(name)).sort()).toEqual(manifest.files.toSorted());
  const first = (await Promise.all([manifest.script, ...manifest.imports].map(read))).join();
  const all = (await Promise.all(manifest.files.filter((name) => name.endsWith('.js')).map(read))).join();
  const classesOf = async (component: string) => {
    const path = fileURLToPath(import.meta.resolve(`@mantine/core/styles/${component}.css`));
    return [...new Set((await readFile(path, 'utf8')).match(/\bm_[0-9a-f]{6,8}\b/g))];
  };
  const foundIn = async (component: string, scripts: string) =>
    (await classesOf(component)).map((name) => scripts.includes(name));
  expect(await foundIn('Button', first)).not.toContain(false);
  expect(await foundIn('Switch', first)).not.toContain(true);
  expect(await foundIn('Switch', all)).not.toContain(false);
  expect(await foundIn('Timeline', all)).not.toContain(true);
});
