import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { buildWeb, DIST_DIR } from './build.ts';

test('the pixel is one small script without imports', async () => {
  await buildWeb();
  const script = await readFile(join(DIST_DIR, 'pixel.js'));
  expect(gzipSync(script).length).toBeLessThan(2_048);
  expect(script.toString()).not.toMatch(/\bimport\b|\bexport\b|sourceMappingURL/);
});

test('a build with nothing to do writes nothing', async () => {
  await buildWeb();
  const before = await stat(join(DIST_DIR, 'pixel.js'));
  expect(await buildWeb()).toEqual([]);
  expect((await stat(join(DIST_DIR, 'pixel.js'))).mtimeMs).toBe(before.mtimeMs);
});
