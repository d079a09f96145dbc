import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { createProgram } from '../../cli/program.ts';
import { limitsOf, PLAN_TIERS } from '../../core/access/plans.ts';
import { PROVIDERS } from '../../core/connections/providers.ts';
import { markdownFiles, readDocument, tableRows } from './markdown.ts';

/** What documents say about commands, limits, and features, compared with the code. */

/** Guides for operators and users: others name commands of other programs, or of the past. */
const GUIDES = markdownFiles().filter((path) => /^(README\.md|docs\/|examples\/)/.test(path));

/** A use of the command in a document: its words, without the rest of a shell's line. */
type Use = { document: string; words: string[] };

function usesIn(document: string): Use[] {
  const text = readDocument(document).replaceAll(/\\\n\s*/g, ' ');
  const blocks = [...text.matchAll(/^```[^\n]*\n(.*?)^```/gms)].flatMap(([, code = '']) => code.split('\n'));
  const spans = [...text.replace(/^```.*?^```/gms, '').matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
  return [...blocks, ...spans].flatMap((line) => {
    const [said = ''] = line.split(/ #| \||;|&&| >/);
    const [, command] = /(?:^(?:\$ )?|npx |exec (?:-T )?\S+ )hoplog ([a-z].*)$/.exec(said) ?? [];
    return command === undefined ? [] : [{ document, words: command.trim().split(/\s+/) }];
  });
}

const optionsIn = (words: readonly string[]): string[] =>
  words.flatMap((word) => /^(--[a-z-]+)/.exec(word)?.[1] ?? []);

/** Returns what is wrong with a use, or null. */
function problemOf(program: Command, { document, words }: Use): string | null {
  const said = `${document}: hoplog ${words.join(' ')}`;
  let command = program;
  for (const word of words) {
    const child = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (child === undefined) break;
    command = child;
  }
  if (command === program) return `${said}: unknown command`;
  const given = optionsIn(words);
  const known = command.options.map(({ long }) => long);
  const unknown = given.filter((option) => option !== '--help' && !known.includes(option));
  if (unknown.length > 0) return `${said}: unknown ${unknown.join(', ')}`;
  // `hoplog workspace set` alone names the command; with options it is one to run.
  const missing = command.options.filter(({ mandatory, long }) => mandatory && !given.includes(long ?? ''));
  return given.length > 0 && missing.length > 0
    ? `${said}: lacks ${missing.map(({ long }) => long).join(', ')}`
    : null;
}

test('every command of a guide exists, with its options, and can be run as it stands', async () => {
  const program = await createProgram([]);
  const uses = GUIDES.flatMap(usesIn);
  expect(uses.length).toBeGreaterThan(50);
  expect(uses.flatMap((use) => problemOf(program, use) ?? [])).toEqual([]);
});

test('the limits of plans are those of the code', () => {
  const rows = tableRows(readDocument('docs/plans.md')).map((row) => [...row.values()]);
  const shown = (limit: number | null) => limit?.toLocaleString('en-US') ?? 'unlimited';
  expect(rows).toEqual(
    PLAN_TIERS.map((plan) => {
      const { links, events, commission } = limitsOf({ plan, plan_status: 'active' });
      return [`\`${plan}\``, shown(links), shown(events), shown(commission)];
    }),
  );
});

test('README names the billing providers that can be connected', () => {
  const text = readDocument('README.md')
    .replaceAll(/[\s_]+/g, '')
    .toLowerCase();
  for (const provider of PROVIDERS) expect(text).toContain(provider.replaceAll('_', ''));
});

test('README denies nothing that the product has', () => {
  expect(readDocument('README.md')).not.toMatch(
    /no (custom )?domain|no billing|no webhooks|no passkeys|no API/i,
  );
});
