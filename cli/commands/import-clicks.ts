import { setTimeout as delay } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { type ClickImportOptions, importClicks } from '../../api/click-imports/import-clicks.ts';
import { importOrders } from '../../api/click-imports/import-orders.ts';
import {
  type ClickImportError,
  type ClickImportResult,
  emptyResult,
} from '../../api/click-imports/result.ts';
import { undoImport } from '../../api/click-imports/undo-import.ts';
import { CLICK_SOURCES, type ClickSource } from '../../core/click-imports/click-sources.ts';
import { WrongClickFile } from '../../core/click-imports/formats/known.ts';
import { AppError } from '../../core/errors.ts';
import { uuidv7 } from '../../core/ids.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import { workspacesOfImport } from '../../sql/event-log/click-imports.ts';
import { importId } from '../arguments.ts';
import { createProgressBar } from '../import/progress-bar.ts';
import { openTextFile, readText } from '../import/text-file.ts';
import { CommandFailed, printResult, table, WrongUsage } from '../output.ts';
import { recordOperator } from '../record-operator.ts';
import { withStores } from '../stores.ts';
import { namedWorkspace } from './workspace.ts';

/** Maximum number of errors in the text output; `--json` prints all. */
const SHOWN_ERRORS = 20;
/** Maximum wait for another import of the workspace. The lease of a killed import ends after 15 seconds. */
const WAIT_MS = 60_000;
const RETRY_MS = 1_000;

type Options = {
  workspace: string;
  from: ClickSource;
  link?: string;
  domain?: string;
  orders?: string;
  dryRun: boolean;
};

/** The counts of the clicks, with those of the file of orders beside them. */
type Result = ClickImportResult & {
  orders_file?: Pick<
    ClickImportResult,
    'read' | 'created' | 'skipped' | 'failed' | 'unknown_columns' | 'errors'
  >;
};

/** Adds `hoplog import clicks` and `hoplog import undo`. */
export function clickImportCommands(imports: Command): void {
  imports
    .command('clicks')
    .description(
      'import clicks with their own time from another service; run it again to resume after an interruption',
    )
    .requiredOption('--workspace <id>', 'id or slug')
    .addOption(
      new Option('--from <service>', 'where the file is from; csv: the columns of POST /clicks/import')
        .choices(CLICK_SOURCES)
        .makeOptionMandatory(),
    )
    .option('--link <link>', 'link of rows that name none: id, slug, or short URL')
    .option('--domain <domain>', 'domain of rows on a domain that the workspace does not have')
    .option(
      '--orders <file>',
      'CSV of orders with their own time: ts, order_id, amount, currency, visitor, email, slug',
    )
    .option('--dry-run', 'say what would be done, and write nothing', false)
    .argument('[file]', 'CSV or JSON; left out: orders alone')
    .action(async (file: string | undefined, options: Options, command: Command) => {
      if (file === undefined && options.orders === undefined) {
        throw new WrongUsage('give a file of clicks, or --orders');
      }
      const result = await run(file, options);
      printResult(command, result, describe);
      const { created, skipped, orders_file } = result;
      if (created + skipped + (orders_file?.created ?? 0) + (orders_file?.skipped ?? 0) === 0) {
        throw new CommandFailed(
          `nothing could be imported from ${[file, options.orders].filter(Boolean).join(' and ')}`,
        );
      }
    });
  imports
    .command('undo')
    .description('take an import of clicks back')
    .option('--workspace <id>', 'id or slug; left out: the workspace of the import')
    .argument('<import>', 'import_id', importId)
    .action(async (importId: string, options: { workspace?: string }, command: Command) => {
      const result = await undo(importId, options.workspace);
      printResult(command, result, ({ clicks, orders, complete }) =>
        complete
          ? `removed ${clicks} clicks and ${orders} orders`
          : `removed ${orders} orders; ClickHouse does not respond, so ${clicks} clicks are removed once it does`,
      );
    });
}

