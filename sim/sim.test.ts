import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { NIGHTLY } from '../test/support/nightly.ts';
import { MUTATIONS } from './mutations/list.ts';

/** A run of the tests plays a minute of new histories, and each night a quarter of an hour. */
const MORE = NIGHTLY ? 15 : 1;
/** Histories on the real PostgreSQL take about a second of CPU each. */
const FIRST = NIGHTLY ? 60 : 4;
const MAIN = join(import.meta.dirname, 'main.ts');

function sim(...args: string[]): { output: string; status: number | null } {
  const node = [process.execPath, '--disable-warning=ExperimentalWarning', MAIN, ...args];
  const [program = '', ...rest] = node;
  const env = { ...process.env, TEST_DATABASE_URL: inject('databaseUrl') };
  const { stdout, stderr, status } = spawnSync(program, rest, { encoding: 'utf8', env });
  return { output: stdout + stderr, status };
}

const hashIn = (output: string) => /hash ([0-9a-f]+)/.exec(output)?.[1];

test.for([
  { scenario: 'journal', histories: 25 },
  { scenario: 'permits', histories: 25 },
  { scenario: 'lane', histories: 25 },
  { scenario: 'webhooks', histories: 1 },
  { scenario: 'credits', histories: 6 },
  { scenario: 'ledger', histories: 1 },
])('the same seed gives the same histories of $scenario', { timeout: 600_000 }, ({ scenario, histories }) => {
  const play = (seed: string) => sim('--only', scenario, '--seed', seed, '--histories', String(histories));
  const first = play('11');
  expect(hashIn(first.output), first.output).toBeDefined();
  expect(hashIn(play('11').output)).toBe(hashIn(first.output));
  expect(hashIn(play('12').output)).not.toBe(hashIn(first.output));
});

test.for([
  { scenario: 'journal', seconds: 20 * MORE, least: 100 },
  { scenario: 'permits', seconds: 10 * MORE, least: 100 },
  { scenario: 'lane', seconds: 20 * MORE, least: 100 },
  { scenario: 'credits', seconds: 4 * MORE, least: 20 },
  // A statement of the real PostgreSQL takes longer than one in memory.
  ...(NIGHTLY
    ? [
        { scenario: 'webhooks', seconds: 8 * MORE, least: 10 },
        { scenario: 'ledger', seconds: 7 * MORE, least: 10 },
      ]
    : []),
])(
  'new random histories of $scenario hold for $seconds seconds of CPU',
  { timeout: 3_600_000 },
  ({ scenario, seconds, least }, { annotate }) => {
    const { output, status } = sim('--only', scenario, '--seconds', String(seconds));
    annotate(output);
    expect(status, output).toBe(0);
    const [, held] = new RegExp(`^${scenario}: (\\d+) histories held`, 'm').exec(output) ?? [];
    expect(Number(held)).toBeGreaterThanOrEqual(least);
  },
);

test.for(['webhooks', 'ledger'])(
  'the first histories of %s hold',
  { timeout: 600_000 },
  (scenario, { annotate }) => {
    const { output, status } = sim('--only', scenario, '--seed', '1', '--histories', String(FIRST));
    annotate(output);
    expect(status, output).toBe(0);
    expect(output).toContain(`${FIRST} histories held`);
  },
);

test.for([
  {
    scenario: 'journal',
    seed: '359715080',
    was: 'a power cut took the correction of a clock and left the clicks behind it',
  },
  {
    scenario: 'lane',
    seed: '970156263',
    was: 'a failover took the counts of clicks away whose stream had moved to another partition',
  },
  {
    scenario: 'credits',
    seed: '74',
    was: 'a promotion code failed for good where the look-up of its coupon had no answer',
  },
  {
    scenario: 'credits',
    seed: '20',
    was: 'a credit was paid to two customers of its user, the second by a late attempt',
  },
  {
    scenario: 'credits',
    seed: '215',
    was: 'a refusal of a late attempt hid that the next one may have paid the credit',
  },
  {
    scenario: 'credits',
    seed: '935946632',
    was: 'an attempt that stood still after its claim made the code of a coupon that was deleted meanwhile',
  },
  {
    scenario: 'credits',
    seed: '915024123',
    was: "a machine slept while Stripe's package waited to repeat a call, until Stripe had forgotten its key",
  },
])('seed $seed of $scenario holds, where once $was', { timeout: 600_000 }, ({ scenario, seed }) => {
  const { output, status } = sim('--only', scenario, '--seed', seed);
  expect(status, output).toBe(0);
});

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
