import { type Field, isFilled, type Shape } from './fields.ts';
import { type Html, html } from './html.ts';
import type { Renderer } from './markdown.ts';

/** By depth, the maximum number of fields of a nested object that is open at first; deeper ones are closed. */
const OPEN_AT_MOST = [12, 4];

/** Returns fields as a list, with nested ones unfolded in place. */
export function fieldList(fields: readonly Field[], renderer: Renderer, depth = 0): Html {
  return html`<ul class="fields">${fields.map((field) => fieldItem(field, renderer, depth))}</ul>`;
}

/** Returns the contents of a value: its fields, or those of each of its forms. */
export function shapeList(shape: Shape, renderer: Renderer, depth = 0): Html {
  const { fields, variants, repeats } = shape;
  if (repeats !== null) return html`<p class="repeats">Has the fields of ${repeats} again.</p>`;
  if (variants.length === 0) return fieldList(fields, renderer, depth);
  return html`${variants.map(
    (variant) =>
      html`<details class="inside" open><summary>Form ${variant.name}</summary>${shapeList(variant.shape, renderer, depth + 1)}</details>`,
  )}`;
}

function fieldItem(field: Field, renderer: Renderer, depth: number): Html {
  const { id, name, type, required, description, values, facts, shape } = field;
  return html`<li class="field" id="${id}">
<p class="field-name"><a href="#${id}"><code>${name}</code></a> <span class="type">${type}</span>${required && html` <span class="required">required</span>`}</p>
${description !== '' && renderer.block(description)}${
  values.length > 0 && html`<p class="values">${values.map((value) => html`<code>${value}</code> `)}</p>`
}${facts.length > 0 && html`<p class="facts">${facts.map((fact) => html`<span>${renderer.inline(fact)}</span> `)}</p>`}${
  isFilled(shape) && inside(field, renderer, depth)
}</li>
`;
}

function inside({ name, shape }: Field, renderer: Renderer, depth: number): Html {
  if (shape.repeats !== null) return shapeList(shape, renderer, depth);
  const count = shape.fields.length;
  const isOpen = count <= (OPEN_AT_MOST[depth] ?? 0);
  const words = count > 0 ? `${count} ${count === 1 ? 'field' : 'fields'}` : `${shape.variants.length} forms`;
  return html`<details class="inside"${isOpen && html` open`}><summary>${words} of <code>${name}</code></summary>${shapeList(shape, renderer, depth + 1)}</details>`;
}

/** Returns fields as a nested Markdown list. */
export function fieldsAsMarkdown(shape: Shape, indent = ''): string {
  const lines = shape.fields.map((field) => {
    const { name, type, required, description, values, facts } = field;
    const words = [
      description.replace(/\s*\n\s*/g, ' '),
      values.length > 0 ? `Values: ${values.map((value) => `\`${value}\``).join(', ')}.` : '',
      facts.length > 0 ? `${facts.join('. ')}.` : '',
    ].filter((word) => word !== '');
    const head = `${indent}- \`${name}\` (${type}${required ? ', required' : ''})`;
    const nested = fieldsAsMarkdown(field.shape, `${indent}  `);
    return [words.length > 0 ? `${head}: ${words.join(' ')}` : head, nested]
      .filter((one) => one !== '')
      .join('\n');
  });
  const forms = shape.variants.map(
    ({ name, shape: inner }) => `${indent}- Form ${name}:\n${fieldsAsMarkdown(inner, `${indent}  `)}`,
  );
  const again = shape.repeats === null ? [] : [`${indent}- Has the fields of ${shape.repeats} again.`];
  return [...lines, ...forms, ...again].join('\n');
}
