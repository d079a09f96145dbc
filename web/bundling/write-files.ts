import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';

/** A file to write: its path below `web/dist`, and its content. */
export type BuiltFile = { path: string; content: string | Uint8Array };

/**
 * Writes each file with its gzip and Brotli forms beside it, so that no server compresses at its start. Each file is
 * replaced whole: other processes may read them meanwhile.
 */
export async function writeFiles(directory: string, files: readonly BuiltFile[]): Promise<void> {
  await Promise.all(
    files.map(async ({ path, content }) => {
      const bytes = Buffer.from(content);
      const target = join(directory, path);
      const [zipped, brotli] = await Promise.all([
        promisify(gzip)(bytes, { level: 9 }),
        promisify(brotliCompress)(bytes),
      ]);
      await mkdir(dirname(target), { recursive: true });
      await Promise.all([
        replaceFile(target, bytes),
        replaceFile(`${target}.gz`, zipped),
        replaceFile(`${target}.br`, brotli),
      ]);
    }),
  );
}

export async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  const fresh = `${path}.${process.pid}.new`;
  await writeFile(fresh, content);
  await rename(fresh, path);
}

/** Removes the files of `directory` that no name begins: those of former builds. */
export async function removeOthers(directory: string, names: readonly string[]): Promise<void> {
  const kept = new Set(names.flatMap((name) => [name, `${name}.gz`, `${name}.br`]));
  const gone = (await readdir(directory)).filter((name) => !kept.has(name) && !name.endsWith('.new'));
  await Promise.all(gone.map((name) => rm(join(directory, name), { force: true })));
}
