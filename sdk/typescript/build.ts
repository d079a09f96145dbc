import { execFileSync } from 'node:child_process';
import { copyFile, cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';

/**
 * Builds the package in `dist/`, as ES modules and for `require`, each with its types:
 *
 *   npm pack --ignore-scripts=false
 */

const HERE = import.meta.dirname;
const ROOT = join(HERE, '../..');
const at = (path: string) => join(HERE, path);

await rm(at('dist'), { recursive: true, force: true });
execFileSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', HERE], {
  stdio: 'inherit',
});
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
    entryPoints: [at('src/index.ts')],
    outfile: at(`dist/${format}/index.js`),
    bundle: true,
    format,
    platform: 'neutral',
    target: 'es2022',
    logLevel: 'error',
  });
}
await copyFile(join(ROOT, 'LICENSE'), at('LICENSE'));
