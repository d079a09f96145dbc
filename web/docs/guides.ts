import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { asText, type Heading, type Renderer, shortened } from './markdown.ts';
import type { Page, SearchEntry } from './page.ts';

/** A Markdown file of `docs/`. */
export type Guide = {
  /** Path from `docs/` on: `operations/backup.md`. */
  file: string;
  text: string;
  title: string;
};

/** The guides in the order in which a new user needs them. A guide that is not listed is in the last group. */
const GUIDE_GROUPS: readonly { title: string; files: readonly string[] }[] = [
  { title: 'Start', files: ['quickstart', 'console', 'plans', 'comparison'] },
  {
    title: 'Links and clicks',
    files: [
      'links',
      'domains',
      'bio-pages',
      'languages',
      'pixel',
      'import',
      'click-history',
      'moving-workspaces',
    ],
  },
  { title: 'Reports', files: ['analytics', 'reports', 'alerts', 'analysts', 'warehouse'] },
  {
    title: 'Referrals',
    files: ['referrals', 'portal', 'messages', 'embed', 'connections', 'fulfilment', 'moving-referrals'],
  },
  { title: 'For programs', files: ['sdks', 'command-line', 'agents', 'automation'] },
  { title: 'How it works', files: ['architecture', 'guarantees', 'performance', 'security'] },
];
/** Guides whose pages are in other parts of the navigation. */
const ELSEWHERE = ['webhooks'];
const OTHERS = 'More';
const OPERATIONS = 'Operations';

/** Reads every guide. @param docsDir the folder `docs/` */
export async function readGuides(docsDir: string): Promise<Guide[]> {
  const files = (await readdir(docsDir, { recursive: true })).filter((file) => file.endsWith('.md')).sort();
  return Promise.all(
    files.map(async (file) => {
      const text = await readFile(join(docsDir, file), 'utf8');
      const [, title = file] = /^# (.*)$/m.exec(text) ?? [];
      return { file, text, title: asText(title) };
    }),
  );
}

/** Returns the address of a guide's page. @param file path from `docs/` on */
export const guidePath = (file: string): string =>
  `/docs/${file.replace(/\.md$/, '').replace(/(^|\/)README$/, '')}`.replace(/\/$/, '');

/** Returns the guides by group, for the navigation. */
export function groupedGuides(guides: readonly Guide[]): { title: string; guides: Guide[] }[] {
  const named = new Set([...GUIDE_GROUPS.flatMap(({ files }) => files), ...ELSEWHERE]);
  const nameOf = ({ file }: Guide) => file.replace(/\.md$/, '');
  const groups = GUIDE_GROUPS.map(({ title, files }) => ({
    title,
    guides: files.flatMap((name) => guides.filter((guide) => nameOf(guide) === name)),
  }));
  const rest = guides.filter((guide) => !named.has(nameOf(guide)));
  const isOperations = ({ file }: Guide) => file.startsWith('operations/');
  const all = [
    ...groups,
    { title: OTHERS, guides: rest.filter((guide) => !isOperations(guide)) },
    { title: OPERATIONS, guides: rest.filter(isOperations) },
  ];
  return all.filter((group) => group.guides.length > 0);
}

/**
 * Returns where a link of a guide leads in the site: pages for guides, files for images, and the repository for the
 * rest.
 *
 * @param file the guide, from `docs/` on
 * @param repository address of the repository's files
 */
export function guideHref(file: string, target: string, repository: string, extension = ''): string {
  if (/^[a-z]+:/.test(target) || target.startsWith('#') || target.startsWith('/')) return target;
  const [path = '', anchor] = target.split('#');
  const place = normalize(join('docs', dirname(file), path));
  const suffix = anchor === undefined ? '' : `#${anchor}`;
  if (!place.startsWith('docs/')) return `${repository}/${place}${suffix}`;
  if (!place.endsWith('.md')) return `/${place}${suffix}`;
  const page = guidePath(place.slice('docs/'.length));
  return `${page}${extension}${suffix}`;
}

/** Returns the page of a guide. */
export function guidePage({ file, text, title }: Guide, renderer: Renderer, repository: string): Page {
  const { body, headings } = renderer.page(text.replace(/^# .*\n/m, ''));
  const path = guidePath(file);
  const isOperations = file.startsWith('operations/') && path !== '/docs/operations';
  return {
    path,
    title,
    description: shortened(asText(introductionOf(text))),
    above: isOperations ? [{ title: 'Operations', path: '/docs/operations' }] : [],
    body,
    contents: headings.filter(({ depth }) => depth === 2),
    markdown: asMarkdown(file, text, repository),
    found: sectionsOf(text, headings).map(({ heading, content }): SearchEntry => {
      const own = heading === null;
      return {
        url: own ? path : `${path}#${heading.id}`,
        title: own ? title : heading.text,
        kind: 'Guide',
        place: own ? '' : title,
        names: '',
        fields: '',
        text: asText(content),
      };
    }),
  };
}

const introductionOf = (text: string): string =>
  text
    .replace(/^# .*\n/m, '')
    .trim()
    .split(/\n\n|\n#/)[0] ?? '';

/** Returns the sections of a text: what comes before the first heading, and each of its headings of level 2 or 3. */
function sectionsOf(
  text: string,
  headings: readonly Heading[],
): { heading: Heading | null; content: string }[] {
  const parts = text.replace(/^# .*\n/m, '').split(/^#{2,3} .*$/m);
  const own = headings.filter(({ depth }) => depth === 2 || depth === 3);
  // A comment in a shell example looks like a heading. The sections must match those of the page.
  return parts
    .slice(0, own.length + 1)
    .map((content, nth) => ({ heading: nth === 0 ? null : (own[nth - 1] ?? null), content }));
}

/** Returns the guide's own text, with links that work from every address. */
function asMarkdown(file: string, text: string, repository: string): string {
  let isCode = false;
  return text
    .split('\n')
    .map((line) => {
      if (/^\s*```/.test(line)) isCode = !isCode;
      if (isCode) return line;
      return line.replace(
        /(\]\()([^)\s]+)/g,
        (_, before: string, target: string) => before + guideHref(file, target, repository, '.md'),
      );
    })
    .join('\n');
}
