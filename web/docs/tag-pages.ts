import {
  type ApiDocument,
  type Endpoint,
  endpointsOf,
  operationPath,
  type Tag,
  tagPath,
} from './document.ts';
import { type Html, html } from './html.ts';
import type { Renderer } from './markdown.ts';
import type { Page } from './page.ts';

/** Returns the page of the whole API: rules for all operations, and the tags. */
export function apiPage(document: ApiDocument, renderer: Renderer): Page {
  const { info, tags } = document;
  const { body, headings } = renderer.page(info.description);
  return {
    path: '/docs/api',
    title: 'API reference',
    description: 'Keys, requests, responses, errors, and every operation of the REST API.',
    above: [],
    contents: [{ id: 'operations', text: 'Operations' }, ...headings.filter(({ depth }) => depth === 2)],
    body: html`<p>The <a href="/api/v1/openapi.json">OpenAPI document</a> has the same content for programs.</p>
<h2 id="operations">Operations</h2>
<ul class="cards">${tags.map(
      ({ name, description }) =>
        html`<li><a href="${tagPath(name)}">${name}</a><p>${renderer.inline(description)}</p></li>`,
    )}</ul>
${body}`,
    markdown: [
      '# API reference',
      'The OpenAPI document is at `/api/v1/openapi.json`.',
      info.description.trim(),
      '## Operations',
      tags.map(({ name, description }) => `- [${name}](${tagPath(name)}.md): ${description}`).join('\n'),
      '',
    ].join('\n\n'),
    found: headings
      .filter(({ depth }) => depth === 2)
      .map(({ id, text }) => ({
        url: `/docs/api#${id}`,
        title: text,
        kind: 'Guide',
        place: 'API reference',
        names: '',
        fields: '',
        text: sectionText(info.description, text),
      })),
  };
}

/** Returns the text of a section of Markdown, from its heading to the next. */
function sectionText(text: string, heading: string): string {
  const [, after = ''] = text.split(`\n## ${heading}\n`);
  return after.split('\n## ')[0] ?? '';
}

/** Returns the page of a tag: its operations. */
export function tagPage(document: ApiDocument, { name, description }: Tag, renderer: Renderer): Page {
  const endpoints = endpointsOf(document).filter(({ operation }) => operation.tags.includes(name));
  return {
    path: tagPath(name),
    title: name,
    description,
    above: [{ title: 'API reference', path: '/docs/api' }],
    body: html`${renderer.block(description)}<ul class="operations">${endpoints.map(operationItem)}</ul>`,
    markdown: [
      `# ${name}`,
      description,
      endpoints
        .map(
          ({ operation, method, path }) =>
            `- [\`${method} ${path}\`](${operationPath(operation.operationId)}.md): ${operation.summary}`,
        )
        .join('\n'),
      '',
    ].join('\n\n'),
    found: [],
  };
}

const operationItem = ({ operation, method, path }: Endpoint): Html =>
  html`<li><a href="${operationPath(operation.operationId)}">${operation.summary}</a><p><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code></p></li>
`;
