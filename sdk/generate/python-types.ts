import type { Document, Schema } from './document.ts';

/** Words that cannot name a field of a class in Python. */
const RESERVED =
  /^(False|None|True|and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield)$/;

export const isReserved = (name: string): boolean => RESERVED.test(name);

/** Writes the schemas of the document as types of Python: a `TypedDict` for each object. */
export class PythonTypes {
  readonly #classes: string[] = [];
  readonly #names = new Set<string>();

  constructor(document: Document) {
    for (const name of Object.keys(document.components.schemas)) this.#names.add(name);
    for (const [name, schema] of Object.entries(document.components.schemas)) this.#declare(name, schema);
  }

  /** The text of all types so far. */
  get text(): string {
    return this.#classes.join('\n\n');
  }

  /** Adds a type, and returns its name. */
  add(wanted: string, schema: Schema): string {
    const name = this.#free(wanted);
    this.#declare(name, schema);
    return name;
  }

  #free(wanted: string): string {
    let name = wanted;
    for (let nth = 2; this.#names.has(name); nth += 1) name = `${wanted}${nth}`;
    this.#names.add(name);
    return name;
  }

  #declare(name: string, schema: Schema): void {
    const words = schema.description ? `    """${docOf(schema.description)}"""\n\n` : '';
    if (schema.properties === undefined) {
      this.#classes.push(`${name} = ${this.#typeOf(schema, name)}\n`);
      return;
    }
    const required = new Set(schema.required);
    const fields = Object.entries(schema.properties).map(([field, part]) => {
      const type = this.#typeOf(part, `${name}${pascal(field)}`);
      return { field, type: required.has(field) ? type : `NotRequired[${type}]`, words: part.description };
    });
    const isClass = fields.every(({ field }) => /^[A-Za-z_]\w*$/.test(field) && !isReserved(field));
    if (!isClass) {
      // A class has no field of this name.
      const entries = fields.map(({ field, type }) => `        ${JSON.stringify(field)}: ${type},\n`);
      this.#classes.push(`${name} = TypedDict(\n    "${name}",\n    {\n${entries.join('')}    },\n)\n`);
      return;
    }
    const lines = fields.map(
      (one) =>
        `    ${one.field}: ${one.type}\n${one.words === undefined ? '' : `    """${docOf(one.words)}"""\n`}`,
    );
    this.#classes.push(`class ${name}(TypedDict):\n${words}${lines.join('') || '    pass\n'}`);
  }

  #typeOf(schema: Schema, name: string): string {
    if (schema.$ref !== undefined) return `"${schema.$ref.split('/').at(-1) ?? ''}"`;
    if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`;
    if (schema.enum !== undefined) return `Literal[${schema.enum.map(literal).join(', ')}]`;
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices !== undefined) {
      const parts = choices.map((part, nth) => this.#typeOf(part, `${name}${nth === 0 ? '' : nth + 1}`));
      return union(parts);
    }
    const types = [schema.type ?? []].flat();
    return union(types.map((type) => this.#simpleTypeOf(type, schema, name)));
  }

  #simpleTypeOf(type: string, schema: Schema, name: string): string {
    if (type === 'string') return 'str';
    if (type === 'integer') return 'int';
    if (type === 'number') return 'float';
    if (type === 'boolean') return 'bool';
    if (type === 'null') return 'None';
    if (type === 'array') return `List[${this.#typeOf(schema.items ?? {}, `${name}Item`)}]`;
    if (type !== 'object') throw new Error(`no type of Python for the type ${type}`);
    if (schema.properties !== undefined) return `"${this.add(name, schema)}"`;
    const { additionalProperties: more } = schema;
    return `Dict[str, ${typeof more === 'object' ? this.#typeOf(more, `${name}Value`) : 'Any'}]`;
  }
}

/** Names of classes: `canvasMode` and `next_cursor` alike. */
export const pascal = (name: string): string =>
  name
    .split(/[^A-Za-z0-9]/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');

function union(parts: readonly string[]): string {
  const distinct = [...new Set(parts)];
  if (distinct.length === 0 || distinct.includes('Any')) return 'Any';
  return distinct.length === 1 ? (distinct[0] ?? 'Any') : `Union[${distinct.join(', ')}]`;
}

const literal = (value: string | number | boolean | null): string =>
  value === null ? 'None' : typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value);

/** A docstring's text: nothing in it ends or escapes it. */
export const docOf = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('"""', "'''").replace(/"$/, '" ');
