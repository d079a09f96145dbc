import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { buildWeb, CONSOLE_DIR, CONSOLE_MANIFEST, type ConsoleManifest, DIST_DIR } from './build.ts';

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

test('the console loads at first what its first page needs, and has the styles of what it uses', async () => {
  await buildWeb();
  const read = (name: string) => readFile(join(CONSOLE_DIR, name), 'utf8');
  const manifest = JSON.parse(await read(CONSOLE_MANIFEST)) as ConsoleManifest;
  const first = await Promise.all([manifest.script, ...manifest.imports].map(read));
  const all = await Promise.all(
    (await readdir(CONSOLE_DIR)).filter((name) => name.endsWith('.js')).map(read),
  );
  const styles = (await Promise.all(manifest.styles.map(read))).join('');
  const classesOf = async (component: string) => {
    const path = fileURLToPath(import.meta.resolve(`@mantine/core/styles/${component}.css`));
    return new Set((await readFile(path, 'utf8')).match(/\bm_[0-9a-f]{6,8}\b/g));
  };
  for (const name of await classesOf('Button')) {
    expect(first.join(), name).toContain(name);
    expect(styles, name).toContain(name);
  }
  for (const name of await classesOf('Switch')) {
    expect(first.join(), name).not.toContain(name);
    expect(all.join(), name).toContain(name);
    expect(styles, name).toContain(name);
  }
  for (const name of await classesOf('Stepper')) {
    expect(all.join(), name).not.toContain(name);
    expect(styles, name).not.toContain(name);
  }
});
