import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The checkout's directory. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Folders without files of the repository. */
const FOREIGN = new Set(['node_modules', 'dist', 'data', 'target', '.git', '.venv', '.tools']);

/** Returns every Markdown file of the checkout, by its path from the root. */
export function markdownFiles(): string[] {
  return filesOf((path) => path.endsWith('.md'));
}

/** Returns every file of the checkout whose path the test accepts, by its path from the root. */
export function filesOf(accepts: (path: string) => boolean, folder = ''): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return FOREIGN.has(entry.name) ? [] : filesOf(accepts, path);
    return accepts(path) ? [path] : [];
  });
}

export function readDocument(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** Returns the text without fenced code blocks. Lines keep their numbers. */
export function withoutBlocks(text: string): string {
  return text.replace(/^( *)```.*?^ *```/gms, (block) => block.replace(/[^\n]/g, ''));
}

/** Returns the text without any code, for checks of prose. Lines keep their numbers. */
export function proseOf(text: string): string {
  return withoutBlocks(text).replace(/`[^`]*`/g, (code) => code.replace(/[^\n]/g, ' '));
}

/** Returns the content of every fenced block of one language, in order. */
export function blocksOf(text: string, language: string): string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(
    ([, code = '']) => code,
  );
}

/** Returns the anchors of a document's headings, as GitHub makes them. */
export function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of withoutBlocks(text).matchAll(/^#+ (.*)$/gm)) {
    const anchor = heading
      .toLowerCase()
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replace(/[^\p{L}\p{N}\- _]/gu, '')
      .replaceAll(' ', '-');
    for (let n = 0; ; n += 1) {
      const unique = n === 0 ? anchor : `${anchor}-${n}`;
      if (anchors.has(unique)) continue;
      anchors.add(unique);
      break;
    }
  }
  return anchors;
}

export type Link = {
  /** As written: `[text](target)`. */
  source: string;
  /** From the root; the document itself where the target is only an anchor. */
  path: string;
  anchor: string | null;
};

/** Returns every link and image of a document that leads into the repository. */
export function linksOf(path: string, text = readDocument(path)): Link[] {
  const prose = withoutBlocks(text).replace(/`[^`]*`/g, (code) => code.replace(/[[\]()]/g, ' '));
  return [...prose.matchAll(/\[[^\]]*\]\(([^)\s]+)[^)]*\)/g)]
    .map(([source, target = '']) => ({ source, target }))
    .filter(({ target }) => !/^[a-z]+:/.test(target))
    .map(({ source, target }) => {
      const [file = '', anchor = null] = target.split('#');
      return { source, path: file ? normalize(join(dirname(path), file)) : path, anchor };
    });
}

/** Returns the rows of every table of a text, each by the names of its columns. */
export function tableRows(text: string): Map<string, string>[] {
  const rows: Map<string, string>[] = [];
  let header: string[] = [];
  for (const line of text.split('\n')) {
    if (!line.startsWith('|')) {
      header = [];
    } else if (header.length === 0) {
      header = cellsOf(line);
    } else if (!/^\|[\s:|-]+\|$/.test(line)) {
      const cells = cellsOf(line);
      rows.push(new Map(header.map((name, n) => [name, cells[n] ?? ''])));
    }
  }
  return rows;
}

function cellsOf(line: string): string[] {
  return line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());
}
