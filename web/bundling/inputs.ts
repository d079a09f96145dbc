import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The inputs of a build. */
export type Inputs = {
  /** SHA-256 of all inputs, their names included. */
  hash: string;
  /** Inputs outside `web/`: paths from the repository's root. */
  outside: string[];
};

/** Files of `web/` that never change what is built. */
const NO_INPUT = /(^dist\/|\.test\.ts$|\.md$)/;

/**
 * Hashes every input of the browser build: the sources of `web/` with the build's own, the versions of the packages,
 * and the named files outside.
 *
 * @param rootDir the repository
 * @param outside paths from there, as the last build reported them
 */
export async function readInputs(rootDir: string, outside: readonly string[]): Promise<Inputs> {
  const web = await readdir(join(rootDir, 'web'), { withFileTypes: true, recursive: true });
  const own = web
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(join(rootDir, 'web/').length))
    .filter((path) => !NO_INPUT.test(path))
    .map((path) => `web/${path}`);
  const paths = ['package-lock.json', ...own, ...outside].sort();
  const contents = await Promise.all(paths.map((path) => readFile(join(rootDir, path)).catch(() => '')));
  const hash = createHash('sha256');
  for (const [nth, path] of paths.entries()) {
    const content = contents[nth] ?? '';
    hash.update(`${path}\0${content.length}\0`).update(content);
  }
  return { hash: hash.digest('hex'), outside: [...outside] };
}

/** The inputs of the build at `path`; null where there is none. */
export async function savedInputs(path: string): Promise<Inputs | null> {
  const text = await readFile(path, 'utf8').catch(() => null);
  return text === null ? null : (JSON.parse(text) as Inputs);
}
