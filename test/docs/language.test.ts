import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { markdownFiles, proseOf, readDocument } from './markdown.ts';

/** British spellings of common words. The API's own words are code and are not checked; `fulfilment` is one of them. */
const BRITISH = [
  /\bprogrammes?\b/i,
  /\benrol(s|ment|ments)?\b/i,
  /\b(colour|behaviour|neighbour|favour|honour|labour|flavour|rumour)(s|ed|ing|ful|able)?\b/i,
  /\b(centre|metre|fibre|theatre)s?\b/i,
  /\blicences?\b/i,
  /\b(organis|normalis|serialis|recognis|optimis|initialis|summaris|authoris|customis|minimis|synchronis|utilis|visualis|prioritis|parameteris|materialis|categoris)(e|es|ed|ing|ation|ations|er|ers)\b/i,
  /\banalys(e|es|ed|ing)\b/i,
  /\b(cancell|labell|travell|modell|signall)(ed|ing|er)\b/i,
  /\b(catalogue|dialogue|grey|judgement|artefact|whilst|amongst|cheque)s?\b/i,
];

/** Turns of phrase that make a reader read twice. */
const BANNED = [
  /(^|[.:;] |\n- )(Who|What|Which) (is|was|are|were|has|had|have|can|does|comes?|stands?|wants?|goes) [^?\n]*(?<!\?)$/m,
  /\b(is|are) no (?=[a-z]+(,|\.|;| and| or|$))/,
  /\bso many\b/i,
  /\bby (itself|themselves)\b/i,
  /\bof before\b/i,
  /\banew\b/i,
  /\b(goes|go|went|going) on\b(?! (the|a|to) )/i,
  /\bstands?\b(?!-| for\b| in for\b)/i,
  /\bwhoever\b/i,
  /\bnobody\b/i,
  /\bwho (asks|polls|writes|comes|buys|wants)\b/,
  /\bof the release before\b/i,
  /\bthe .{1,30} before it did\b/i,
];

function findings(text: string, patterns: RegExp[]): string[] {
  const prose = proseOf(text);
  return patterns.flatMap((pattern) =>
    [...prose.matchAll(new RegExp(pattern, `${pattern.flags}g`))].map((found) => {
      const line = prose.slice(0, found.index).split('\n').length;
      return `${line}: ${found[0].trim().slice(0, 60)}`;
    }),
  );
}

test.each([
  ['British spellings', BRITISH],
  ['banned turns of phrase', BANNED],
])('no document has %s', (_, patterns) => {
  const found = markdownFiles().flatMap((path) =>
    findings(readDocument(path), patterns).map((finding) => `${path}:${finding}`),
  );
  expect(found).toEqual([]);
});

test('the patterns match their targets, and ignore code', () => {
  expect(findings('A programme, `colour`.\n\nEnrolment.', BRITISH)).toEqual(['1: programme', '3: Enrolment']);
  expect(findings('Nobody asks anew.', BANNED)).toEqual(['1: anew', '1: Nobody']);
  expect(findings('It stands for a process.\n```\nnobody\n```\n', BANNED)).toEqual([]);
});

test('no line of prose is longer than 120 characters', () => {
  const long = markdownFiles().flatMap((path) =>
    readDocument(path)
      .replace(/^```.*?^```/gms, (block) => block.replace(/[^\n]/g, ''))
      .split('\n')
      .map((line, n) => ({ line, n: n + 1 }))
      .filter(({ line }) => line.length > 120 && !line.startsWith('|') && !/\]\([^)]*\)/.test(line))
      .map(({ line, n }) => `${path}:${n}: ${line.slice(0, 40)}`),
  );
  expect(long).toEqual([]);
});

/** Words of the console that were replaced, and what it says now. Labels: in any case they begin a text. */
const REPLACED: [RegExp, string][] = [
  [/on the window before/, '+152.1%'],
  [/as before: /, 'No previous data'],
  [/Other days/, 'Custom range'],
  [/Show the numbers/, 'Show as table'],
  [/What stands behind/, 'Slug'],
  [/Most visits/, 'Click limit'],
  [/Stands as/, 'Status'],
  [/\bWhose\b/, 'User'],
  [/Is in it/, 'Included'],
  [/For programs/, 'API fields'],
  [/It is: /, 'a sentence with the reward'],
  [/Least payout/, 'Minimum payout'],
  [/Ways to be paid/, 'Payout methods'],
];

/** Texts of a source without its comments. */
const withoutComments = (source: string) =>
  source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');

test('no page of the console has a word that was replaced', () => {
  const folder = new URL('../../web/console/', import.meta.url);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (path) => /\.tsx?$/.test(path) && !path.startsWith('api/openapi') && !path.endsWith('.test.ts'),
  );
  expect(files.length).toBeGreaterThan(150);
  const found = files.flatMap((path) => {
    const text = withoutComments(readFileSync(new URL(path, folder), 'utf8'));
    return REPLACED.filter(([word]) => word.test(text)).map(
      ([word, now]) => `${path}: ${word.source} is now ${now}`,
    );
  });
  expect(found).toEqual([]);
});
