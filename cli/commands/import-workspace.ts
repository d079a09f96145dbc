import { setTimeout as delay } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { createTxtLookup } from '../../core/dns/txt-records.ts';
import { withJobLease } from '../../sql/database/job-leases.ts';
import { type ArchiveImportResult, importArchive } from '../archive/import-workspace.ts';
import { openArchive } from '../archive/open-archive.ts';
import { createProgressBar } from '../import/progress-bar.ts';
import { CommandFailed, printResult, table } from '../output.ts';
import { withStores } from '../stores.ts';
import { tableOfRows } from './export.ts';

/** Maximum wait for another import of the archive. The lease of a killed import ends after 15 seconds. */
const WAIT_MS = 60_000;
const RETRY_MS = 1_000;

type Options = { unproven: 'refuse' | 'keep'; dryRun: boolean };

/** Adds `hoplog import workspace`. */
export function workspaceImportCommand(imports: Command): void {
  imports
    .command('workspace')
    .description(
      'add a workspace from an archive of "hoplog export workspace"; run it again to resume after an interruption',
    )
    .addOption(
      new Option('--unproven <what>', 'what becomes of links on domains that are not proven here')
        .choices(['refuse', 'keep'])
        .default('refuse', 'nothing is imported; keep: they respond once the domain is proven'),
    )
    .option('--dry-run', 'say what would be done, and write nothing', false)
    .argument('<file>', 'archive')
    .action(async (file: string, options: Options, command: Command) => {
      printResult(command, await run(file, options), describe);
    });
}

async function run(path: string, { unproven, dryRun }: Options): Promise<ArchiveImportResult> {
  return withStores(async ({ pool, replicas, log, config }) => {
    const archive = await openArchive(path, () => {});
    const bytes = archive.manifest.parts
      .flatMap(({ files }) => files)
      .reduce((sum, one) => sum + one.bytes, 0);
    const progress = createProgressBar(bytes, 'importing');
    const work = () =>
      importArchive({
        pool,
        clickhouses: { replicas, log },
        config,
        lookUp: createTxtLookup(config.dnsServers),
        archive,
        unproven,
        dryRun,
        onBytes: (more) => progress.read(more),
      });
    try {
      if (dryRun) return await work();
      const job = `workspaceImport/${archive.manifest.workspace.id}` as const;
      for (let waited = 0; waited <= WAIT_MS; waited += RETRY_MS) {
        const done = await withJobLease(pool, job, async () => ({ result: await work() }));
        if (done !== null) return done.result;
        await delay(RETRY_MS);
      }
      throw new CommandFailed('another import of this workspace is under way: try again later');
    } finally {
      progress.stop();
      await archive.close();
    }
  });
}

function describe(result: ArchiveImportResult): string {
  const { dry_run, is_there, workspace, tables, renamed, unproven, not_taken_over } = result;
  if (is_there)
    return `${workspace.slug} (${workspace.id}) was imported from this archive before: nothing was added`;
  const parts = [
    ...(dry_run ? ['dry run: nothing was written'] : []),
    tableOfRows(tables),
    `the workspace is ${workspace.slug} (${workspace.id})`,
  ];
  if (renamed.length > 0) {
    const rows = renamed.map(({ kind, from, to }) => [kind, from, to]);
    parts.push(table(['taken here', 'slug there', 'slug here'], rows));
  }
  if (unproven.length > 0) {
    const rows = unproven.map(({ domain, is_default, why }) => [domain, is_default ? 'yes' : 'no', why]);
    parts.push(table(['domain not proven here', 'was the default', 'why'], rows));
  }
  if (not_taken_over.length > 0) {
    const rows = not_taken_over.map(({ what, why }) => [what, why]);
    parts.push(table(['not taken over', 'why'], rows));
  }
  return parts.join('\n\n');
}
