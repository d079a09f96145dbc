import { statSync } from 'node:fs';
import type { Command } from 'commander';
import { wholeReplica } from '../../analytics/replicas/write-to-each.ts';
import { exportWorkspace } from '../archive/export-workspace.ts';
import type { LeftOut, Manifest } from '../archive/manifest.ts';
import { createProgressBar } from '../import/progress-bar.ts';
import { printResult, table } from '../output.ts';
import { recordOperator } from '../record-operator.ts';
import { withStores } from '../stores.ts';
import { namedWorkspace } from './workspace.ts';

type Result = {
  archive: string;
  workspace: Manifest['workspace'];
  file: string;
  bytes: number;
  clicks_before: string;
  tables: Record<string, number>;
  left_out: LeftOut[];
};

/** `hoplog export workspace`. */
export function exportCommands(program: Command): void {
  const group = program.command('export').description('take data out');
  group
    .command('workspace')
    .description('write everything of a workspace into one archive, for another deployment')
    .requiredOption('--workspace <id>', 'id or slug')
    .argument('<file>', 'archive to write; it must not exist, and only its owner can read it')
    .action(async (file: string, options: { workspace: string }, command: Command) => {
      printResult(
        command,
        await run(file, options.workspace, command.parent?.parent?.version() ?? ''),
        describe,
      );
    });
}

async function run(path: string, named: string, version: string): Promise<Result> {
  return withStores(async ({ pool, replicas, config }) => {
    const workspace = await namedWorkspace(pool, named);
    const progress = createProgressBar(0, '{rows} rows of {table}');
    let rows = 0;
    try {
      const manifest = await exportWorkspace({
        pool,
        replica: await wholeReplica(pool, replicas),
        workspace,
        shortUrl: config.shortUrl,
        version,
        path,
        onRows(_, more) {
          rows += more;
          progress.show({ rows });
        },
      });
      await recordOperator(pool, {
        workspaceId: workspace.id,
        action: 'workspace.export',
        target: { type: 'workspace', id: workspace.id },
        details: { archive: manifest.id },
      });
      return {
        archive: manifest.id,
        workspace: manifest.workspace,
        file: path,
        bytes: statSync(path).size,
        clicks_before: manifest.clicks_before,
        tables: Object.fromEntries(manifest.parts.map(({ table, rows }) => [table, rows])),
        left_out: manifest.left_out,
      };
    } finally {
      progress.stop();
    }
  });
}

function describe({ file, bytes, workspace, clicks_before, tables, left_out }: Result): string {
  const parts = [
    tableOfRows(tables),
    `wrote ${workspace.slug} to ${file} (${bytes} bytes); clicks are those before ${clicks_before}`,
  ];
  if (left_out.length > 0) {
    const rows = left_out.map(({ what, rows, why }) => [what, String(rows), why]);
    parts.push(table(['not in the archive', 'rows', 'why'], rows));
  }
  return parts.join('\n\n');
}

/** Formats the numbers of rows by table; tables without rows are left out. */
export function tableOfRows(tables: Readonly<Record<string, number>>): string {
  const rows = Object.entries(tables).filter(([, count]) => count > 0);
  return table(
    ['table', 'rows'],
    rows.map(([name, count]) => [name, String(count)]),
  );
}
