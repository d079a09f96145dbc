import { type Command, InvalidArgumentError, Option } from 'commander';
import { importDomains } from '../../api/link-imports/import-domains.ts';
import { type ImportResult, importLinks } from '../../api/link-imports/import-links.ts';
import { CREATABLE_CHANNELS, creatableChannel } from '../../core/enrich/channels.ts';
import { AppError } from '../../core/errors.ts';
import {
  type ImportDomains,
  UNPROVEN_POLICIES,
  type UnprovenPolicy,
} from '../../core/link-imports/create-row.ts';
import { csvRows } from '../../core/link-imports/csv-rows.ts';
import { LINK_SOURCES, type LinkSource, UnknownFormat } from '../../core/link-imports/formats/known.ts';
import { jsonRows } from '../../core/link-imports/json-rows.ts';
import { linkHosts } from '../../sql/domains/domains.ts';
import { createProgressBar } from '../import/progress-bar.ts';
import { openTextFile, readText } from '../import/text-file.ts';
import { CommandFailed, printResult, table, WrongUsage } from '../output.ts';
import { withStores } from '../stores.ts';
import { clickImportCommands } from './import-clicks.ts';
import { referralImportCommand } from './import-referrals.ts';
import { workspaceImportCommand } from './import-workspace.ts';
import { namedWorkspace } from './workspace.ts';

/** Maximum number of errors in the text output; `--json` prints all. */
const SHOWN_ERRORS = 20;

type Options = {
  workspace: string;
  from?: LinkSource;
  channel: string;
  appendUtm: boolean;
  dryRun: boolean;
  domain?: string;
  unproven: UnprovenPolicy;
};

/** `hoplog import links`, `referrals`, `clicks`, `undo` and `workspace`. */
export function importCommands(program: Command): void {
  const imports = program.command('import').description('import exports of other systems');
  referralImportCommand(imports);
  clickImportCommands(imports);
  workspaceImportCommand(imports);
  imports
    .command('links')
    .description(
      'create links from a CSV with the fields of POST /links, or an export of another shortener; run it again to resume after an interruption',
    )
    .requiredOption('--workspace <id>', 'id or slug')
    .addOption(
      new Option('--from <format>', 'what the file is; left out: it is recognized by its columns').choices(
        LINK_SOURCES,
      ),
    )
    .option('--channel <channel>', 'channel of rows without one, or "smart"', channel, 'other')
    .option('--append-utm', 'add UTM parameters to destinations of rows that name none', false)
    .option('--domain <domain>', 'domain of rows that name none; left out: the default one')
    .addOption(
      new Option('--unproven <what>', 'what becomes of rows on domains that are not verified')
        .choices(UNPROVEN_POLICIES)
        .default(
          'refuse',
          'each is an error; keep: they answer once the domain is verified; move: to --domain',
        ),
    )
    .option('--dry-run', 'say what would be done, and write nothing', false)
    .argument('<file>', 'CSV or JSON')
    .action(async (file: string, options: Options, command: Command) => {
      const result = await run(file, options);
      printResult(command, result, describe);
      if (result.created + result.skipped === 0) {
        throw new CommandFailed(`no link could be imported from ${file}`);
      }
    });
}

function channel(text: string): string {
  const key = text === 'smart' ? text : creatableChannel(text);
  if (key === null) {
    throw new InvalidArgumentError(`must be one of ${CREATABLE_CHANNELS.join(', ')}, or smart`);
  }
  return key;
}

async function run(path: string, options: Options): Promise<ImportResult> {
  const file = await openTextFile(path);
  return withStores(async ({ pool, config }) => {
    const workspace = await namedWorkspace(pool, options.workspace);
    const domains = domainsOf(config.shortUrl, options, await linkHosts(pool, workspace.id));
    const progress = createProgressBar(file.size, '{created} created, {skipped} skipped, {errors} errors');
    const text = readText(file, (bytes) => progress.read(bytes));
    let done = 0;
    try {
      return await importLinks({
        pool,
        workspaceId: workspace.id,
        config,
        primaryDomain: workspace.primary_domain,
        domains,
        from: options.from,
        channel: options.channel,
        appendUtm: options.appendUtm,
        rows: file.content.kind === 'json' ? jsonRows(text) : csvRows(text, file.content),
        dryRun: options.dryRun,
        onFormat: () => progress.note(notesOn(workspace.primary_domain)),
        onProgress: (result) => {
          done = result.created + result.skipped;
          const { created, skipped, errors } = result;
          progress.show({ created, skipped, errors: errors.length });
        },
      });
    } catch (error) {
      if (done > 0)
        progress.note([`imported ${done} rows before the failure; run the command again to resume`]);
      if (error instanceof UnknownFormat) throw new CommandFailed(`${path}: ${error.message}`);
      throw error;
    } finally {
      progress.stop();
    }
  });
}

function domainsOf(shortUrl: string, { domain, unproven }: Options, proven: string[]): ImportDomains {
  try {
    return importDomains(shortUrl, { proven, standard: domain, unproven });
  } catch (error) {
    if (error instanceof AppError) throw new WrongUsage(`--domain ${domain}: ${error.details?.[0]?.message}`);
    throw error;
  }
}

/** Returns a warning about a missing domain. */
function notesOn(domain: string | null): string[] {
  if (domain !== null) return [];
  return [
    'the workspace has no domain, so all destinations count as external; to change that, run "hoplog workspace set --domain" first',
  ];
}

function describe(result: ImportResult): string {
  const { dry_run, unknown_columns: unknown } = result;
  const begin = dry_run ? 'dry run: nothing was written\n\n' : '';
  const end = unknown.length === 0 ? '' : `\n\nnot taken over: ${unknown.join(', ')}`;
  return begin + describeCounts(result) + end;
}

function describeCounts({ read, created, waiting, skipped, errors }: ImportResult): string {
  const sums = table(
    ['read', 'created', 'waiting', 'skipped', 'errors'],
    [[read, created, waiting, skipped, errors.length].map(String)],
  );
  if (errors.length === 0) return sums;
  const some = errors.slice(0, SHOWN_ERRORS);
  const list = table(
    ['line', 'link', 'field', 'error'],
    some.map(({ line, link, field, message }) => [String(line), link ?? '-', field ?? '-', message]),
  );
  const more = errors.length - some.length;
  return `${sums}\n\n${list}${more > 0 ? `\n… and ${more} more; --json prints all` : ''}`;
}
