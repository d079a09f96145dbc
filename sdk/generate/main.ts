import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Document } from './document.ts';
import { pythonFiles } from './python.ts';
import { typescriptFiles } from './typescript.ts';

/**
 * Writes the generated files of the SDKs, from the OpenAPI documents on standard input, into `sdk/` or another folder:
 *
 *   npm run types
 */

const [, , folder = join(import.meta.dirname, '..')] = process.argv;
const [document] = JSON.parse(await text(process.stdin)) as Document[];
if (document === undefined) throw new Error('standard input must be the output of api/print-openapi.ts');
const generated = {
  'typescript/src/generated': await typescriptFiles(document),
  'python/hoplog/_generated': pythonFiles(document),
};
const files = Object.entries(generated).flatMap(([place, texts]) =>
  Object.entries(texts).map(([name, content]) => [join(place, name), content] as const),
);
for (const [name, content] of files) {
  const path = join(folder, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
}
