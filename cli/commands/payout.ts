import { writeFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { createPayoutFile, type PayoutFileAsked } from '../../api/referrals/payouts/create-file.ts';
import {
  PAYOUT_FORMATS,
  PAYOUT_METHODS,
  type PayoutFormat,
  type PayoutMethod,
} from '../../core/referrals/terms.ts';
import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import { majorTotals, type PayoutFile } from '../../sql/transactions/export-payouts.ts';
import { CommandFailed, printResult } from '../output.ts';
import { recordOperator } from '../record-operator.ts';
import { withStores } from '../stores.ts';
import { namedWorkspace } from './workspace.ts';

/** The output of `hoplog payout export`. */
export type ExportedPayout = {
  export_id: string;
  file: string;
  lines: number;
  /** Major units by currency. */
  totals: Record<string, number>;
  /** SHA-256, hex. */
  ledger_head: string;
  /** Referrers that wait for an open file of the same format and program. */
  left_out: { export_id: string; referrers: number }[];
  /** Referrers that are held back, by reason. */
  held_back: Record<string, number>;
  /** Lines that are rounded down to the format's smallest amount. */
  rounded: number;
};

type Options = {
  workspace: string;
  output: string;
  format: PayoutFormat;
  program?: string;
  until?: string;
  method?: PayoutMethod;
  includeOpen?: boolean;
};

/** `hoplog payout export`. */
export function payoutCommands(program: Command): void {
  const group = program.command('payout').description('payout files of a workspace');

  group
    .command('export')
    .description('create a payout file, as GET /payouts/export does, and say who is not in it')
    .requiredOption('--workspace <id>', 'id or slug')
    .requiredOption('--output <file>', 'new file; it has payout addresses, so only you may read it')
    .addOption(
      new Option('--format <format>', 'the service that takes the file')
        .choices(PAYOUT_FORMATS)
        .default('csv'),
    )
    .option('--program <id>', 'one program; all by default')
    .option('--until <time>', 'only sales and bonuses before this time')
    .addOption(new Option('--method <method>', 'one payout method; all by default').choices(PAYOUT_METHODS))
    .option('--include-open', 'also pay what is in an open file of the same format and program')
    .action(async (options: Options, command: Command) => {
      const result = await withStores(({ pool }) => exportPayout(pool, options));
      printResult(command, result, exportedText);
    });
}

/**
 * Creates a payout file and writes it. Nothing is saved when the file can't be written.
 *
 * @throws {CommandFailed} when the file exists or can't be written
 */
export async function exportPayout(pool: Pool, options: Options): Promise<ExportedPayout> {
  const {
    output,
    format,
    method = null,
    program: programId = null,
    until = null,
    includeOpen = false,
  } = options;
  const asked: PayoutFileAsked = { programId, until, format, method, includeOpen };
  const workspace = await namedWorkspace(pool, options.workspace);
  const made = await inTransaction(pool, async (tx) => {
    const { text, ...file } = await createPayoutFile(tx, workspace.id, asked, new Date());
    await recordOperator(tx, {
      workspaceId: workspace.id,
      action: 'payouts.export',
      target: { type: 'workspace', id: workspace.id },
      details: { format },
    });
    await writeNew(output, text);
    return file;
  });
  return exported(made, output);
}

/** Writes a file that does not exist, which only its owner may read. */
async function writeNew(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { flag: 'wx', mode: 0o600, flush: true });
  } catch (error) {
    throw new CommandFailed(`--output can't be written: ${error instanceof Error ? error.message : error}`);
  }
}

function exported(file: PayoutFile, output: string): ExportedPayout {
  return {
    export_id: file.id,
    file: output,
    lines: file.lines.length,
    totals: majorTotals(file.lines),
    ledger_head: file.ledgerHead.toString('hex'),
    left_out: [...file.leftOut].map(([export_id, referrers]) => ({ export_id, referrers })),
    held_back: Object.fromEntries(file.heldBack),
    rounded: file.rounded,
  };
}

function exportedText(made: ExportedPayout): string {
  const sums = Object.entries(made.totals).map(([currency, sum]) => `${sum} ${currency.toUpperCase()}`);
  return [
    `payout ${made.export_id}: ${counted(made.lines, 'line')}${sums.length > 0 ? ` of ${sums.join(', ')}` : ''} in ${made.file}`,
    ...made.left_out.map(
      ({ export_id, referrers }) =>
        `left out: ${counted(referrers, 'referrer')} in the open file ${export_id}`,
    ),
    ...Object.entries(made.held_back).map(
      ([reason, referrers]) => `held back: ${counted(referrers, 'referrer')}, ${reason}`,
    ),
    ...(made.rounded > 0
      ? [`rounded down: ${counted(made.rounded, 'line')}, the rest stays in the balance`]
      : []),
    `ledger head ${made.ledger_head}`,
  ].join('\n');
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;
