import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ReferralImport } from '../api/referrals/import/import-referrals.ts';
import { createProgram } from '../api/referrals/programs/service.ts';
import { inTransaction } from '../sql/database/pool.ts';
import { createWorkspace, type Workspace } from '../sql/workspaces/workspaces.ts';
import { operator } from './support/hoplog.ts';
import { type TestStores, testStores } from './support/stores.ts';

let stores: TestStores;
let workspace: Workspace;
let cli: ReturnType<typeof operator>;
let directory: string;

beforeAll(async () => {
  stores = await testStores();
  cli = operator(stores);
  directory = mkdtempSync(join(tmpdir(), 'hoplog-referrals-'));
  workspace = await createWorkspace(stores.pool, { name: 'Moving', plan: 'unlimited' });
});
afterAll(async () => {
  rmSync(directory, { recursive: true, force: true });
  await stores.close();
});

const fixtures = (from: string) =>
  ['partners', 'customers', 'commissions'].map((kind) =>
    fileURLToPath(new URL(`../core/referral-imports/fixtures/${from}-${kind}.csv`, import.meta.url)),
  );
const referrals = (...args: string[]) => ['import', 'referrals', '--workspace', workspace.slug, ...args];

test('import referrals needs a program, then reports what a dry run and an import do, and the sums', async () => {
  await cli.refused(
    1,
    /the workspace has no program/,
    ...referrals('--from', 'rewardful', ...fixtures('rewardful')),
  );
  await inTransaction(stores.pool, (tx) =>
    createProgram(
      tx,
      workspace.id,
      { name: 'Friends', code: 'moving-in', destination_url: 'https://shop.example/join' },
      { shortUrl: 'https://hop.example', now: new Date() },
    ),
  );
  const args = referrals('--program', 'Moving-In', '--from', 'rewardful', ...fixtures('rewardful'));
  const dry = await cli.run(...args, '--dry-run');
  expect([dry.status, dry.stderr]).toEqual([0, '']);
  expect(dry.stdout).toMatch(/^dry run: nothing was changed\n/);
  const human = await cli.run(...args);
  expect(human).toMatchObject({ status: 0, stderr: '' });
  expect(human.stdout.split('\n')).toEqual([
    '             read  created  existing  skipped',
    'partners     2     2        0         0',
    'customers    2     2        0         0',
    'commissions  3     2        0         1',
    '',
    'unpaid commissions: 42.5 usd in the files, 42.5 usd in the ledger',
    '',
  ]);
  const again = await cli.json<ReferralImport>(...args);
  expect(again).toMatchObject({
    dry_run: false,
    partners: { read: 2, created: 0, existing: 2 },
    sum: { files: 42.5, ledger: 42.5 },
    errors: [],
  });
  const { rows } = await stores.pool.query(
    `SELECT details FROM audit_entries WHERE workspace_id = $1 AND action = 'referrals.import' ORDER BY id LIMIT 1`,
    [workspace.id],
  );
  expect(rows).toEqual([{ details: { from: 'rewardful', partners: 2, customers: 2, commissions: 2 } }]);
});

test('a commission that could not be imported ends the command with 1, and names line and column', async () => {
  const file = join(directory, 'commissions.csv');
  writeFileSync(file, 'commission_id,amount,partner_code\nx-1,5,nobody-here\n');
  const ended = await cli.run(...referrals('--from', 'csv', file));
  expect(ended).toMatchObject({
    status: 1,
    stdout: expect.stringMatching(/commissions.csv +2 +- +no referrer of the workspace is nobody-here/),
    stderr: expect.stringContaining('the files have unpaid commissions of 5 usd, the ledger has 0 of them'),
  });
  await cli.refused(1, /is JSON: export it as CSV/, ...referrals('--from', 'csv', jsonFile()));
});

function jsonFile(): string {
  const file = join(directory, 'partners.json');
  writeFileSync(file, '[{"email": "a@example.com"}]');
  return file;
}