async function run(path: string | undefined, options: Options): Promise<Result> {
  return withStores(async ({ pool, config, ...clickhouses }) => {
    const workspace = await namedWorkspace(pool, options.workspace);
    const importId = uuidv7();

    async function read<T>(
      from: string,
      work: (given: ClickImportOptions & { workspace: typeof workspace }) => Promise<T>,
    ) {
      const file = await openTextFile(from);
      const progress = createProgressBar(file.size, '{created} created, {skipped} skipped, {failed} errors');
      try {
        return await alone(() =>
          work({
            pool,
            clickhouses,
            workspace,
            importId,
            shortUrl: config.shortUrl,
            source: options.from,
            text: readText(file, (bytes) => progress.read(bytes)),
            form: file.content,
            dryRun: options.dryRun,
            link: options.link,
            domain: options.domain,
            onProgress: ({ created, skipped, failed }) => progress.show({ created, skipped, failed }),
          }),
        );
      } catch (error) {
        throw inWords(error, from);
      } finally {
        progress.stop();
      }
    }

    const clicks =
      path === undefined ? emptyResult(importId, options.dryRun) : await read(path, importClicks);
    if (options.orders === undefined) return clicks;
    const {
      read: rows,
      created,
      orders,
      skipped,
      failed,
      unknown_columns,
      errors,
    } = await read(options.orders, importOrders);
    return {
      ...clicks,
      orders,
      orders_file: { read: rows, created, skipped, failed, unknown_columns, errors },
    };
  });
}

async function undo(importId: string, named: string | undefined) {
  return withStores(async ({ pool, ...clickhouses }) => {
    const workspaceId =
      named === undefined
        ? await workspaceOf(await workspacesOfImport(pool, importId), importId)
        : (await namedWorkspace(pool, named)).id;
    const record = (tx: Queryable) =>
      recordOperator(tx, {
        workspaceId,
        action: 'clicks.undo_import',
        target: { type: 'click_import', id: importId },
      });
    try {
      return await alone(() => undoImport({ pool, clickhouses }, { workspaceId, importId }, record));
    } catch (error) {
      throw inWords(error, importId);
    }
  });
}

async function workspaceOf(found: readonly string[], importId: string): Promise<string> {
  const [id, ...others] = found;
  if (id === undefined) throw new CommandFailed(`there is no import ${importId}`);
  if (others.length > 0)
    throw new CommandFailed(`several workspaces have an import ${importId}: give --workspace`);
  return id;
}

/** Runs work once no other import of the workspace is under way. */
async function alone<T>(work: () => Promise<T>): Promise<T> {
  for (let waited = 0; ; waited += RETRY_MS) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'conflict') || waited >= WAIT_MS) throw error;
      await delay(RETRY_MS);
    }
  }
}

function inWords(error: unknown, what: string): unknown {
  if (error instanceof WrongClickFile) return new CommandFailed(`${what} is ${error.message}`);
  if (error instanceof AppError) return new CommandFailed(error.message);
  return error;
}

function describe(result: Result): string {
  const {
    dry_run,
    import_id,
    read,
    created,
    clicks,
    orders,
    skipped,
    failed,
    orders_file: ofOrders,
  } = result;
  const parts = [
    ...(dry_run ? ['dry run: nothing was written'] : []),
    table(
      ['read', 'created', 'clicks', 'skipped', 'errors'],
      [[read, created, clicks, skipped, failed].map(String)],
    ),
    ...notTaken(result),
  ];
  if (ofOrders) {
    const counts = [ofOrders.read, ofOrders.created, ofOrders.skipped, ofOrders.failed].map(String);
    parts.push(table(['orders read', 'created', 'skipped', 'errors'], [counts]), ...notTaken(ofOrders));
  }
  if (!dry_run && created + orders > 0) parts.push(`to take it back: hoplog import undo ${import_id}`);
  return parts.join('\n\n');
}

/** Describes the errors of a file, and its ignored columns. */
function notTaken({
  failed,
  errors,
  unknown_columns: unknown,
}: {
  failed: number;
  errors: readonly ClickImportError[];
  unknown_columns: readonly string[];
}): string[] {
  const parts: string[] = [];
  if (errors.length > 0) {
    const some = errors.slice(0, SHOWN_ERRORS);
    const list = table(
      ['line', 'link', 'field', 'error'],
      some.map(({ line, link, field, message }) => [String(line), link ?? '-', field ?? '-', message]),
    );
    const more = failed - some.length;
    parts.push(`${list}${more > 0 ? `\n… and ${more} more; --json prints the first thousand` : ''}`);
  }
  if (unknown.length > 0) parts.push(`not taken over: ${unknown.join(', ')}`);
  return parts;
}
