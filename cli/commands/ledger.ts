import { once } from 'node:events';
import type { Command } from 'commander';
import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import { extendChain, readChain } from '../../sql/referrals/ledger-chain.ts';
import { listWorkspaces } from '../../sql/workspaces/workspaces.ts';
import { printResult, table } from '../output.ts';
import { withStores } from '../stores.ts';
import { type Verified, verifyLedger } from '../verify-ledger.ts';
import { namedWorkspace } from './workspace.ts';

/** `hoplog ledger verify | export`. */
export function ledgerCommands(program: Command): void {
  const group = program.command('ledger').description('the ledger of referral rewards');

  group
    .command('verify')
    .description('play the ledger again and compare every balance; exit status 1 when one differs')
    .option('--workspace <id>', 'id or slug; all workspaces by default')
    .action(async (options: { workspace?: string }, command: Command) => {
      const result = await withStores(async ({ pool }) =>
        verifyLedger(pool, await workspaceIds(pool, options.workspace)),
      );
      printResult(command, result, verifiedText);
      if (!result.ok) process.exitCode = 1;
    });

  group
    .command('export')
    .description('write every entry and accepted terms as NDJSON, each with the hash of the chain up to it')
    .requiredOption('--workspace <id>', 'id or slug')
    .action(async (options: { workspace: string }) => {
      await withStores(async ({ pool }) => {
        const workspace = await namedWorkspace(pool, options.workspace);
        for await (const lines of exportedLines(pool, workspace.id)) {
          if (!process.stdout.write(lines)) await once(process.stdout, 'drain');
        }
      });
    });
}

async function workspaceIds(pool: Pool, named: string | undefined): Promise<string[]> {
  if (named !== undefined) return [(await namedWorkspace(pool, named)).id];
  return (await listWorkspaces(pool)).map(({ id }) => id);
}

function verifiedText({ ok, entries, wrong }: Verified): string {
  if (ok) return `${entries} entries: every balance is right`;
  return table(
    ['workspace', 'what', 'id', 'user', 'problem'],
    wrong.map((one) => [one.workspace_id, one.what, one.id ?? '', one.external_user_id ?? '', one.problem]),
  );
}

/** Yields the lines of a workspace in the order of its hash chain, after adding the missing ones to it. */
export async function* exportedLines(pool: Pool, workspaceId: string): AsyncGenerator<string> {
  await inTransaction(pool, (tx) => extendChain(tx, workspaceId));
  for await (const page of readChain(pool, workspaceId)) {
    yield page
      .map(({ line, hash }) => `${JSON.stringify({ ...line, hash: hash.toString('hex') })}\n`)
      .join('');
  }
}
