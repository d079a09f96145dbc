import { readFileSync } from 'node:fs';
import { ROOT, readYaml } from '../deploy/compose-file.ts';

const CHART = 'deploy/helm/hoplog/';
/** Longest line of prose in the repository. */
const COLUMNS = 120;

type Part = { $ref?: string; properties?: Record<string, Part>; description?: string; enum?: string[] };

/**
 * Returns every part of the schema of values with its path, such as `ingest.volume.size`, the outer before the inner.
 */
export function schemaParts(): [path: string, part: Part][] {
  const schema = JSON.parse(readFileSync(`${ROOT}${CHART}values.schema.json`, 'utf8'));
  const definitions: Record<string, Part> = schema.definitions;
  const partsIn = (properties: Record<string, Part> = {}, around = ''): [string, Part][] =>
    Object.entries(properties).flatMap(([name, part]) => {
      const path = around + name;
      const whole = part.$ref ? { ...definitions[part.$ref.replace('#/definitions/', '')], ...part } : part;
      return [[path, whole], ...partsIn(whole.properties, `${path}.`)];
    });
  return partsIn(schema.properties);
}

/** Returns the page `VALUES.md` of the chart: each value with its default and its description in the schema. */
export function valuesPage(): string {
  const lines = [
    '# Values',
    '',
    'Written from `values.yaml` and `values.schema.json` by their test (`vitest -u`).',
    '',
  ];
  const values = readYaml(`${CHART}values.yaml`);
  for (const [path, { description, properties, enum: choices }] of schemaParts()) {
    // Helm adds it to the values of every chart.
    if (path === 'global') continue;
    const value = path
      .split('.')
      .reduce((all, name) => (all as Record<string, unknown>)[name], values as unknown);
    const isMap = properties === undefined;
    const given = isMap ? ` (\`${JSON.stringify(value, null, 1).replace(/\n */g, ' ')}\`)` : '';
    const one = choices
      ? ` One of ${choices.map((choice) => `\`${JSON.stringify(choice)}\``).join(', ')}.`
      : '';
    lines.push(...wrapped(`- \`${path}\`${given}: ${description}${one}`));
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
