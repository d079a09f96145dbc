import { codeBlock } from './code.ts';
import { type ApiDocument, eventPath, type Operation } from './document.ts';
import { fieldList, fieldsAsMarkdown, shapeList } from './field-list.ts';
import { allFields, fieldOf, type Shape, shapeOf } from './fields.ts';
import { html } from './html.ts';
import { asText, type Renderer, shortened } from './markdown.ts';
import type { Page } from './page.ts';

/** Returns the page of an event that webhooks deliver. */
export function webhookPage(
  document: ApiDocument,
  type: string,
  operation: Operation,
  renderer: Renderer,
): Page {
  const { summary, description = '', parameters = [], requestBody } = operation;
  const { schema = {}, example } = requestBody?.content['application/json'] ?? {};
  const shape = shapeOf(document, schema, 'body');
  const headers = parameters.map(({ name, required = false, schema: own, description: text = '' }) => ({
    ...fieldOf(document, { name, schema: own, required }, 'header'),
    description: text,
  }));
  const headerShape: Shape = { fields: headers, variants: [], repeats: null };
  const fields = allFields(shape);
  return {
    path: eventPath(type),
    title: type,
    description: shortened(asText(`${summary}. ${description}`)),
    above: [{ title: 'Webhooks', path: '/docs/webhooks' }],
    body: html`<p class="lead">${summary}.</p>
${renderer.block(description)}
<p>The service sends it as a signed <code>POST</code> to each webhook with this event. The <a href="/docs/webhooks">guide</a>
says how to verify, answer and repeat deliveries; <a href="/docs/api/webhooks.create"><code>POST /api/v1/webhooks</code></a>
adds a webhook.</p>
<h2 id="body">Payload <a class="anchor" href="#body" aria-label="Link to this section">#</a></h2>
${shapeList(shape, renderer)}
<h2 id="header">Headers <a class="anchor" href="#header" aria-label="Link to this section">#</a></h2>
${fieldList(headers, renderer)}`,
    aside: html`<section class="samples" data-tabs="" aria-label="Example"><div data-tab="Example"><h2>Example</h2>${codeBlock(
      JSON.stringify(example, null, 2),
      'json',
    )}</div></section>`,
    markdown: [
      `# ${type}`,
      `${summary}.`,
      description,
      '## Payload',
      fieldsAsMarkdown(shape),
      '## Headers',
      fieldsAsMarkdown(headerShape),
      '## Example',
      `\`\`\`json\n${JSON.stringify(example, null, 2)}\n\`\`\``,
      '',
    ].join('\n\n'),
    found: [
      {
        url: eventPath(type),
        title: type,
        kind: 'Webhook',
        place: summary,
        names: type,
        fields: [...new Set(fields.map(({ name }) => name))].join(' '),
        text: asText(description),
      },
    ],
  };
}
