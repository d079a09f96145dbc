import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { CLICK_COLUMNS } from '../../clickhouse/analysts/views.ts';
import { CLICK_NAMES, clickField } from '../../core/clicks/field-names.ts';
import { PROVIDERS, providerWords } from '../../core/connections/providers.ts';
import { CONDITION_TYPES, kindOf } from '../../core/links/rules/conditions.ts';
import { EVENT_TYPES, EVENTS } from '../../core/webhooks/event-types.ts';

/**
 * Writes the parts of the guides in `docs/` that are generated from tables of the code:
 *
 *   npm run types
 *
 * A part is between two comments: `<!-- events: npm run types -->` and `<!-- end -->`.
 */

type Rows = readonly (readonly string[])[];

/** The parts by their names. */
const PARTS: Record<string, Rows> = {
  columns: [
    ['Column of a click', 'In `attributions`', 'Value'],
    ...CLICK_NAMES.map((name) => {
      const isAttributed = name === 'link_id' || CLICK_COLUMNS.includes(name);
      return [`\`${name}\``, isAttributed ? 'yes' : '', clickField(name).description ?? ''];
    }),
  ],
  events: [['Event', 'When'], ...EVENT_TYPES.map((type) => [`\`${type}\``, EVENTS[type].when])],
  providers: [
    ['Provider', 'Events that count', 'Where the names of the buyer go'],
    ...PROVIDERS.flatMap((provider) => {
      const { name, guide } = providerWords(provider);
      return guide ? [[name, ...guide]] : [];
    }),
  ],
  conditions: [['Type', 'Compares'], ...CONDITION_TYPES.map((type) => [`\`${type}\``, kindOf(type).about])],
};

/** The guides with such parts. */
export const GUIDES = ['analysts.md', 'connections.md', 'links.md', 'webhooks.md'].map((name) =>
  fileURLToPath(new URL(`../../docs/${name}`, import.meta.url)),
);

const PART = /(<!-- (\w+): npm run types -->\n\n)[\s\S]*?(\n<!-- end -->)/g;

/** Returns a guide with its parts generated from the tables. */
export const withParts = (guide: string): string =>
  guide.replace(PART, (_, start: string, name: string, end: string) => {
    const rows = PARTS[name];
    if (rows === undefined) throw new Error(`no table makes the part ${name}`);
    return `${start}${tableOf(rows)}${end}`;
  });

/** A table of Markdown, as Biome formats it. */
function tableOf([head = [], ...rows]: Rows): string {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[], fill = ' ') =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width, fill)).join(' | ')} |\n`;
  return [line(head), line([], '-'), ...rows.map((row) => line(row))].join('');
}

if (import.meta.main) {
  for (const path of GUIDES) await writeFile(path, withParts(await readFile(path, 'utf8')));
}
