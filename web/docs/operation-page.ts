import { accessOf } from './access.ts';
import { codeBlock } from './code.ts';
import {
  type ApiDocument,
  type Endpoint,
  errorPath,
  errorsOf,
  type Header,
  type Media,
  nameOfReference,
  type Operation,
  operationPath,
  type Parameter,
  responseOf,
  tagPath,
} from './document.ts';
import { fieldList, fieldsAsMarkdown, shapeList } from './field-list.ts';
import { allFields, type Field, fieldOf, isFilled, type Shape, shapeOf } from './fields.ts';
import { type Html, html } from './html.ts';
import { asText, type Renderer, shortened } from './markdown.ts';
import type { Page } from './page.ts';
import { keyKindOf, samplesOf } from './samples.ts';
import { tryForm } from './try-form.ts';

type Section = { id: string; title: string; shape: Shape; note: string };
type Success = {
  status: string;
  description: string;
  section: Section;
  sameAs: string | null;
  headers: Field[];
};

const PLACES = { path: 'Path parameters', query: 'Query parameters', header: 'Headers' } as const;

/** Returns the page of an operation. */
export function operationPage(document: ApiDocument, endpoint: Endpoint, renderer: Renderer): Page {
  const { operation, method, path } = endpoint;
  const { operationId, summary, description = '', tags } = operation;
  const [tag = ''] = tags;
  const inputs = inputsOf(document, operation);
  const successes = successesOf(document, operation);
  const errors = errorsOf(document, operation);
  const access = accessOf(document, endpoint);
  const fields = [...inputs, ...successes.map(({ section }) => section)].flatMap(({ shape }) =>
    allFields(shape),
  );
  return {
    path: operationPath(operationId),
    title: summary,
    description: shortened(asText(description) || `${method} ${path}`),
    above: [
      { title: 'API reference', path: '/docs/api' },
      { title: tag, path: tagPath(tag) },
    ],
    lead: html`<p class="request"><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code></p>`,
    body: html`${renderer.block(description)}
<dl class="access">${access.map(([name, text]) => html`<div><dt>${name}</dt><dd>${renderer.inline(text)}</dd></div>`)}</dl>
${inputs.map((section) => sectionOf(section, renderer))}
<h2 id="responses">Responses <a class="anchor" href="#responses" aria-label="Link to this section">#</a></h2>
${successes.map((success) => successOf(success, renderer))}
<h2 id="errors">Errors <a class="anchor" href="#errors" aria-label="Link to this section">#</a></h2>
<ul class="errors">${errors.map(
      ({ status, codes }) =>
        html`<li><span class="status">${status}</span> ${codes.map((code) => html`<a href="${errorPath(code)}"><code>${code}</code></a> `)}</li>`,
    )}</ul>`,
    aside: html`${sampleTabs(endpoint)}${method === 'GET' && tryForm(document, endpoint, renderer)}${exampleTabs(document, operation)}`,
    markdown: asMarkdown(endpoint, { inputs, successes, errors, access }),
    found: [
      {
        url: operationPath(operationId),
        title: summary,
        kind: 'API',
        place: `${tag} · ${method} ${path}`,
        names: `${operationId} ${path}`,
        fields: [...new Set(fields.map(({ name }) => name))].join(' '),
        text: asText([description, ...new Set(fields.map((field) => field.description))].join(' ')),
      },
    ],
  };
}

function inputsOf(document: ApiDocument, { parameters = [], requestBody }: Operation): Section[] {
  const places = (['path', 'query', 'header'] as const).map((place) => ({
    id: place,
    title: PLACES[place],
    note: '',
    shape: {
      fields: parameters.filter((one) => one.in === place).map((one) => parameterOf(document, one)),
      variants: [],
      repeats: null,
    },
  }));
  const bodies = Object.entries(requestBody?.content ?? {}).map(([type, { schema }]) => ({
    id: 'body',
    title: 'Body',
    note: [`\`${type}\`.`, requestBody?.required ? '' : 'It may be left out.', requestBody?.description ?? '']
      .filter((one) => one !== '')
      .join(' '),
    shape: shapeOf(document, schema, 'body'),
  }));
  return [...places.filter(({ shape }) => isFilled(shape)), ...bodies];
}

function parameterOf(document: ApiDocument, parameter: Parameter): Field {
  const { name, required = false, schema, description = '' } = parameter;
  return {
    ...fieldOf(document, { name, required, schema }, parameter.in),
    ...(description && { description }),
  };
}

function successesOf(document: ApiDocument, { responses }: Operation): Success[] {
  const known = new Map<string, string>();
  return Object.entries(responses)
    .filter(([status]) => !/^[45]/.test(status))
    .map(([status, response]) => {
      const { description, content = {}, headers = {} } = responseOf(document, response);
      const media = Object.entries(content);
      const [type, first] =
        media.find(([, { schema }]) => isFilled(shapeOf(document, schema, status))) ?? media[0] ?? [];
      const key = JSON.stringify(first?.schema ?? null);
      const sameAs =
        first && isFilled(shapeOf(document, first.schema, status)) ? (known.get(key) ?? null) : null;
      if (sameAs === null) known.set(key, status);
      const others = media.map(([name]) => `\`${name}\``).join(', ');
      return {
        status,
        description,
        sameAs,
        headers: Object.entries(headers).map(([name, header]) => headerOf(document, name, header, status)),
        section: {
          id: status,
          title: status,
          note: type === undefined ? 'Without a body.' : others,
          shape: first
            ? shapeOf(document, first.schema, status)
            : { fields: [], variants: [], repeats: null },
        },
      };
    });
}

