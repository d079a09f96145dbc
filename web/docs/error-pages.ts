import { ERROR_HELP } from '../../core/error-help.ts';
import { ERROR_STATUS, type ErrorCode } from '../../core/errors.ts';
import { codeBlock } from './code.ts';
import { type ApiDocument, endpointsOf, errorPath, errorsOf, operationPath } from './document.ts';
import { html } from './html.ts';
import { asText, type Renderer } from './markdown.ts';
import type { Page } from './page.ts';
import { BASE_URL } from './samples.ts';

/** An error of more operations than this belongs to all of them: its page does not list them. */
const LISTED_AT_MOST = 60;

/** All error codes, by status. */
export const ERROR_CODES = (Object.keys(ERROR_HELP) as ErrorCode[]).sort(
  (a, b) => ERROR_STATUS[a] - ERROR_STATUS[b],
);

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const whenOf = (code: ErrorCode): string => `${capitalized(ERROR_HELP[code].when)}.`;

/** Returns the page of all errors, with an anchor for each code. */
export function errorsPage(renderer: Renderer): Page {
  return {
    path: '/docs/errors',
    title: 'Errors',
    description: 'Every error code of the API, with what to do about it.',
    above: [],
    body: html`<p>Every error is the JSON below, under the status of its code. <code>message</code> says what is wrong,
<code>details</code> each invalid field, and <code>doc_url</code> leads to the page of the code.</p>
${codeBlock(JSON.stringify(exampleOf('bad_request'), null, 2), 'json')}
<ul class="error-codes">${ERROR_CODES.map(
      (
        code,
      ) => html`<li id="${code}"><p><span class="status">${ERROR_STATUS[code]}</span> <a href="${errorPath(code)}"><code>${code}</code></a></p>${renderer.block(whenOf(code))}</li>
`,
    )}</ul>`,
    markdown: [
      '# Errors',
      'Every error is `{ "error": { "code", "message", "request_id", "doc_url", "details"? } }`.',
      ERROR_CODES.map(
        (code) => `- ${ERROR_STATUS[code]} [\`${code}\`](${errorPath(code)}.md): ${ERROR_HELP[code].when}`,
      ).join('\n'),
      '',
    ].join('\n\n'),
    found: [],
  };
}

/** Returns the page of an error code: when it is sent, and what to do. */
export function errorPage(document: ApiDocument, code: ErrorCode, renderer: Renderer): Page {
  const { when, remedy } = ERROR_HELP[code];
  const status = ERROR_STATUS[code];
  const senders = endpointsOf(document).filter(({ operation }) =>
    errorsOf(document, operation).some(({ codes }) => codes.includes(code)),
  );
  const isListed = senders.length > 0 && senders.length <= LISTED_AT_MOST;
  return {
    path: errorPath(code),
    title: code,
    description: asText(`Status ${status}: ${when}.`),
    above: [{ title: 'Errors', path: '/docs/errors' }],
    body: html`<p><span class="status">${status}</span></p>
${renderer.block(whenOf(code))}
<h2 id="remedy">What to do <a class="anchor" href="#remedy" aria-label="Link to this section">#</a></h2>
${renderer.block(remedy)}
<h2 id="example">Example</h2>
${codeBlock(JSON.stringify(exampleIn(document, code) ?? exampleOf(code), null, 2), 'json')}
${
  isListed &&
  html`<h2 id="operations">Operations that respond with it</h2><ul class="operations">${senders.map(
    ({ operation, method, path }) =>
      html`<li><a href="${operationPath(operation.operationId)}">${operation.summary}</a><p><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code></p></li>`,
  )}</ul>`
}${senders.length > LISTED_AT_MOST && html`<p>${senders.length} of ${endpointsOf(document).length} operations may respond with it.</p>`}`,
    markdown: [`# ${code}`, `Status ${status}. ${whenOf(code)}`, '## What to do', remedy, ''].join('\n\n'),
    found: [
      {
        url: errorPath(code),
        title: code,
        kind: 'Error',
        place: `Status ${status}`,
        names: `${code} ${status}`,
        fields: '',
        text: asText(`${when}. ${remedy}`),
      },
    ],
  };
}

/** Returns the document's example of an error; undefined: no operation has it. */
const exampleIn = ({ components }: ApiDocument, code: ErrorCode): unknown =>
  Object.values(components.responses)
    .map(({ content = {} }) => content['application/json']?.examples?.[code]?.value)
    .find((value) => value !== undefined);

const exampleOf = (code: ErrorCode) => ({
  error: {
    code,
    message: code === 'bad_request' ? '`limit` must be an integer from 1 to 500' : ERROR_HELP[code].when,
    request_id: '019aabf4-3c00-7000-8000-000000000001',
    doc_url: `${BASE_URL}${errorPath(code)}`,
    ...(code === 'bad_request' && {
      details: [{ path: 'limit', message: 'must be an integer from 1 to 500' }],
    }),
  },
});
