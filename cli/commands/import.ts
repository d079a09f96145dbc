import cliProgress from 'cli-progress';
import { type Command, InvalidArgumentError } from 'commander';
import { type ImportResult, importLinks } from '../../api/link-imports/import-links.ts';
import { CREATABLE_CHANNELS, creatableChannel } from '../../core/enrich/channels.ts';
import { csvRows } from '../../core/link-imports/csv-rows.ts';
import { isHoplogColumn } from '../../core/link-imports/formats/hoplog.ts';
import { UnknownFormat } from '../../core/link-imports/formats/known.ts';
import { jsonRows } from '../../core/link-imports/json-rows.ts';
import { openTextFile, readText } from '../import/text-file.ts';
import { CommandFailed, printResult, table } from '../output.ts';
import { withStores } from '../stores.ts';
import { namedWorkspace } from './workspace.ts';

/** Errors that a person is shown; `--json` has them all. */
const SHOWN_ERRORS = 20;

type Options = { workspace: string; channel: string };

/** `hoplog import links`. */
export function importCommands(program: Command): void {
  program
    .command('import')
    .description('take over what other systems export')
    .command('links')
    .description(
      'create links from a CSV with the fields of POST /links, or an export of Bitly, Dub, YOURLS, Shlink or Kutt; run it again to go on after an interruption',
    )
    .requiredOption('--workspace <id>', 'id or slug')
    .option('--channel <channel>', 'of rows that name none: a channel, or "smart"', channel, 'other')
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
    const progress = progressBar(file.size);
    const text = readText(file, (bytes) => progress.read(bytes));
    let done = 0;
    try {
      return await importLinks({
        pool,
        workspaceId: workspace.id,
        shortUrl: config.shortUrl,
        primaryDomain: workspace.primary_domain,
        channel: options.channel,
        rows: file.content.kind === 'json' ? jsonRows(text) : csvRows(text, file.content),
        onFormat: ({ name }, columns) => progress.note(notesOn(name, columns, workspace.primary_domain)),
        onProgress: (result) => {
          done = result.created + result.skipped;
          progress.show(result);
        },
      });
    } catch (error) {
      if (done > 0) progress.note([`${done} rows were done before; run it again to go on`]);
      if (error instanceof UnknownFormat) throw new CommandFailed(error.message);
      throw error;
    } finally {
      progress.stop();
    }
  });
}

/** What the operator may not have meant. */
function notesOn(format: string, columns: string[], domain: string | null): string[] {
  const notes: string[] = [];
  const unknown = format === 'Hoplog' ? columns.filter((column) => !isHoplogColumn(column)) : [];
  if (unknown.length > 0) notes.push(`no field of a link, passed over: ${unknown.join(', ')}`);
  if (domain === null) {
    notes.push(
      'the workspace has no domain yet, so all destinations count as external; set it first with hoplog workspace set --domain',
    );
  }
  return notes;
}

/** A bar of the bytes read on a terminal; elsewhere only the notes. All on standard error. */
function progressBar(bytes: number) {
  const isTerminal = process.stderr.isTTY === true;
  const bar = new cliProgress.SingleBar({
    format:
      '{bar} {percentage}% | {created} created, {skipped} skipped, {errors} errors | {eta_formatted} left',
    stream: process.stderr,
    hideCursor: true,
  });
  const counts = { created: 0, skipped: 0, errors: 0 };
  if (isTerminal) bar.start(bytes, 0, counts);
  return {
    read: (more: number) => bar.increment(isTerminal ? more : 0),
    show: ({ created, skipped, errors }: Readonly<ImportResult>) => {
      if (isTerminal) bar.update({ created, skipped, errors: errors.length });
    },
    note(lines: string[]) {
      for (const line of lines) process.stderr.write(`${isTerminal ? '\r\x1b[K' : ''}hoplog: ${line}\n`);
    },
    stop() {
      if (isTerminal) bar.stop();
    },
  };
}

function describe({ created, skipped, errors }: ImportResult): string {
  const sums = table(['created', 'skipped', 'errors'], [[created, skipped, errors.length].map(String)]);
  if (errors.length === 0) return sums;
  const some = errors.slice(0, SHOWN_ERRORS);
  const list = table(
    ['line', 'column', 'error'],
    some.map(({ line, column, message }) => [String(line), column ?? '-', message]),
  );
  const more = errors.length - some.length;
  return `${sums}\n\n${list}${more > 0 ? `\n… and ${more} more, all of them with --json` : ''}`;
}