function headerOf(
  document: ApiDocument,
  name: string,
  header: { $ref?: string } & Partial<Header>,
  status: string,
): Field {
  const { description = '', schema = {} } = header.$ref
    ? (document.components.headers[nameOfReference(header.$ref)] ?? {})
    : header;
  return { ...fieldOf(document, { name, schema, required: false }, `${status}.headers`), description };
}

function sectionOf({ id, title, note, shape }: Section, renderer: Renderer): Html {
  return html`<h2 id="${id}">${title} <a class="anchor" href="#${id}" aria-label="Link to this section">#</a></h2>
${note !== '' && renderer.block(note)}${shapeList(shape, renderer)}`;
}

function successOf({ status, description, section, sameAs, headers }: Success, renderer: Renderer): Html {
  const { note, shape } = section;
  return html`<h3 id="${status}"><span class="status ok">${status}</span> ${renderer.inline(description)} <a class="anchor" href="#${status}" aria-label="Link to this section">#</a></h3>
<p class="media">${renderer.inline(note)}</p>
${
  sameAs === null
    ? isFilled(shape) && shapeList(shape, renderer)
    : html`<p>The fields of <a href="#${sameAs}">${sameAs}</a>.</p>`
}${headers.length > 0 && html`<details class="inside"><summary>${headers.length} ${headers.length === 1 ? 'header' : 'headers'}</summary>${fieldList(headers, renderer)}</details>`}`;
}

function sampleTabs(endpoint: Endpoint): Html {
  const kind = keyKindOf(endpoint.operation);
  return html`<section class="samples" data-tabs="language" aria-label="Samples">${samplesOf(endpoint).map(
    ({ label, language, code }) =>
      html`<div data-tab="${label}"><h2>${label}</h2>${codeBlock(code, language)}</div>`,
  )}</section>
${
  kind !== null &&
  kind !== 'partner' &&
  html`<details class="reader-key" data-reader-key="${kind}" hidden><summary>Your key in the samples</summary><div></div></details>`
}`;
}

/** Responses of success; each error has a page with its example. */
function exampleTabs(document: ApiDocument, { responses }: Operation): Html {
  const shown = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([status, response]) =>
      Object.entries(responseOf(document, response).content ?? {}).flatMap(([type, media]) =>
        examplesOf(media).map(([name, value]) => ({
          label: ['Response', status, name].filter((word) => word !== '').join(' '),
          type,
          value,
        })),
      ),
    );
  if (shown.length === 0) return html``;
  return html`<section class="samples" data-tabs="" aria-label="Examples of responses">${shown.map(
    ({ label, type, value }) =>
      html`<div data-tab="${label}"><h2>${label}</h2>${codeBlock(
        typeof value === 'string' ? value : JSON.stringify(value, null, 2),
        type.includes('json') ? 'json' : 'plaintext',
      )}</div>`,
  )}</section>`;
}

function examplesOf({ example, examples }: Media): [string, unknown][] {
  if (example !== undefined) return [['', example]];
  return Object.entries(examples ?? {}).map(([name, { value }]) => [name, value]);
}

type Parts = {
  inputs: Section[];
  successes: Success[];
  errors: { status: string; codes: string[] }[];
  access: [string, string][];
};

function asMarkdown(endpoint: Endpoint, { inputs, successes, errors, access }: Parts): string {
  const { operation, method, path } = endpoint;
  const parts = [
    `# ${operation.summary}`,
    `\`${method} ${path}\` (\`${operation.operationId}\`)`,
    operation.description ?? '',
    access.map(([name, text]) => `- ${name}: ${text}`).join('\n'),
    ...inputs.map(({ title, note, shape }) =>
      [`## ${title}`, note, fieldsAsMarkdown(shape)].filter((one) => one !== '').join('\n\n'),
    ),
    '## Responses',
    ...successes.map(({ status, description, section, sameAs }) =>
      [
        `### ${status}`,
        description,
        section.note,
        sameAs === null ? fieldsAsMarkdown(section.shape) : `The fields of ${sameAs}.`,
      ]
        .filter((one) => one !== '')
        .join('\n\n'),
    ),
    '## Errors',
    errors
      .map(
        ({ status, codes }) =>
          `- ${status}: ${codes.map((code) => `[\`${code}\`](${errorPath(code)}.md)`).join(', ')}`,
      )
      .join('\n'),
    '## Samples',
    ...samplesOf(endpoint).map(
      ({ label, language, code }) => `${label}:\n\n\`\`\`${language}\n${code}\n\`\`\``,
    ),
  ];
  return `${parts.filter((one) => one !== '').join('\n\n')}\n`;
}
