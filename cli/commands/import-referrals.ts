import { type Command, Option } from 'commander';
import {
  type Counts,
  importReferrals,
  type ReferralImport,
  WrongReferralFile,
} from '../../api/referrals/import/import-referrals.ts';
import { REFERRAL_FORMATS } from '../../core/referral-imports/formats/known.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { latestProgram, listPrograms, type Program } from '../../sql/referrals/programs.ts';
import { createProgressBar } from '../import/progress-bar.ts';
import { openTextFile, readText } from '../import/text-file.ts';
import { CommandFailed, printResult, table } from '../output.ts';
import { recordOperator } from '../record-operator.ts';
import { withStores } from '../stores.ts';
import { namedWorkspace } from './workspace.ts';

/** Maximum number of errors in the text output; `--json` prints all. */
const SHOWN_ERRORS = 20;

type Options = { workspace: string; program?: string; from: string; dryRun: boolean };

/** Adds `hoplog import referrals`. */
export function referralImportCommand(imports: Command): void {
  imports
    .command('referrals')
    .description(
      'import referrers, their codes, their customers and unpaid commissions from another program; run it again to resume after an interruption',
    )
    .requiredOption('--workspace <id>', 'id or slug')
    .option('--program <program>', 'id or code; the newest program by default')
    .addOption(
      new Option('--from <program>', 'where the files are from')
        .choices(Object.keys(REFERRAL_FORMATS))
        .makeOptionMandatory(),
    )
    .option('--dry-run', 'report only, and change nothing', false)
    .argument('<file...>', 'CSV files of partners, customers and commissions')
    .action(async (files: string[], options: Options, command: Command) => {
      const result = await run(files, options);
      printResult(command, result, describe);
      const { files: given, ledger } = result.sum;
      if (given !== ledger) {
        throw new CommandFailed(
          `the files have unpaid commissions of ${given} ${result.sum.currency}, the ledger has ${ledger} of them: correct the errors and run the command again`,
        );
      }
      if (handled(result) === 0) throw new CommandFailed('nothing could be imported');
    });
}

const handled = ({ partners, customers, commissions }: ReferralImport): number =>
  [partners, customers, commissions].reduce((sum, one) => sum + one.created + one.existing + one.skipped, 0);

async function run(paths: string[], options: Options): Promise<ReferralImport> {
  const files = await Promise.all(paths.map(openTextFile));
  const format = REFERRAL_FORMATS[options.from];
  if (!format) throw new Error(`no format ${options.from}`);
  return withStores(async ({ pool }) => {
    const workspace = await namedWorkspace(pool, options.workspace);
    const program = await namedProgram(pool, workspace.id, options.program);
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    const progress = createProgressBar(bytes, '{created} created, {existing} existing, {errors} errors');
    try {
      const report = await importReferrals({
        pool,
        workspace,
        program,
        from: options.from,
        format,
        dryRun: options.dryRun,
        now: new Date(),
        by: 'operator',
        files: files.map((file) => {
          if (file.content.kind === 'json') throw new CommandFailed(`${file.path} is JSON: export it as CSV`);
          return {
            name: file.path,
            form: file.content,
            text: () => readText(file, (more) => progress.read(more)),
          };
        }),
        onProgress: ({ partners, customers, commissions, errors }) =>
          progress.show({
            created: partners.created + customers.created + commissions.created,
            existing: partners.existing + customers.existing + commissions.existing,
            errors: errors.length,
          }),
      });
      if (!options.dryRun) {
        await recordOperator(pool, {
          workspaceId: workspace.id,
          action: 'referrals.import',
          target: { type: 'program', id: program.id },
          details: {
            from: options.from,
            partners: report.partners.created,
            customers: report.customers.created,
            commissions: report.commissions.created,
          },
        });
      }
      return report;
    } catch (error) {
      throw error instanceof WrongReferralFile ? new CommandFailed(error.message) : error;
    } finally {
      progress.stop();
    }
  });
}

async function namedProgram(pool: Pool, workspaceId: string, name: string | undefined): Promise<Program> {
  if (name === undefined) {
    const newest = await latestProgram(pool, workspaceId);
    if (!newest) throw new CommandFailed('the workspace has no program: create one first');
    return newest;
  }
  const programs = await listPrograms(pool, workspaceId);
  const found = programs.find(({ id, code }) => id === name || code.toLowerCase() === name.toLowerCase());
  if (!found) throw new CommandFailed(`the workspace has no program ${name}`);
  return found;
}

function describe(report: ReferralImport): string {
  const row = (name: string, { read, created, existing, skipped }: Counts) => [
    name,
    ...[read, created, existing, skipped].map(String),
  ];
  const { sum, unknown_columns: unknown, notes, errors } = report;
  const parts = [
    ...(report.dry_run ? ['dry run: nothing was changed'] : []),
    table(
      ['', 'read', 'created', 'existing', 'skipped'],
      [
        row('partners', report.partners),
        row('customers', report.customers),
        row('commissions', report.commissions),
      ],
    ),
    `unpaid commissions: ${sum.files} ${sum.currency} in the files, ${sum.ledger} ${sum.currency} in the ledger`,
  ];
  if (unknown.length > 0) {
    parts.push(
      table(
        ['file', 'not taken over'],
        unknown.map(({ file, columns }) => [file, columns.join(', ')]),
      ),
    );
  }
  if (notes.length > 0) {
    parts.push(
      table(
        ['file', 'line', 'note'],
        notes.map(({ file, line, message }) => [file, String(line), message]),
      ),
    );
  }
  if (errors.length > 0) {
    const some = errors.slice(0, SHOWN_ERRORS);
    const list = table(
      ['file', 'line', 'field', 'error'],
      some.map(({ file, line, field, message }) => [file, String(line), field ?? '-', message]),
    );
    const more = errors.length - some.length;
    parts.push(`${list}${more > 0 ? `\n… and ${more} more; --json prints all` : ''}`);
  }
  return parts.join('\n\n');
}
