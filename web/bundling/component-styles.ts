import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'esbuild';

const STYLES = '@mantine/core/styles.css';
/** Each component's class names are made by Mantine so. */
const CLASS = /\bm_[0-9a-f]{6,8}\b/g;

/**
 * Lets the styles of Mantine hold those of the components that are in the bundle, in Mantine's own order, and what
 * belongs to all. Its `styles.css` has those of every component that there is.
 *
 * @param scripts texts of the bundled scripts
 */
export function componentStyles(scripts: readonly string[]): Plugin {
  return {
    name: 'component-styles',
    setup(build) {
      build.onResolve({ filter: /^@mantine\/core\/styles\.css$/ }, () => ({
        path: STYLES,
        namespace: 'used',
      }));
      build.onLoad({ filter: /.*/, namespace: 'used' }, async () => ({
        contents: await usedStyles(new Set(scripts.flatMap((text) => text.match(CLASS) ?? []))),
        loader: 'css',
      }));
    },
  };
}

async function usedStyles(used: ReadonlySet<string>): Promise<string> {
  const whole = await readFile(fileURLToPath(import.meta.resolve(STYLES)), 'utf8');
  const folder = join(dirname(fileURLToPath(import.meta.resolve(STYLES))), 'styles');
  const files = (await readdir(folder)).filter((name) => name.endsWith('.css') && !name.includes('.layer.'));
  const parts = await Promise.all(
    files.map(async (name) => (await readFile(join(folder, name), 'utf8')).trim()),
  );
  const placed = parts.map((text) => ({ text, at: whole.indexOf(text) }));
  if (placed.some(({ at }) => at < 0)) throw new Error(`${STYLES} is not made of its components' styles`);
  return placed
    .filter(({ text }) => isUsed(text.match(CLASS) ?? [], used))
    .sort((a, b) => a.at - b.at)
    .map(({ text }) => text)
    .join('\n');
}

/** Styles without a component's class belong to all. */
function isUsed(classes: string[], used: ReadonlySet<string>): boolean {
  return classes.length === 0 || classes.some((name) => used.has(name));
}
