import { execFileSync } from 'node:child_process';
import { copyFile, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

/**
 * Builds the package, as ES modules and for `require`, each with its types. `npm pack` does so first, here; another
 * folder gets the whole package:
 *
 *   node sdk/typescript/build.ts [FOLDER]
 */

const HERE = import.meta.dirname;
const ROOT = join(HERE, '../..');
const target = resolve(process.argv[2] ?? HERE);
const at = (path: string) => join(target, path);

await mkdir(target, { recursive: true });
await rm(at('dist'), { recursive: true, force: true });
const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
execFileSync(process.execPath, [compiler, '-p', HERE, '--outDir', at('dist/esm')], { stdio: 'inherit' });
for (const name of await readdir(at('dist/esm'), { recursive: true })) {
  if (!name.endsWith('.d.ts')) continue;
  // A declaration names its sources, which the package does not have.
  const text = await readFile(at(`dist/esm/${name}`), 'utf8');
  await writeFile(at(`dist/esm/${name}`), text.replace(/(from '\.[^']*)\.ts'/g, "$1.js'"));
}
await cp(at('dist/esm'), at('dist/cjs'), { recursive: true });
await writeFile(at('dist/cjs/package.json'), '{ "type": "commonjs" }\n');
for (const format of ['esm', 'cjs'] as const) {
  await build({
    entryPoints: [join(HERE, 'src/index.ts')],
    outfile: at(`dist/${format}/index.js`),
    bundle: true,
    format,
    platform: 'neutral',
    target: 'es2022',
    logLevel: 'error',
  });
}
await copyFile(join(ROOT, 'LICENSE'), at('LICENSE'));
if (target !== HERE)
  for (const name of ['package.json', 'README.md']) await copyFile(join(HERE, name), at(name));
