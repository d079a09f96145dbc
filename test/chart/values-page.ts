import { readFileSync } from 'node:fs';
import { ROOT, readYaml } from '../deploy/compose-file.ts';

const CHART = 'deploy/helm/hoplog/';
/** Longest line of prose in the repository. */
const COLUMNS = 120;

type Part = { $ref?: string; properties?: Record<string, Part>; description?: string; enum?: string[] };

/** Returns the page `VALUES.md` of the chart: each value with its default and its description in the schema. */
export function valuesPage(): string {
  const schema = JSON.parse(readFileSync(`${ROOT}${CHART}values.schema.json`, 'utf8'));
  const definitions: Record<string, Part> = schema.definitions;
  const lines = [
    '# Values',
    '',
    'Written from `values.yaml` and `values.schema.json` by their test (`vitest -u`).',
    '',
  ];
  const list = (path: string, part: Part, value: unknown) => {
    const {
      description = '',
      properties,
      enum: choices,
    } = part.$ref ? { ...definitions[part.$ref.replace('#/definitions/', '')], ...part } : part;
    const isMap = properties === undefined;
    const given = isMap ? ` (\`${JSON.stringify(value, null, 1).replace(/\n */g, ' ')}\`)` : '';
    const one = choices
      ? ` One of ${choices.map((choice) => `\`${JSON.stringify(choice)}\``).join(', ')}.`
      : '';
    lines.push(...wrapped(`- \`${path}\`${given}: ${description}${one}`));
    for (const [name, inner] of Object.entries(properties ?? {})) {
      list(`${path}.${name}`, inner, (value as Record<string, unknown>)[name]);
    }
  };
  const values = readYaml(`${CHART}values.yaml`) as Record<string, unknown>;
  for (const [name, part] of Object.entries(schema.properties as Record<string, Part>)) {
    if (name in values) list(name, part, values[name]);
  }
  return `${lines.join('\n')}\n`;
}

/** Breaks an item of a list at blanks. */
function wrapped(item: string): string[] {
  const lines = [''];
  for (const word of item.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last.length + 1 + word.length > COLUMNS) lines.push(`  ${word}`);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines;
}
