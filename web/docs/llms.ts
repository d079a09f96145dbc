import { type Guide, groupedGuides, guidePath } from './guides.ts';
import { markdownPath } from './layout.ts';
import type { Page } from './page.ts';
import { BASE_URL } from './samples.ts';

const SUMMARY = `# Hoplog

> Self-hosted short links, click tracking and referral programs. It redirects visitors, stores every click exactly once,
> and answers reports, polls and payouts through a REST API under \`${BASE_URL}/api/v1\`.

Each page below is Markdown. The OpenAPI document is at ${BASE_URL}/api/v1/openapi.json. All pages in one file are at
${BASE_URL}/llms-full.txt.`;

/** Returns `/llms.txt`, the list of pages as https://llmstxt.org defines it. */
export function llmsIndex(pages: readonly Page[], guides: readonly Guide[]): string {
  const byPath = new Map(pages.map((page) => [page.path, page]));
  const line = ({ title, path, description }: Page) =>
    `- [${title}](${BASE_URL}${markdownPath(path)})${description === '' ? '' : `: ${description}`}`;
  const section = (title: string, some: readonly (Page | undefined)[]) =>
    `## ${title}\n\n${some.flatMap((page) => (page ? [line(page)] : [])).join('\n')}`;
  const below = (prefix: string) => pages.filter(({ path }) => path.startsWith(prefix));
  return `${[
    SUMMARY,
    ...groupedGuides(guides).map((group) =>
      section(
        group.title,
        group.guides.map(({ file }) => byPath.get(guidePath(file))),
      ),
    ),
    section('API reference', [byPath.get('/docs/api'), ...below('/docs/api/')]),
    section('Webhooks', [byPath.get('/docs/webhooks'), ...below('/docs/webhooks/')]),
    section('Errors', [byPath.get('/docs/errors'), ...below('/docs/errors/')]),
  ].join('\n\n')}\n`;
}

/** Returns `/llms-full.txt`: every page as Markdown, each with its address. */
export function llmsFull(pages: readonly Page[]): string {
  const texts = pages.map(
    ({ path, markdown }) => `<!-- ${BASE_URL}${markdownPath(path)} -->\n\n${markdown.trim()}\n`,
  );
  return [`${SUMMARY}\n`, ...texts].join('\n');
}
