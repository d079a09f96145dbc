import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { NIGHTLY } from '../test/support/nightly.ts';
import { MUTATIONS } from './mutations/list.ts';

/** A run of the tests plays a minute of new histories, and each night a quarter of an hour. */
const MORE = NIGHTLY ? 15 : 1;
const MAIN = join(import.meta.dirname, 'main.ts');

function sim(...args: string[]): { output: string; status: number | null } {
  const node = [process.execPath, '--disable-warning=ExperimentalWarning', MAIN, ...args];
  const [program = '', ...rest] = node;
  const { stdout, stderr, status } = spawnSync(program, rest, { encoding: 'utf8' });
  return { output: stdout + stderr, status };
}

/** The hashes of all parts. */
const hashesIn = (output: string) => [...output.matchAll(/hash ([0-9a-f]+)/g)].map(([, hash]) => hash);

test('the same seed gives the same histories', () => {
  const [first, again] = [sim('--seed', '11', '--histories', '25'), sim('--seed', '11', '--histories', '25')];
  const hashes = hashesIn(first.output);
  expect(hashes, first.output).toHaveLength(3);
  expect(hashesIn(again.output)).toEqual(hashes);
  const others = hashesIn(sim('--seed', '12', '--histories', '25').output);
  for (const [part, hash] of hashes.entries()) expect(others[part]).not.toBe(hash);
});

test.for([
  { scenario: 'journal', seconds: 25 * MORE },
  { scenario: 'permits', seconds: 15 * MORE },
  { scenario: 'lane', seconds: 20 * MORE },
])(
  'new random histories of $scenario hold for $seconds seconds of CPU',
  { timeout: 3_600_000 },
  ({ scenario, seconds }, { annotate }) => {
    const { output, status } = sim('--only', scenario, '--seconds', String(seconds));
    annotate(output);
    expect(status, output).toBe(0);
    expect(output).toMatch(new RegExp(`^${scenario}: [1-9]\\d{2,} histories held`, 'm'));
  },
);

describe('a wrong version of the product', () => {
  test.each(MUTATIONS.map(({ name, file, from }) => ({ name, file, from })))(
    '$name changes one place of the product as it is',
    ({ file, from }) => {
      const source = readFileSync(join(import.meta.dirname, '..', file), 'utf8');
      expect(source.split(from)).toHaveLength(2);
    },
  );

  test('is found, and the history that shows it is short and readable', () => {
    const { output, status } = sim('--only', 'journal', '--mutation', 'epoch-kept', '--seed', '1');
    expect(status).toBe(1);
    expect(output).toContain('BROKEN, seed 1: a sequence names one event');
    expect(output).toMatch(/The history, shortened from \d+ steps to \d+:/);
    expect(output).toMatch(/is killed|power is cut/);
    expect(output).toContain('Play it again: npm run sim -- --only journal --seed 1');
  });

  test.each(
    MUTATIONS.filter(({ isRare }) => !isRare).map(({ name, scenario, wrong }) => ({ name, scenario, wrong })),
  )('is found: $wrong', { tags: 'nightly' }, ({ name, scenario }) => {
    const { output, status } = sim(
      '--only',
      scenario,
      '--mutation',
      name,
      '--seed',
      '1',
      '--seconds',
      '20',
      '--brief',
    );
    expect(status, output).toBe(1);
    expect(output).toMatch(/^BROKEN/m);
  });
});
