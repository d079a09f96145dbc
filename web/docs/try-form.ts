import type { ApiDocument, Endpoint, Parameter } from './document.ts';
import { type Field, fieldOf } from './fields.ts';
import { type Html, html } from './html.ts';
import type { Renderer } from './markdown.ts';

/** Number of optional parameters that the form shows at once; the others unfold. */
const SHOWN = 4;

/** Returns the form that calls a GET operation. Its script shows and sends it. */
export function tryForm(document: ApiDocument, { operation, path }: Endpoint, renderer: Renderer): Html {
  const parameters = (operation.parameters ?? []).filter((one) => one.in !== 'header');
  const needed = parameters.filter(({ required }) => required);
  const optional = parameters.filter(({ required }) => !required);
  const fields = (some: readonly Parameter[]) => some.map((one) => control(document, one, renderer));
  return html`<details class="try" hidden><summary>Try it</summary>
<form data-try="${path}">
${fields([...needed, ...optional.slice(0, SHOWN)])}
${optional.length > SHOWN && html`<details><summary>${optional.length - SHOWN} more parameters</summary>${fields(optional.slice(SHOWN))}</details>`}
<p class="buttons"><button type="submit" class="primary">Send</button> <button type="button" data-stop hidden>Stop</button> <span role="status"></span></p>
</form>
<div data-response></div>
</details>`;
}

function control(document: ApiDocument, parameter: Parameter, renderer: Renderer): Html {
  const { name, in: place, required = false, schema } = parameter;
  const field: Field = fieldOf(document, { name, required, schema }, place);
  const id = `try-${place}-${name}`;
  const preset = schema.default === undefined ? '' : String(schema.default);
  const options = field.values.map((value) => String(JSON.parse(value)));
  return html`<p><label for="${id}">${renderer.inline(`\`${name}\``)}${required && html` <span class="required">required</span>`}</label>${
    options.length > 0
      ? html`<select id="${id}" name="${place}:${name}"><option value="">${preset === '' ? '' : `default: ${preset}`}</option>${options.map((value) => html`<option>${value}</option>`)}</select>`
      : html`<input id="${id}" name="${place}:${name}" autocomplete="off" spellcheck="false" placeholder="${preset}"${required && html` required`}>`
  }</p>`;
}
